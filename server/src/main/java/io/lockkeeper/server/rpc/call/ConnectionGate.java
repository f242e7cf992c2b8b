package io.lockkeeper.server.rpc.call;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandler.Sharable;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Stands first in the listening channel: a connection beyond the limits is closed before it has
 * cost a buffer or a handshake, and one of an address that makes too many handshakes waits for its
 * turn. Also looks for a lack of memory there and at the head of each connection, where Netty
 * allocates what it reads into and tells nobody else.
 */
@Sharable
public final class ConnectionGate extends ChannelInboundHandlerAdapter {

  private static final SocketAddress UNKNOWN = InetSocketAddress.createUnresolved("unknown", 0);

  private final Slots slots;
  private final RefusalCounts refusals;
  private final MemoryAlarm alarm;
  private final Optional<HandshakePace> pace;

  /**
   * Makes a gate that nobody has passed.
   *
   * @param handshakes whether connections cost one
   */
  public ConnectionGate(ServerLimits limits, Safeguards safeguards, boolean handshakes) {
    this.pace = handshakes ? Optional.of(new HandshakePace()) : Optional.empty();
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
    OptionalLong wait = pace.map(of -> of.nanosUntilTurn(from)).orElse(OptionalLong.of(0));
    if (wait.isEmpty()) {
      refuse(connection, Limit.ADDRESS_HANDSHAKES);
      return;
    }
    Optional<Slots.Full> full = slots.take(from);
    if (full.isPresent()) {
      refuse(
          connection,
          full.get() == Slots.Full.IN_ALL ? Limit.CONNECTIONS : Limit.ADDRESS_CONNECTIONS);
      return;
    }
    long startNanos = System.nanoTime();
    var unused =
        connection
            .closeFuture()
            .addListener(closed -> forget(from, System.nanoTime() - startNanos));
    connection.pipeline().addFirst(new Watchman(alarm));
    if (wait.getAsLong() == 0) {
      context.fireChannelRead(connection);
      return;
    }
    refusals.count(Limit.ADDRESS_HANDSHAKES);
    var unusedToo =
        context
            .executor()
            .schedule(() -> {}, wait.getAsLong(), NANOSECONDS)
            .addListener(turn -> endWait(turn.isSuccess(), connection, context));
  }

  private void refuse(Channel connection, Limit limit) {
    refusals.count(limit);
    connection.unsafe().closeForcibly();
  }

  private void forget(SocketAddress from, long lastedNanos) {
    slots.free(from);
    pace.ifPresent(of -> of.ended(from, lastedNanos));
  }

  /** When the endpoint stops, what waits does not come to its turn. */
  private static void endWait(boolean hasTurn, Channel connection, ChannelHandlerContext context) {
    if (hasTurn && context.channel().isOpen()) {
      context.fireChannelRead(connection);
    } else {
      connection.unsafe().closeForcibly();
    }
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
