package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Coordinators that are killed: one of three, two of them, all of them. */
@Alone
final class CrashIT {

  @RegisterExtension private static final Cluster cluster = Cluster.start(Plan.quick(3));

  @Test
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
      third.moveTo(cluster.connect(2));
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
  void everyAnswerAfterATakeoverHasTheSameHigherEpoch() {
    // Given
    SessionStream first = SessionStream.open(cluster.connect(0), Guest.TTL);
    final long epoch = first.await("opened", SessionResponse::hasOpened).value().getEpoch();
    first.acquire("crash/epoch", "held");
    final long token = first.awaitToken("held");

    // When: whichever peer takes the lease over
    cluster.seat(0).kill();
    SessionStream resumed = first.resume(cluster.connect(1));
    SessionResponse opened = resumed.await("opened", SessionResponse::hasOpened).value();
    resumed.acquire(
        Asking.request("crash/epoch").setRequestId("held").addHeldTokens(token).build());

    // Then
    SessionResponse granted = resumed.await("held", EventCase.GRANTED).value();
    assertThat(opened.getEpoch()).isGreaterThan(epoch);
    assertThat(
            List.of(
                granted.getEpoch(),
                granted.getEvent().getEpoch(),
                resumed.keepAliveAnswered(1).getEpoch()))
        .containsOnly(opened.getEpoch());
    resumed.close();
  }

  @Test
  void deathsUnderLoadCostNoLockAndNobodyHoldsBesideAnother() {
    // Given
    try (Load load = Load.start(cluster.addresses(), 12, Guest.TTL, "crash/load")) {
      // When
      for (int victim : List.of(0, 1)) {
        final long killedNanos = System.nanoTime();
        List<Inhabitant> affected = load.clientsAt(cluster.seat(victim).address());
        assertThat(affected).isNotEmpty();
        cluster.seat(victim).kill();
        load.awaitMarks(affected, killedNanos, bound());
        load.awaitMarks(load.turners(), System.nanoTime(), bound());
        cluster.restore();
      }

      // Then
      assertThat(load.violations()).isEmpty();
      assertThat(load.losses()).isEmpty();
    }
  }

  @Test
  void leasesOfTwoThatDieAtOnceGoOnAtTheThird() {
    // Given
    try (Guest first = Guest.at(cluster.connect(0));
        Guest second = Guest.at(cluster.connect(1));
        Guest witness = Guest.at(cluster.connect(2))) {
      final long tokenOfFirst = first.take("held", "crash/two/a");
      final long tokenOfSecond = second.take("held", "crash/two/b");
      witness.queue("a", "crash/two/a");
      witness.queue("b", "crash/two/b");

      // When
      cluster.seat(0).process().pause(); // So that neither can take over from the other.
      cluster.seat(1).kill();
      cluster.seat(0).kill();
      first.moveTo(cluster.connect(2));
      second.moveTo(cluster.connect(2));

      // Then
      assertThat(first.awaitToken("held")).isEqualTo(tokenOfFirst);
      assertThat(second.awaitToken("held")).isEqualTo(tokenOfSecond);
      assertThat(witness.find("a", EventCase.GRANTED)).isEmpty();
      assertThat(witness.find("b", EventCase.GRANTED)).isEmpty();
      first.release("held");
      second.release("held");
      assertThat(witness.awaitToken("a")).isGreaterThan(tokenOfFirst);
      assertThat(witness.awaitToken("b")).isGreaterThan(tokenOfSecond);
    }
  }

  @Test
  void locksOutliveTheDeathOfAllCoordinatorsIfOneComesBackInTime() {
    // Given: sessions that outlive the start of a process, however busy the machine is
    try (Cluster patient = Cluster.start(new Plan(Pace.PRODUCTION, 1, 3, true, false));
        Guest holder = Guest.at(patient.connect(0));
        Guest waiter = Guest.at(patient.connect(1))) {
      final long token = holder.take("held", "crash/all");
      waiter.queue("waits", "crash/all");

      // When
      patient.seats().forEach(Seat::kill);
      patient.seat(2).start();
      waiter.moveTo(patient.connect(2));
      holder.moveTo(patient.connect(2));

      // Then
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      waiter.await("waits", EventCase.QUEUED);
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }

  @Test
  void streamBoundLockOfADeadCoordinatorIsFreeAfterTheSessionTimeoutAndNotBefore() {
    // Given
    Asking stream = Asking.forLock(cluster.connect(0), "crash/stream");
    final long token = stream.awaitToken();
    Asking waiter = Asking.forLock(cluster.connect(1), "crash/stream");
    waiter.await(EventCase.QUEUED);

    // When
    final long killedNanos = System.nanoTime();
    cluster.seat(0).kill();

    // Then
    assertThat(waiter.await(EventCase.GRANTED, bound()).nanos() - killedNanos)
        .isGreaterThan(cluster.pace().lockSession().toNanos());
    assertThat(waiter.awaitToken()).isGreaterThan(token);
    waiter.hangUp();
  }

  @Test
  void lockOfAClientThatDiesWithItsCoordinatorIsFreeWithinBounds() {
    // Given
    Guest holder = Guest.at(cluster.connect(0), Duration.ofSeconds(3));
    final long token = holder.take("held", "crash/both");
    Asking waiter = Asking.forLock(cluster.connect(1), "crash/both");
    waiter.await(EventCase.QUEUED);

    // When
    holder.freeze();
    long validUntilNanos = holder.validUntilNanos();
    cluster.seat(0).kill();

    // Then
    assertThat(waiter.await(EventCase.GRANTED, bound()).nanos()).isGreaterThan(validUntilNanos);
    assertThat(waiter.awaitToken()).isGreaterThan(token);
    waiter.hangUp();
  }

  @Test
  void locksOfACoordinatorWhosePeersAllDieWithItAreFreeOnceTheirSessionsHaveEnded()
      throws Exception {
    // Given
    Guest holder = Guest.at(cluster.connect(0), Duration.ofSeconds(3));
    holder.take("held", "crash/nobody");
    holder.freeze();
    String entry = cluster.entryOf("crash/nobody");
    CompletableFuture<Long> gone = cluster.znodes().deletionOf(entry);

    // When
    cluster.seats().forEach(Seat::kill);
    long goneNanos = gone.get(bound().toSeconds(), TimeUnit.SECONDS);

    // Then
    assertThat(goneNanos).isGreaterThan(holder.validUntilNanos());
    cluster.restore();
    Asking next = Asking.forLock(cluster.connect(1), "crash/nobody");
    next.awaitGrant();
    next.hangUp();
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
        int next = (victim + 1) % 3;
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

  /** Time to notice, to adopt, to wait for the session timeout and then for a time to live. */
  private static Duration bound() {
    return cluster
        .pace()
        .lockSession()
        .plus(cluster.pace().memberSession().multipliedBy(2))
        .plus(Guest.TTL)
        .plusSeconds(5);
  }
}
