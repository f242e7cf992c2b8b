package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.CoreCounts;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.api.TimeEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionPoolTest {

  private static final Duration BOUND =
      Bench.TIMEOUT.minus(CoreSettings.defaults().tick().dividedBy(2));

  private final Bench bench = Bench.ready();

  static CoreSettings small(int maxSessions) {
    return new CoreSettings(
        Duration.ofSeconds(2),
        10_000,
        100_000,
        800,
        maxSessions,
        8L << 20,
        64L << 20,
        1_000_000,
        64L << 20,
        Duration.ofSeconds(5),
        true,
        java.time.Duration.ofSeconds(6));
  }

  @Test
  void poolGrowsBeforeASessionIsFullAndShrinksWhenOneIsEmpty() {
    // Given: half of 800 bytes are for leases: eight of 50
    Bench small = Bench.ready(small(8));
    List<LeaseId> leases = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      leases.add(small.lease());
    }
    assertThat(small.all(StoreEffect.OpenSession.class)).hasSize(1);
    // When
    leases.add(small.lease());
    // Then: the next one is being opened; new leases go there once the first is full
    assertThat(small.all(StoreEffect.OpenSession.class)).hasSize(2);
    small.opened(Bench.S2);
    leases.add(small.lease());
    assertThat(small.counts().sessions())
        .extracting(CoreCounts.SessionCounts::pathBytes)
        .containsExactly(400L, 50L);
    // When: all leases close
    for (LeaseId lease : leases) {
      small.on(new ClientEvent.CloseLease(small.call(), lease));
      small.erased(lease);
    }
    // Then: one session stays
    assertThat(small.all(StoreEffect.CloseSession.class))
        .containsExactly(new StoreEffect.CloseSession(Bench.S1));
    small.on(new SessionEvent.SessionEnded(Bench.S1, false));
    assertThat(small.counts().sessions()).hasSize(1);
    small.assertNothingIsLeft();
  }

  @Test
  void coordinatorIsNeverWithoutAnOpenSessionBecauseItClosedTheOnlyOne() {
    // Given: the first session is filling, the second has been asked for and is not open yet
    Bench small = Bench.ready(small(8));
    List<LeaseId> leases = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      leases.add(small.lease());
    }
    assertThat(small.all(StoreEffect.OpenSession.class)).hasSize(2);
    // When: the first becomes empty
    for (LeaseId lease : leases) {
      small.on(new ClientEvent.CloseLease(small.call(), lease));
      small.erased(lease);
    }
    // Then: it stays until there is another
    assertThat(small.all(StoreEffect.CloseSession.class)).isEmpty();
    small.lease();
    assertThat(small.counts().leases()).isEqualTo(1);
  }

  @Test
  void fullPoolRefusesNewLeases() {
    // Given
    Bench small = Bench.ready(small(1));
    for (int i = 0; i < 8; i++) {
      small.lease();
    }
    CallId call = small.call();
    // When
    small.on(new ClientEvent.OpenLease(call, new LeaseId(1, 1), "h", Bench.TTL, ""));
    Asked asked = small.acquire("a");
    // Then
    assertThat(small.failure(call)).isEqualTo(Failure.Reason.TOO_MANY);
    assertThat(small.refusals(asked.stream())).containsExactly(Failure.Reason.TOO_MANY);
  }

  @Test
  void bytesOfEntriesAreGivenBackWhenTheyAreGone() {
    Asked asked = bench.acquire("a");
    bench.create(asked);
    assertThat(bytes()).isEqualTo(Bench.ENTRY_BYTES);
    bench.release(asked);
    assertThat(bytes()).isEqualTo(Bench.ENTRY_BYTES);
    bench.deleted(asked);
    assertThat(bytes()).isZero();
  }

  @Test
  void sessionIsProvedMoreOftenThanAFollowerTellsWhatItHasHeard() {
    bench.pass(Duration.ofSeconds(8));
    assertThat(bench.all(StoreEffect.ProveSession.class)).hasSize(10);
  }

  @Test
  void busySessionProvesItself() {
    // Given: every write that is answered is a proof
    for (int i = 0; i < 75; i++) {
      bench.pass(Duration.ofMillis(300));
      bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    }
    // Then
    assertThat(bench.all(StoreEffect.ProveSession.class)).isEmpty();
  }

  @Test
  void holderIsToldJeopardyAndThenSafe() {
    // Given
    Asked held = bench.acquire("a");
    bench.create(held);
    Asked waiting = bench.acquire("a");
    bench.create(waiting);
    // When
    bench.pass(Duration.ofMillis(500));
    bench.on(new SessionEvent.SessionSuspended(Bench.S1));
    bench.on(new SessionEvent.SessionSuspended(Bench.S1));
    bench.pass(Duration.ofMillis(500));
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    // Then: once each, to the holder alone
    assertThat(bench.told(held))
        .hasSize(3)
        .element(1)
        .isEqualTo(new Notice.Jeopardy(BOUND.minusMillis(500).toNanos()));
    assertThat(bench.told(held).get(2)).isEqualTo(new Notice.Safe(BOUND.toNanos()));
    assertThat(bench.told(waiting)).hasSize(1);
  }

  @Test
  void jeopardyIsNoShorterForALeaseThatIsRenewedMeanwhile() {
    // Given
    LeaseId lease = bench.lease();
    Asked held = bench.acquireInSession(bench.attach(lease), lease, "r", "a");
    bench.create(held);
    // When
    bench.on(new SessionEvent.SessionSuspended(Bench.S1));
    // Then: keep-alives move the lease's own end on, and so it says nothing
    assertThat(Bench.TTL).isLessThan(BOUND);
    assertThat(bench.told(held)).last().isEqualTo(new Notice.Jeopardy(BOUND.toNanos()));
  }

  @Test
  void holderThatWasAwayWhenItsJeopardyEndedIsToldSoWhenItComesBack() {
    // Given
    LeaseId lease = bench.lease();
    StreamId stream = bench.attach(lease);
    Asked held = bench.acquireInSession(stream, lease, "r", "a");
    bench.create(held);
    bench.on(new SessionEvent.SessionSuspended(Bench.S1));
    bench.on(new ClientEvent.StreamClosed(stream, false));
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    int before = bench.told(held).size();
    // When
    bench.attach(lease);
    // Then
    assertThat(bench.told(held).subList(before, bench.told(held).size()))
        .hasSize(2)
        .last()
        .isEqualTo(new Notice.Safe(Bench.TTL.toNanos()));
    // And: a client that received the jeopardy and not the grant does not take it for a duplicate
    assertThat(bench.tells("r").map(Effect.Tell::sequence)).containsExactly(1L, 2L, 4L, 5L);
  }

  @Test
  void grantThatNothingFollowedKeepsItsNumberWhenItIsSentAgain() {
    // Given
    LeaseId lease = bench.lease();
    Asked held = bench.acquireInSession(bench.attach(lease), lease, "r", "a");
    bench.create(held);
    // When
    bench.attach(lease);
    // Then
    assertThat(bench.tells("r").map(Effect.Tell::sequence)).containsExactly(1L, 1L);
  }

  @Test
  void sessionWithoutAProofForAThirdOfItsTimeoutIsInJeopardy() {
    // Given
    bench.proving = false;
    Asked held = bench.acquire("a");
    bench.create(held);
    // When
    bench.pass(Duration.ofSeconds(9));
    assertThat(bench.told(held, Notice.Jeopardy.class)).isEmpty();
    bench.pass(Duration.ofSeconds(2));
    // Then
    assertThat(bench.told(held, Notice.Jeopardy.class)).hasSize(1);
  }

  @Test
  void proofThatWasSentBeforeTheDoubtDoesNotEndIt() {
    // Given
    Asked asked = bench.acquire("a");
    long sent = bench.now;
    bench.proving = false;
    bench.pass(Duration.ofSeconds(1));
    bench.on(new SessionEvent.SessionSuspended(Bench.S1));
    // When
    bench.on(new SessionEvent.SessionProved(Bench.S1, sent, sent));
    // Then: no grant, and a proof is asked for that is sent from now on
    assertThat(bench.last(StoreEffect.ProveSession.class)).hasSize(1);
    bench.create(asked);
    assertThat(bench.wasGranted(asked)).isFalse();
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    assertThat(bench.wasGranted(asked)).isTrue();
  }

  @Test
  void pauseOfTheCoordinatorHoldsGrantsBackUntilTheSessionIsProvedAgain() {
    // Given
    bench.proving = false;
    Asked asked = bench.acquire("a");
    bench.now += Duration.ofSeconds(3).toNanos();
    bench.on(new TimeEvent.Stalled(Duration.ofSeconds(3).toNanos()));
    assertThat(bench.last(StoreEffect.ProveSession.class)).hasSize(1);
    // When
    bench.create(asked);
    // Then
    assertThat(bench.wasGranted(asked)).isFalse();
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    assertThat(bench.wasGranted(asked)).isTrue();
  }

  @Test
  void pauseOfTheCoordinatorRefusesNobody() {
    // Given
    bench.proving = false;
    bench.now += Duration.ofSeconds(3).toNanos();
    bench.on(new TimeEvent.Stalled(Duration.ofSeconds(3).toNanos()));
    // When
    Asked asked = bench.acquire("a");
    bench.create(asked);
    // Then
    assertThat(bench.wasGranted(asked)).isFalse();
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    assertThat(bench.wasGranted(asked)).isTrue();
  }

  @Test
  void boundCountsFromTheSendingOfTheLastAnsweredProof() {
    // Given
    bench.proving = false;
    Asked held = bench.acquire("a");
    bench.create(held);
    long sent = bench.now + Duration.ofSeconds(2).toNanos();
    bench.pass(Duration.ofSeconds(7));
    bench.on(new SessionEvent.SessionProved(Bench.S1, sent, sent));
    // When
    bench.pass(BOUND.minusSeconds(5).minusNanos(1));
    assertThat(bench.told(held, Notice.Lost.class)).isEmpty();
    bench.pass(Duration.ofNanos(1));
    // Then: lost before ZooKeeper can have deleted the entry
    assertThat(bench.told(held, Notice.Lost.class))
        .containsExactly(new Notice.Lost(Notice.LossReason.SESSION_LOST, ""));
    assertThat(bench.all(StoreEffect.OpenSession.class)).hasSize(2);
  }

  @Test
  void sessionWhoseBoundWasLostIsEmptiedAndOnlyThenClosed() {
    // Given: another coordinator may have adopted it, and closing would free what its holders have
    bench.proving = false;
    Asked held = bench.acquire("a");
    bench.create(held);
    bench.pass(BOUND);
    assertThat(bench.told(held, Notice.Lost.class)).hasSize(1);
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    // When: its client has had one tick to hear of it
    bench.pass(Bench.settings().tick());
    // Then
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).hasSize(1);
    assertThat(bench.all(StoreEffect.CloseSession.class)).isEmpty();
    bench.deleteAll(held);
    assertThat(bench.all(StoreEffect.CloseSession.class))
        .containsExactly(new StoreEffect.CloseSession(Bench.S1));
  }

  @Test
  void validityNeverReachesPastTheSessionsBound() {
    // Given
    bench.proving = false;
    LeaseId lease = bench.lease(Duration.ofHours(1));
    bench.pass(Duration.ofSeconds(20));
    // When
    CallId call = bench.call();
    bench.on(new ClientEvent.KeepAlive(call, lease));
    // Then
    assertThat(bench.validFor(call)).isEqualTo(BOUND.minusSeconds(20).toNanos());
  }

  @Test
  void lateProofOfASessionWhoseBoundIsLostRevivesNothing() {
    // Given
    bench.proving = false;
    Asked held = bench.acquire("a");
    bench.create(held);
    bench.pass(BOUND);
    int told = bench.told(held).size();
    // When
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    bench.pass(Bench.TIMEOUT);
    // Then
    assertThat(bench.told(held)).hasSize(told);
    bench.on(new SessionEvent.SessionEnded(Bench.S1, false));
    assertThat(bench.counts().acquisitions()).isZero();
    assertThat(bench.counts().leases()).isZero();
  }

  @Test
  void endedSessionEndsAllThatItOwnedAndAnswersAllWhoWait() {
    // Given
    LeaseId lease = bench.lease();
    StreamId stream = bench.attach(lease);
    Asked held = bench.acquireInSession(stream, lease, "held", "a");
    bench.create(held);
    Asked releasing = bench.acquireInSession(stream, lease, "releasing", "b");
    bench.create(releasing);
    CallId release = bench.release(releasing);
    LeaseId recording = new LeaseId(99, 99);
    CallId open = bench.call();
    bench.on(new ClientEvent.OpenLease(open, recording, "h", Bench.TTL, ""));
    // When
    bench.on(new SessionEvent.SessionEnded(Bench.S1, false));
    // Then
    assertThat(bench.told(held, Notice.Lost.class))
        .containsExactly(new Notice.Lost(Notice.LossReason.SESSION_LOST, ""));
    assertThat(bench.told(releasing, Notice.Released.class)).hasSize(1);
    assertThat(bench.answer(release))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.RELEASED, 0));
    assertThat(bench.failure(open)).isEqualTo(Failure.Reason.UNAVAILABLE);
    assertThat(bench.all(Effect.TellLeaseEnd.class))
        .containsExactly(new Effect.TellLeaseEnd(stream, LeaseEnd.SESSION_LOST, ""));
    assertThat(bench.counts().leases()).isZero();
    assertThat(bench.counts().acquisitions()).isZero();
    assertThat(bench.all(StoreEffect.OpenSession.class)).hasSize(2);
  }

  @Test
  void sessionThatEndsIsReplacedEvenWhileAnotherIsStillBeingClosed() {
    // Given: the first session's bound is lost and its closing hangs; the second serves
    bench.proving = false;
    bench.pass(BOUND);
    bench.opened(Bench.S2);
    // When
    bench.on(new SessionEvent.SessionEnded(Bench.S2, false));
    // Then
    assertThat(bench.all(StoreEffect.OpenSession.class)).hasSize(3);
  }

  @Test
  void withoutASureSessionNothingNewIsTaken() {
    // Given
    LeaseId lease = bench.lease();
    bench.proving = false;
    bench.on(new SessionEvent.SessionSuspended(Bench.S1));
    CallId open = bench.call();
    // When
    bench.on(new ClientEvent.OpenLease(open, new LeaseId(1, 1), "h", Bench.TTL, ""));
    Asked byStream = bench.acquire("a");
    Asked byLease = bench.acquire(lease, "r", "a");
    // Then
    assertThat(bench.failure(open)).isEqualTo(Failure.Reason.UNAVAILABLE);
    assertThat(bench.refusals(byStream.stream())).containsExactly(Failure.Reason.UNAVAILABLE);
    assertThat(bench.refusals(byLease.stream())).containsExactly(Failure.Reason.UNAVAILABLE);
  }

  @Test
  void keepAliveIsNotAnsweredWithAValidityThatNobodyCanVouchFor() {
    // Given: the bound has run out and the tick that says so is late
    LeaseId lease = bench.lease(Duration.ofHours(1));
    bench.proving = false;
    bench.now += BOUND.toNanos();
    CallId call = bench.call();
    // When
    bench.on(new ClientEvent.KeepAlive(call, lease));
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.UNAVAILABLE);
  }

  private long bytes() {
    return bench.counts().sessions().get(0).pathBytes();
  }

  @Test
  void sessionIsNotClosedWhileTheDeletionOfAnEntryWaitsForItsCreation() {
    // Given: nobody knows whether an entry exists when the session is given up
    bench.proving = false;
    Asked asked = bench.acquire("a");
    bench.pass(BOUND.plus(Bench.settings().tick()).plusSeconds(1));
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    assertThat(bench.all(StoreEffect.CloseSession.class)).isEmpty();
    // When
    bench.create(asked);
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).hasSize(1);
    assertThat(bench.all(StoreEffect.CloseSession.class)).isEmpty();
    bench.deleteAll(asked);
    // Then
    assertThat(bench.all(StoreEffect.CloseSession.class))
        .containsExactly(new StoreEffect.CloseSession(Bench.S1));
  }

  @Test
  void sessionIsNotClosedWhileTheDeletionOfAnEntryWaitsForWhatIsPlacedBesideIt() {
    // Given: an owner holds once more, and ZooKeeper has not answered when the session is given up
    bench.proving = false;
    LeaseId lease = bench.lease(Duration.ofHours(1));
    Asked first = bench.askAndCreate(lease, Wish.named("one").exclusive("a").by("t"));
    Asked second = bench.ask(lease, Wish.named("two").exclusive("a").by("t"));
    bench.pass(BOUND.plus(Bench.settings().tick()).plusSeconds(1));
    bench.erased(lease);
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    // When
    bench.createAll(second);
    bench.deleteAll(second);
    assertThat(bench.all(StoreEffect.CloseSession.class)).isEmpty();
    bench.deleteAll(first);
    // Then
    assertThat(bench.all(StoreEffect.CloseSession.class))
        .containsExactly(new StoreEffect.CloseSession(Bench.S1));
  }

  @Test
  void bytesOfALevelAreGivenBackWhenItsCreationIsRefused() {
    // Given
    LeaseId lease = bench.lease();
    bench.askAndCreate(lease, Wish.named("one").exclusive("a").by("t"));
    long before = bytes();
    Asked second = bench.ask(lease, Wish.named("two").exclusive("a", "b").by("t"));
    // When
    bench.on(new StoreEvent.EntriesRefused(second.id(), "no room"));
    // Then
    assertThat(bytes()).isEqualTo(before);
  }

  private static int takeAll(Bench small, LeaseId lease, String name) {
    int taken = 0;
    Asked asked = small.acquire(lease, name + taken, name + taken);
    while (small.refusals(asked.stream()).isEmpty()) {
      small.create(asked);
      taken++;
      asked = small.acquire(lease, name + taken, name + taken);
    }
    assertThat(small.refusals(asked.stream())).containsExactly(Failure.Reason.LEASE_FULL);
    return taken;
  }

  private static Bench withTwoThousandBytes() {
    return Bench.ready(
        new CoreSettings(
            Duration.ofSeconds(2),
            10,
            10,
            2_000,
            1,
            8L << 20,
            64L << 20,
            1_000_000,
            64L << 20,
            Duration.ofSeconds(5),
            true,
            Duration.ofSeconds(6)));
  }

  @Test
  void accountWithManyLeasesLeavesAnotherItsShareOfTheSession() {
    // Given: half of 2,000 bytes are for whoever comes first, the other half for two accounts
    Bench small = withTwoThousandBytes();
    LeaseId lone = small.leaseOf("lone");
    List<LeaseId> many = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      many.add(small.leaseOf("many"));
    }
    // When
    for (int i = 0; i < many.size(); i++) {
      int unused = takeAll(small, many.get(i), "many" + i + "-");
    }
    int taken = takeAll(small, lone, "lone");
    // Then
    assertThat(taken).isEqualTo(5);
    assertThat(small.counts().sessions().get(0).pathBytes()).isLessThanOrEqualTo(2_000);
  }

  @Test
  void leaseThatTakesAllItCanLeavesTheOthersOfItsSessionTheirShares() {
    // Given: half of 2,000 bytes are for whoever comes first, the other half for four leases
    Bench small = withTwoThousandBytes();
    List<LeaseId> leases = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      leases.add(small.lease());
    }
    // When
    int greedy = takeAll(small, leases.get(0), "greedy");
    List<Integer> others = new ArrayList<>();
    for (int i = 1; i < 4; i++) {
      others.add(takeAll(small, leases.get(i), "other" + i + "-"));
    }
    // Then
    assertThat(greedy).isGreaterThanOrEqualTo(10);
    assertThat(others).containsExactly(2, 2, 2);
    assertThat(small.counts().sessions().get(0).pathBytes()).isLessThanOrEqualTo(2_000);
  }

  @Test
  void leaseThatIsAloneMayTakeTheWholeSession() {
    // Given
    Bench small = Bench.ready(small(1));
    // When
    int taken = takeAll(small, small.lease(), "a");
    // Then
    assertThat(taken).isEqualTo((800 - Bench.LEASE_BYTES) / Bench.ENTRY_BYTES);
  }

  @Test
  void leasesThatAreOpenedBeforeAnybodyLocksHaveRoomForTheirLocks() {
    // Given: many clients open their leases first, some of whose records would fill half a session
    int many = (int) (Bench.settings().maxSessionPathBytes() / 2 / Bench.LEASE_BYTES) + 1;
    List<LeaseId> leases = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      LeaseId lease = new LeaseId((long) i << 32, i);
      bench.on(new ClientEvent.OpenLease(bench.call(), lease, "hash", Bench.TTL, "tester"));
      bench.last(StoreEffect.OpenSession.class).forEach(open -> bench.opened(open.session()));
      bench.on(new StoreEvent.LeaseRecorded(sessionOf(lease), lease));
      leases.add(lease);
    }
    // When: each asks for as many as it has room for, whatever the others take
    for (LeaseId lease : leases) {
      for (int lock = 0; lock < 5; lock++) {
        bench.acquire(lease, "r" + lock, lease.tag() + lock);
      }
    }
    // Then
    assertThat(bench.all(Effect.Refuse.class)).isEmpty();
    assertThat(bench.all(StoreEffect.CreateEntries.class)).hasSize(5 * many);
    assertThat(bench.counts().sessions())
        .allSatisfy(
            session ->
                assertThat(session.pathBytes())
                    .isLessThanOrEqualTo(Bench.settings().maxSessionPathBytes()));
  }

  private SessionKey sessionOf(LeaseId lease) {
    return bench.kernel.core.leases.get(lease).session();
  }
}
