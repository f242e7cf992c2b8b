package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HandshakePaceTest {

  private static final int PER_SECOND = 2 * HandshakePace.PER_SECOND_AND_PROCESSOR;
  private static final long EACH = TimeUnit.SECONDS.toNanos(1) / PER_SECOND;

  private long now = -5;
  private final HandshakePace pace = new HandshakePace(2, () -> now, 0x9E3779B97F4A7C15L);

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
      assertThat(pace.takeTurn(at("10.0.0.1"))).hasValue(0);
      pace.ended(at("10.0.0.1"), HandshakePace.EARLY_NANOS);
    }
    // Then
    assertThat(pace.takeTurn(at("10.0.0.1"))).hasValue(0);
  }

  @Test
  void addressWhoseConnectionsEndEarlyBeginsOneAfterTheOtherAndOthersDoNot() throws Exception {
    // Given: all that it may have saved is used up
    end(at("10.0.0.1"), 2 * PER_SECOND);
    assertThat(pace.takeTurn(at("10.0.0.1"))).hasValue(0);
    assertThat(pace.takeTurn(at("10.0.0.1"))).hasValue(0);
    end(at("10.0.0.1"), 1);
    // Then
    assertThat(pace.takeTurn(at("10.0.0.1"))).hasValue(0);
    assertThat(pace.takeTurn(at("10.0.0.1"))).hasValue(EACH);
    assertThat(pace.takeTurn(at("10.0.0.1"))).hasValue(2 * EACH);
    assertThat(pace.takeTurn(at("10.0.0.2"))).hasValue(0);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 5, 100})
  void howeverFastTheyComeThePaceIsKept(int timesAsFast) throws Exception {
    // Given
    SocketAddress from = at("10.0.0.1");
    end(from, 20 * PER_SECOND);
    // When: for ten seconds, and what is let in ends early again
    int letIn = 0;
    for (int i = 0; i < 10 * PER_SECOND * timesAsFast; i++) {
      now += EACH / timesAsFast;
      OptionalLong wait = pace.takeTurn(from);
      if (wait.isPresent()) {
        assertThat(wait.getAsLong()).isBetween(0L, HandshakePace.MAX_WAIT_NANOS);
        end(from, 1);
        letIn++;
      }
    }
    // Then
    assertThat(letIn).isBetween(10 * PER_SECOND, 11 * PER_SECOND + 1);
  }

  @Test
  void clientsThatWereTooManyAtOnceGetInAgainWithinTheTimeOfALease() throws Exception {
    // Given
    SocketAddress from = at("10.0.0.1");
    end(from, 1_000 * PER_SECOND);
    assertThat(pace.takeTurn(from)).hasValue(0);
    assertThat(pace.takeTurn(from)).hasValue(EACH);
    // When
    now += TimeUnit.SECONDS.toNanos(5);
    // Then
    for (int i = 0; i < 1_000; i++) {
      assertThat(pace.takeTurn(from)).hasValue(0);
    }
  }

  @Test
  void addressesThatJavaGivesOneHashDoNotShareTheirPace() throws Exception {
    // Given
    InetSocketAddress attacker = new InetSocketAddress("10.0.0.32", 1);
    InetSocketAddress other = new InetSocketAddress("10.0.31.31", 1);
    assertThat(Slots.networkOf(attacker).get()).hasSameHashCodeAs(Slots.networkOf(other).get());
    // When
    end(attacker, 20 * PER_SECOND);
    pace.takeTurn(attacker);
    // Then
    assertThat(pace.takeTurn(attacker)).hasValue(EACH);
    assertThat(pace.takeTurn(other)).hasValue(0);
    assertThat(pace.takeTurn(other)).hasValue(0);
  }

  @Test
  void networkOfIpv6IsOneAddress() throws Exception {
    // When
    end(at("2001:db8::1"), 20 * PER_SECOND);
    pace.takeTurn(at("2001:db8::2"));
    // Then
    assertThat(pace.takeTurn(at("2001:db8::3"))).hasValue(EACH);
    assertThat(pace.takeTurn(at("2001:db8:0:1::3"))).hasValue(0);
    assertThat(pace.takeTurn(at("2001:db8:0:1::3"))).hasValue(0);
  }
}
