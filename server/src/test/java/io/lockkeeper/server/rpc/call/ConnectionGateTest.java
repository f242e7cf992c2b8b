package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class ConnectionGateTest {

  private static final int PER_SECOND = 2 * HandshakePace.PER_SECOND_AND_PROCESSOR;

  private final RefusalCounts refusals = new RefusalCounts();
  private final ServerLimits limits = ServerLimits.of(1L << 30, 1L << 30);
  private final ConnectionGate gate =
      new ConnectionGate(
          limits,
          new Safeguards(refusals, new MemoryAlarm()),
          Optional.of(new HandshakePace(2, () -> 0, 1)));

  @AutoClose("finishAndReleaseAll")
  private final EmbeddedChannel listener = new EmbeddedChannel(gate);

  /** A connection from one address. */
  private static final class Connection extends EmbeddedChannel {
    @Override
    protected SocketAddress remoteAddress0() {
      return new InetSocketAddress("10.0.0.1", 1);
    }
  }

  private Connection connect() {
    Connection connection = new Connection();
    listener.writeInbound(connection);
    return connection;
  }

  /** Returns whether the server has been given a connection since the last time. */
  private boolean hasBegun() {
    return listener.readInbound() != null;
  }

  private void connectTalkAndEnd(int times) {
    for (int i = 0; i < times; i++) {
      Connection connection = connect();
      assertThat(hasBegun()).isTrue();
      connection.writeInbound(Unpooled.wrappedBuffer(new byte[] {22}));
      var unused = connection.close();
      connection.releaseInbound();
    }
  }

  @Test
  void whoOnlyLooksWhetherThePortIsOpenDelaysNobody() {
    for (int i = 0; i < 10 * PER_SECOND; i++) {
      Connection connection = connect();
      assertThat(hasBegun()).isTrue();
      var unused = connection.close();
    }
    assertThat(gate.open()).isZero();
  }

  @Test
  void connectionThatHasItsTurnLaterBeginsThenAndCountsUntilItEnds() {
    // Given
    connectTalkAndEnd(2 * PER_SECOND + 1);
    connect();
    assertThat(hasBegun()).isTrue();
    // When
    Connection later = connect();
    // Then
    assertThat(hasBegun()).isFalse();
    assertThat(gate.open()).isEqualTo(2);
    assertThat(refusals.of(Limit.ADDRESS_HANDSHAKES)).isEqualTo(1);
    // When
    listener.advanceTimeBy(1_000 / PER_SECOND, TimeUnit.MILLISECONDS);
    listener.runScheduledPendingTasks();
    // Then
    assertThat(hasBegun()).isTrue();
    var unused = later.close();
    assertThat(gate.open()).isEqualTo(1);
  }

  @Test
  void connectionThatWouldWaitTooLongIsClosedAndHasNoPlace() {
    // Given
    connectTalkAndEnd(2 * PER_SECOND + 1);
    int atMost = PER_SECOND + 1;
    for (int i = 0; i < atMost; i++) {
      connect();
    }
    // When
    Connection refused = connect();
    // Then
    assertThat(refused.isOpen()).isFalse();
    assertThat(gate.open()).isEqualTo(atMost);
  }

  @Test
  void whatWaitsWhenTheEndpointStopsIsClosedAndHasNoPlace() {
    // Given
    connectTalkAndEnd(2 * PER_SECOND + 1);
    connect();
    assertThat(hasBegun()).isTrue();
    Connection waits = connect();
    // When
    listener.freezeTime();
    var unused = listener.close();
    listener.advanceTimeBy(1, TimeUnit.SECONDS);
    listener.runScheduledPendingTasks();
    // Then
    assertThat(hasBegun()).isFalse();
    assertThat(waits.isOpen()).isFalse();
    assertThat(gate.open()).isEqualTo(1);
  }
}
