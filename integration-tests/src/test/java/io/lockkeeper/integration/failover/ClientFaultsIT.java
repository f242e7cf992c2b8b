package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients that freeze, hang on half a connection, come twice, and speak late or twice. */
final class ClientFaultsIT {

  /** The time to live of leases that end while a test waits. */
  private static final Duration SHORT = Duration.ofSeconds(5);

  @RegisterExtension private static final Cluster cluster = Cluster.shared(Plan.quick(2));

  @Test
  @Tag("smoke")
  void clientThatFreezesPastItsTimeToLiveTakesNothingBackWhenItWakes() {
    // Given
    Guest frozen = Guest.at(cluster.connect(0), SHORT);
    final long token = frozen.take("held", "client/frozen");
    Asking next = Asking.forLock(cluster.connect(1), "client/frozen");
    next.await(EventCase.QUEUED);

    // When
    frozen.freeze();
    final long validUntilNanos = frozen.validUntilNanos();
    final long grantedNanos = next.await(EventCase.GRANTED).nanos();
    frozen.stream().release("held");

    // Then
    assertThat(grantedNanos).isGreaterThan(validUntilNanos);
    assertThat(next.awaitToken()).isGreaterThan(token);
    frozen.stream().responses().awaitEnd();
    assertThatThrownBy(() -> frozen.resumeAt(cluster.connect(1))).hasMessageContaining("NOT_FOUND");
    assertThat(cluster.znodes().entries("client/frozen")).hasSize(1);
    assertThat(next.events().end()).isEmpty();
  }

  @Test
  void clientOnHalfAConnectionGoesOnElsewhereAndItsLateWordsDoNoHarm() {
    // Given
    try (ByteProxy network = ByteProxy.to(cluster.seat(0).port());
        Guest holder = Guest.at(cluster.connectTo(network.port()))) {
      final long token = holder.take("held", "client/half-open");
      Asking waiter = Asking.forLock(cluster.connect(1), "client/half-open");
      waiter.await(EventCase.QUEUED);
      SessionStream old = holder.stream();

      // When
      network.blackhole();
      old.keepAlive(1);
      old.keepAlive(1);
      holder.moveTo(cluster.connect(1));
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      old.release("held"); // Never resent, and arrives after the client has gone on elsewhere.
      network.heal();
      Guest.awaitAway(old);

      // Then
      assertThat(holder.stream().keepAliveAnswered(2).hasKeptAlive()).isTrue();
      assertThat(waiter.find(EventCase.GRANTED)).isEmpty();
      assertThat(holder.find("held", EventCase.LOST)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken()).isGreaterThan(token);
    }
  }

  @Test
  void secondStreamOfALeaseEndsTheFirstAtWhicheverCoordinatorEitherIs() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0))) {
      final long token = holder.take("held", "client/twice");

      for (int i = 0; i < 2; i++) {
        // When
        SessionStream old = holder.stream();
        holder.moveTo(cluster.connect(1 - i));

        // Then
        assertThat(holder.awaitToken("held")).isEqualTo(token);
        Guest.awaitAway(old);
        assertThat(holder.stream().keepAliveAnswered(1).hasKeptAlive()).isTrue();
      }
    }
  }

  @Test
  void keepAlivesThatComeLateOrTwiceExtendNothingThatHasEnded() {
    // Given
    try (ByteProxy network = ByteProxy.to(cluster.seat(0).port())) {
      Guest holder = Guest.at(cluster.connectTo(network.port()), SHORT);
      final long token = holder.take("held", "client/late");
      Asking waiter = Asking.forLock(cluster.connect(1), "client/late");
      waiter.await(EventCase.QUEUED);

      // When: what it sends in time arrives after its time
      network.blackhole();
      for (int nonce = 1; nonce <= 3; nonce++) {
        holder.stream().keepAlive(nonce);
        holder.stream().keepAlive(nonce);
      }
      holder.freeze();
      final long validUntilNanos = holder.validUntilNanos();
      final long grantedNanos = waiter.await(EventCase.GRANTED).nanos();
      network.heal();

      // Then
      assertThat(grantedNanos).isGreaterThan(validUntilNanos);
      assertThat(waiter.awaitToken()).isGreaterThan(token);
      holder.stream().responses().awaitEnd();
      assertThat(
              holder.stream()
                  .responses()
                  .find(r -> r.hasKeptAlive() && r.getKeptAlive().getNonce() <= 3))
          .isEmpty();
      assertThat(Asking.holderTokens(cluster.connect(0), "client/late"))
          .containsExactly(waiter.awaitToken());
      assertThat(waiter.events().end()).isEmpty();
    }
  }
}
