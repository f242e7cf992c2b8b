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
    this(limits, safeguards, handshakes ? Optional.of(new HandshakePace()) : Optional.empty());
  }

  ConnectionGate(ServerLimits limits, Safeguards safeguards, Optional<HandshakePace> pace) {
    this.pace = pace;
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
      refuse(
          connection,
          full.get() == Slots.Full.IN_ALL ? Limit.CONNECTIONS : Limit.ADDRESS_CONNECTIONS);
      return;
    }
    OptionalLong wait = pace.map(of -> of.takeTurn(from)).orElse(OptionalLong.of(0));
    if (wait.isEmpty()) {
      slots.free(from);
      refuse(connection, Limit.ADDRESS_HANDSHAKES);
    } else if (wait.getAsLong() == 0) {
      begin(context, connection, from);
    } else {
      refusals.count(Limit.ADDRESS_HANDSHAKES);
      var unused =
          context
              .executor()
              .schedule(() -> {}, wait.getAsLong(), NANOSECONDS)
              .addListener(turn -> endWait(turn.isSuccess(), context, connection, from));
    }
  }

  private void refuse(Channel connection, Limit limit) {
    refusals.count(limit);
    connection.unsafe().closeForcibly();
  }

  private void begin(ChannelHandlerContext context, Channel connection, SocketAddress from) {
    Watchman watchman = new Watchman(alarm);
    long startNanos = System.nanoTime();
    var unused =
        connection
            .closeFuture()
            .addListener(
                closed -> {
                  slots.free(from);
                  if (watchman.heard) {
                    pace.ifPresent(of -> of.ended(from, System.nanoTime() - startNanos));
                  }
                });
    connection.pipeline().addFirst(watchman);
    context.fireChannelRead(connection);
  }

  /** When the endpoint stops, what waits does not come to its turn. */
  private void endWait(
      boolean hasTurn, ChannelHandlerContext context, Channel connection, SocketAddress from) {
    if (hasTurn && context.channel().isOpen()) {
      begin(context, connection, from);
    } else {
      slots.free(from);
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

    /** Whether the client has sent anything: who only looks whether the port is open has not. */
    private volatile boolean heard;

    Watchman(MemoryAlarm alarm) {
      this.alarm = alarm;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      heard = true;
      context.fireChannelRead(message);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      alarm.look(cause, System.nanoTime());
      context.fireExceptionCaught(cause);
    }
  }
}
