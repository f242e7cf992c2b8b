package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Coordinators that are killed: one of them, two of three, all of them. */
final class CrashIT {

  @RegisterExtension private static final Cluster cluster = Cluster.shared(Plan.quick(2));

  @Test
  @Tag("smoke")
  void holderAndWaitersOfADeadCoordinatorKeepTokenAndPlaceAtItsPeers() {
    // Given
    String lock = "crash/place";
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest second = Guest.at(cluster.connect(1));
        Guest third = Guest.at(cluster.connect(0))) {
      final long token = holder.take("held", lock);
      second.queue("waits", lock);
      third.queue("waits", lock);

      // When
      cluster.seat(0).kill();
      third.moveTo(cluster.connect(1));
      holder.moveTo(cluster.connect(1));

      // Then
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      third.await("waits", EventCase.QUEUED);
      assertThat(second.find("waits", EventCase.GRANTED)).isEmpty();
      assertThat(holder.release("held")).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
      long next = second.awaitToken("waits");
      assertThat(next).isGreaterThan(token);
      assertThat(third.find("waits", EventCase.GRANTED)).isEmpty();
      second.release("waits");
      assertThat(third.awaitToken("waits")).isGreaterThan(next);
    }
  }

  @Test
  void deathsUnderLoadCostNoLockAndNobodyHoldsBesideAnother() {
    // Given
    try (Load load = Load.start(cluster.addresses(), 12, Guest.TTL, "crash/load")) {
      // When
      for (Seat victim : cluster.seats()) {
        final long killedNanos = System.nanoTime();
        List<Inhabitant> affected = load.clientsAt(victim.address());
        assertThat(affected).isNotEmpty();
        victim.kill();
        load.awaitMarks(affected, killedNanos);
        load.awaitTurns();
        cluster.restore();
      }

      // Then
      assertThat(load.violations()).isEmpty();
      assertThat(load.losses()).isEmpty();
    }
  }

  @Test
  void locksOutliveTheDeathOfTwoAtOnceAndOfAllIfOneComesBackInTime() {
    // Given: sessions that outlive the start of a process, however busy the machine is
    try (Cluster three = Cluster.start(new Plan(Pace.PRODUCTION, 1, 3, true, false));
        Guest first = Guest.at(three.connect(0));
        Guest second = Guest.at(three.connect(1));
        Guest witness = Guest.at(three.connect(2))) {
      final long tokenOfFirst = first.take("held", "crash/first");
      final long tokenOfSecond = second.take("held", "crash/second");
      witness.queue("first", "crash/first");
      witness.queue("second", "crash/second");

      // When
      three.seat(0).process().pause(); // So that neither can take over from the other.
      three.seat(1).kill();
      three.seat(0).kill();
      first.moveTo(three.connect(2));
      second.moveTo(three.connect(2));
      assertThat(first.awaitToken("held")).isEqualTo(tokenOfFirst);
      assertThat(second.awaitToken("held")).isEqualTo(tokenOfSecond);
      three.seat(2).kill();
      three.seat(2).start();
      List.of(witness, first, second).forEach(guest -> guest.moveTo(three.connect(2)));

      // Then
      assertThat(first.awaitToken("held")).isEqualTo(tokenOfFirst);
      assertThat(second.awaitToken("held")).isEqualTo(tokenOfSecond);
      witness.await("first", EventCase.QUEUED);
      witness.await("second", EventCase.QUEUED);
      assertThat(witness.find("first", EventCase.GRANTED)).isEmpty();
      assertThat(witness.find("second", EventCase.GRANTED)).isEmpty();
      first.release("held");
      second.release("held");
      assertThat(witness.awaitToken("first")).isGreaterThan(tokenOfFirst);
      assertThat(witness.awaitToken("second")).isGreaterThan(tokenOfSecond);
    }
  }

  @Test
  void locksOfALostClientAndOfAStreamAreFreeAfterTheSessionTimeoutAndNotBefore() {
    // Given
    Duration sessionTimeout = cluster.pace().lockSession();
    Guest client = Guest.at(cluster.connect(0), sessionTimeout);
    final long tokenOfClient = client.take("held", "crash/client");
    Asking stream = Asking.forLock(cluster.connect(0), "crash/stream");
    final long tokenOfStream = stream.awaitToken();
    Asking behindClient = Asking.forLock(cluster.connect(1), "crash/client");
    Asking behindStream = Asking.forLock(cluster.connect(1), "crash/stream");
    behindClient.await(EventCase.QUEUED);
    behindStream.await(EventCase.QUEUED);

    // When
    client.freeze();
    final long killedNanos = System.nanoTime();
    cluster.seat(0).kill();

    // Then
    assertThat(behindStream.awaitToken()).isGreaterThan(tokenOfStream);
    assertThat(behindClient.awaitToken()).isGreaterThan(tokenOfClient);
    assertThat(behindStream.await(EventCase.GRANTED).nanos() - killedNanos)
        .isGreaterThan(sessionTimeout.toNanos());
    assertThat(behindClient.await(EventCase.GRANTED).nanos())
        .isGreaterThan(client.validUntilNanos());
  }

  @Test
  void quickRestartsInARowLoseNothing() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(1))) {
      final long token = holder.take("held", "crash/often");
      waiter.queue("waits", "crash/often");

      // When
      for (int victim : List.of(0, 1, 0)) {
        cluster.seat(victim).kill();
        cluster.seat(victim).start();
        int next = 1 - victim;
        holder.moveTo(cluster.connect(next));
        waiter.moveTo(cluster.connect(next));
        assertThat(holder.awaitToken("held")).isEqualTo(token);
        waiter.await("waits", EventCase.QUEUED);
      }

      // Then
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }
}
