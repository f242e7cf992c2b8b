package io.lockkeeper.server.rpc.call;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandler.Sharable;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Optional;

/**
 * The first handler of the listening channel: closes connections above the limits before they cost
 * a buffer or a handshake. Also the first handler of each connection. In both places it reports
 * failed allocations to the memory alarm, because Netty reports them to nobody else.
 */
@Sharable
public final class ConnectionGate extends ChannelInboundHandlerAdapter {

  private static final SocketAddress UNKNOWN = InetSocketAddress.createUnresolved("unknown", 0);

  private final Slots slots;
  private final RefusalCounts refusals;
  private final MemoryAlarm alarm;

  public ConnectionGate(ServerLimits limits, Safeguards safeguards) {
    this.slots = new Slots(limits.connections(), limits.addressConnections());
    this.refusals = safeguards.refusals();
    this.alarm = safeguards.alarm();
  }

  /** Returns the number of open connections. */
  public int open() {
    return slots.taken();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof Channel connection) {
      onConnection(context, connection);
    } else {
      context.fireChannelRead(message);
    }
  }

  private void onConnection(ChannelHandlerContext context, Channel connection) {
    SocketAddress from = Optional.ofNullable(connection.remoteAddress()).orElse(UNKNOWN);
    Optional<Slots.Full> full = slots.take(from);
    if (full.isPresent()) {
      refusals.count(
          full.get() == Slots.Full.IN_ALL ? Limit.CONNECTIONS : Limit.ADDRESS_CONNECTIONS);
      connection.unsafe().closeForcibly();
      return;
    }
    var unused = connection.closeFuture().addListener(closed -> slots.free(from));
    connection.pipeline().addFirst(this);
    context.fireChannelRead(connection);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    alarm.look(cause, System.nanoTime());
    context.fireExceptionCaught(cause);
  }
}
