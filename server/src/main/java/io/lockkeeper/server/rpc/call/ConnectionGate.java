package io.lockkeeper.server.rpc.call;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandler.Sharable;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Optional;

/**
 * Stands first in the listening channel: a connection beyond the limits is closed before it has
 * cost a buffer or a handshake. Also looks for a lack of memory there and at the head of each
 * connection, where Netty allocates what it reads into and tells nobody else.
 */
@Sharable
public final class ConnectionGate extends ChannelInboundHandlerAdapter {

  private static final SocketAddress UNKNOWN = InetSocketAddress.createUnresolved("unknown", 0);

  private final Slots slots;
  private final RefusalCounts refusals;
  private final MemoryAlarm alarm;

  /** Makes a gate that nobody has passed. */
  public ConnectionGate(ServerLimits limits, Safeguards safeguards) {
    this.slots = new Slots(limits.connections(), limits.addressConnections());
    this.refusals = safeguards.refusals();
    this.alarm = safeguards.alarm();
  }

  /** Returns how many connections are open. */
  public int open() {
    return slots.taken();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!(message instanceof Channel connection)) {
      context.fireChannelRead(message);
      return;
    }
    SocketAddress from = Optional.ofNullable(connection.remoteAddress()).orElse(UNKNOWN);
    Optional<Slots.Full> full = slots.take(from);
    if (full.isPresent()) {
      refusals.count(
          full.get() == Slots.Full.IN_ALL ? Limit.CONNECTIONS : Limit.ADDRESS_CONNECTIONS);
      connection.unsafe().closeForcibly();
      return;
    }
    var unused = connection.closeFuture().addListener(closed -> slots.free(from));
    connection.pipeline().addFirst(new Watchman(alarm));
    context.fireChannelRead(message);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    alarm.look(cause, System.nanoTime());
    context.fireExceptionCaught(cause);
  }

  /** Sees what goes wrong where a connection is read from. */
  private static final class Watchman extends ChannelInboundHandlerAdapter {

    private final MemoryAlarm alarm;

    Watchman(MemoryAlarm alarm) {
      this.alarm = alarm;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      alarm.look(cause, System.nanoTime());
      context.fireExceptionCaught(cause);
    }
  }
}
