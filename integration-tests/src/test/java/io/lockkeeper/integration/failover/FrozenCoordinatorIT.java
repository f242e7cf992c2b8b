package io.lockkeeper.integration.failover;

import static io.lockkeeper.integration.failover.Pace.letPass;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A coordinator that is paused, taken for dead, and wakes with old memories. Each test pauses the
 * first of two and takes its leases over at the second.
 */
final class FrozenCoordinatorIT {

  @RegisterExtension private static final Cluster cluster = Cluster.shared(Plan.quick(2));

  @Test
  void sleeperThatWakesDeletesNothingAndSendsItsClientsAway() {
    // Given
    Seat sleeper = cluster.seat(0);
    Duration ttl = Duration.ofSeconds(10);
    try (Guest holder = Guest.at(cluster.connect(0), ttl);
        Guest waiter = Guest.at(cluster.connect(0), ttl)) {
      final long token = holder.take("held", "frozen/zombie");
      waiter.queue("waits", "frozen/zombie");
      final List<String> entries = cluster.znodes().entries("frozen/zombie");
      SessionStream oldStreamOfHolder = holder.stream();
      SessionStream oldStreamOfWaiter = waiter.stream();

      // When: it sleeps for longer than the leases that it remembers live
      sleeper.process().pause();
      final long promisedUntilNanos = holder.validUntilNanos();
      holder.moveTo(cluster.connect(1));
      waiter.moveTo(cluster.connect(1));
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      waiter.await("waits", EventCase.QUEUED);
      letPass(ttl.plusSeconds(1));
      sleeper.process().resume();

      // Then
      Guest.awaitAway(oldStreamOfHolder);
      Guest.awaitAway(oldStreamOfWaiter);
      assertThat(oldStreamOfHolder.responses().arrivals())
          .filteredOn(arrival -> arrival.value().hasEvent() && arrival.value().getEvent().hasLost())
          .as("what it says is lost, it had promised no longer")
          .allMatch(lost -> lost.nanos() > promisedUntilNanos);
      sleeper.awaitServing();
      letPass(Duration.ofSeconds(2)); // It would have acted on its old memories by now.
      assertThat(cluster.znodes().entries("frozen/zombie"))
          .containsExactlyInAnyOrderElementsOf(entries);
      assertThat(holder.find("held", EventCase.LOST)).isEmpty();
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }

  @Test
  @Tag("smoke")
  void sleeperThatIsToldToStopWhenItWakesKillsNoSessionThatItHasLost() {
    // Given
    Seat sleeper = cluster.seat(0);
    try (Guest holder = Guest.at(cluster.connect(0))) {
      final long token = holder.take("held", "frozen/stop");
      String entry = cluster.entryOf("frozen/stop");

      // When
      sleeper.process().pause();
      holder.moveTo(cluster.connect(1));
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      sleeper.process().terminate();
      sleeper.process().resume();
      sleeper.process().awaitExit();

      // Then
      assertThat(cluster.znodes().exists(entry)).isTrue();
      assertThat(holder.stream().keepAliveAnswered(1).hasKeptAlive()).isTrue();
      assertThat(holder.find("held", EventCase.LOST)).isEmpty();
    }
  }

  @Test
  void streamBoundLockOfASleeperIsNotGrantedToAnotherWhileItsClientMayBelieve() {
    // Given
    Seat sleeper = cluster.seat(0);
    Asking stream = Asking.forLock(cluster.connect(0), "frozen/stream");
    final long token = stream.awaitToken();
    Asking waiter = Asking.forLock(cluster.connect(1), "frozen/stream");
    waiter.await(EventCase.QUEUED);

    // When
    final long pausedNanos = System.nanoTime();
    sleeper.process().pause();

    // Then
    long grantedNanos = waiter.await(EventCase.GRANTED).nanos();
    assertThat(grantedNanos - pausedNanos).isGreaterThan(cluster.pace().lockSession().toNanos());
    assertThat(waiter.awaitToken()).isGreaterThan(token);
    sleeper.process().resume();
    stream.events().awaitEnd();
  }

  @Test
  void shortSleepsOfACoordinatorThatIsTakenForDeadCostNothing() {
    // Given
    Seat sleeper = cluster.seat(0);
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(1))) {
      final long token = holder.take("held", "frozen/short");
      waiter.queue("waits", "frozen/short");

      // When
      for (int i = 0; i < 3; i++) {
        ManagedChannel next = cluster.connect((i + 1) % 2);
        sleeper.process().pause();
        CompletableFuture<Void> move = CompletableFuture.runAsync(() -> holder.moveTo(next));
        letPass(Duration.ofMillis(1_800L * i));
        sleeper.process().resume();
        move.join();
        assertThat(holder.awaitToken("held")).isEqualTo(token);
      }

      // Then
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }
}
