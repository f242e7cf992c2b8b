package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HandshakePaceTest {

  private static final long EACH = TimeUnit.SECONDS.toNanos(1) / HandshakePace.PER_SECOND;

  private long now = -5;
  private final HandshakePace pace = new HandshakePace(() -> now, 0);

  private static SocketAddress at(String address) throws UnknownHostException {
    return new InetSocketAddress(InetAddress.getByName(address), 1);
  }

  private void end(SocketAddress from, int connections) {
    for (int i = 0; i < connections; i++) {
      pace.ended(from, HandshakePace.EARLY_NANOS - 1);
    }
  }

  @Test
  void clientsThatStayAreNeverDelayedHoweverManyComeAtOnce() throws Exception {
    // When: all of a gateway come, go much later, and come again
    for (int i = 0; i < 10_000; i++) {
      assertThat(pace.nanosUntilTurn(at("10.0.0.1"))).hasValue(0);
      pace.ended(at("10.0.0.1"), HandshakePace.EARLY_NANOS);
    }
    // Then
    assertThat(pace.nanosUntilTurn(at("10.0.0.1"))).hasValue(0);
  }

  @Test
  void addressWhoseConnectionsEndEarlyBeginsOneAfterTheOtherAndOthersDoNot() throws Exception {
    // Given: all that it may have saved is used up
    end(at("10.0.0.1"), 2 * HandshakePace.PER_SECOND);
    assertThat(pace.nanosUntilTurn(at("10.0.0.1"))).hasValue(0);
    end(at("10.0.0.1"), 1);
    // Then
    assertThat(pace.nanosUntilTurn(at("10.0.0.1"))).hasValue(EACH);
    assertThat(pace.nanosUntilTurn(at("10.0.0.1"))).hasValue(2 * EACH);
    assertThat(pace.nanosUntilTurn(at("10.0.0.2"))).hasValue(0);
  }

  @Test
  void whoWouldWaitTooLongIsClosedAndTheNextTurnComesAsTimePasses() throws Exception {
    // Given
    end(at("10.0.0.1"), 20 * HandshakePace.PER_SECOND);
    long waiting = HandshakePace.MAX_WAIT_NANOS / EACH;
    for (int i = 0; i < waiting; i++) {
      assertThat(pace.nanosUntilTurn(at("10.0.0.1"))).isPresent();
    }
    // Then
    assertThat(pace.nanosUntilTurn(at("10.0.0.1"))).isEmpty();
    assertThat(pace.nanosUntilTurn(at("10.0.0.1"))).isEmpty();
    now += 2 * EACH;
    assertThat(pace.nanosUntilTurn(at("10.0.0.1"))).hasValue(HandshakePace.MAX_WAIT_NANOS);
  }

  @Test
  void whatEndedEarlyIsForgottenAtThePace() throws Exception {
    // Given
    end(at("10.0.0.1"), 1_000 * HandshakePace.PER_SECOND);
    assertThat(pace.nanosUntilTurn(at("10.0.0.1"))).hasValue(EACH);
    // When
    now += TimeUnit.MINUTES.toNanos(1);
    // Then
    assertThat(pace.nanosUntilTurn(at("10.0.0.1"))).hasValue(0);
  }
}
