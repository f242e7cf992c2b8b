package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is asked for, twice, wrongly, by strangers, and by clients that vanish. */
class AcquireHandlerTest {
  private final Bench bench = Bench.ready();
  private final LeaseId lease = bench.lease();

  @Test
  void sameRequestAgainFindsItsGrantUnderItsNumberAndTheOldStreamIsTold() {
    // Given
    Asked first = bench.acquire(lease, "r", "a");
    bench.create(first);
    // When
    Asked second = bench.acquire(lease, "r", "a");
    // Then: one entry, one grant, told to both
    assertThat(bench.all(StoreEffect.CreateEntries.class)).hasSize(1);
    assertThat(bench.last(Effect.Supersede.class))
        .containsExactly(new Effect.Supersede(first.stream()));
    assertThat(bench.tells(first.requestId()).map(Effect.Tell::sequence)).containsExactly(1L, 1L);
    assertThat(bench.last(Effect.Tell.class))
        .extracting(Effect.Tell::stream)
        .containsExactly(second.stream());
  }

  @Test
  void sameRequestAgainWhileItWaitsKeepsItsPlace() {
    // Given
    bench.create(bench.acquire("a"));
    Asked first = bench.acquire(lease, "r", "a");
    bench.create(first);
    bench.create(bench.acquire("a"));
    // When
    bench.acquire(lease, "r", "a");
    // Then
    assertThat(bench.told(first, Notice.Queued.class))
        .extracting(queued -> queued.places().get(0).ahead())
        .containsExactly(1, 1);
  }

  @Test
  void sameRequestAgainAfterItsEndIsToldTheEnding() {
    // Given
    bench.deleting = false;
    bench.create(bench.acquire("a"));
    AcquireCommand attempt =
        Bench.command(Optional.of(lease), "try", "a", Optional.of(Duration.ZERO));
    Asked first = bench.acquire(lease, attempt, bench.stream());
    bench.create(first);
    // When: while the entry is being deleted, and after
    Asked meanwhile = bench.acquire(lease, attempt, bench.stream());
    assertThat(bench.told(first, Notice.NotAcquired.class)).isEmpty();
    bench.deleted(first);
    Asked last = bench.acquire(lease, attempt, bench.stream());
    // Then
    assertThat(bench.told(first, Notice.NotAcquired.class)).hasSize(2);
    assertThat(bench.tells("try").map(Effect.Tell::stream))
        .containsExactly(meanwhile.stream(), last.stream());
    assertThat(bench.all(StoreEffect.CreateEntries.class)).hasSize(2);
  }

  @Test
  void requestIdNamesOneRequestForGood() {
    // Given
    Asked live = bench.acquire(lease, "live", "a");
    bench.create(live);
    Asked ended = bench.acquire(lease, "ended", "b");
    bench.create(ended);
    bench.release(ended);
    bench.deleted(ended);
    // When
    Asked otherLock = bench.acquire(lease, "live", "c");
    Asked afterEnd = bench.acquire(lease, "ended", "c");
    // Then
    assertThat(bench.refusals(otherLock.stream()))
        .containsExactly(Failure.Reason.REQUEST_ID_IN_USE);
    assertThat(bench.refusals(afterEnd.stream())).containsExactly(Failure.Reason.REQUEST_ID_IN_USE);
    assertThat(bench.counts().held()).isEqualTo(1);
  }

  @Test
  void releaseIsIdempotentAndAnsweredWhenTheEntryIsGone() {
    // Given
    Asked held = bench.acquire(lease, "r", "a");
    bench.create(held);
    // When
    CallId first = bench.release(held);
    CallId second = bench.release(held);
    assertThat(bench.answers(first)).isEmpty();
    bench.deleted(held);
    CallId third = bench.release(held);
    // Then
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).hasSize(1);
    assertThat(bench.answer(first)).isEqualTo(done(Answer.ReleaseOutcome.RELEASED));
    assertThat(bench.answer(second)).isEqualTo(done(Answer.ReleaseOutcome.RELEASED));
    assertThat(bench.answer(third)).isEqualTo(done(Answer.ReleaseOutcome.ALREADY_RELEASED));
  }

  @Test
  void releaseOfAWaiterWithdrawsIt() {
    bench.create(bench.acquire("a"));
    Asked waiting = bench.acquire(lease, "r", "a");
    bench.create(waiting);
    CallId call = bench.release(waiting);
    bench.deleted(waiting);
    assertThat(bench.answer(call)).isEqualTo(done(Answer.ReleaseOutcome.WITHDRAWN));
    assertThat(bench.told(waiting, Notice.NotAcquired.class))
        .extracting(Notice.NotAcquired::reason)
        .containsExactly(Notice.RefusalReason.WITHDRAWN);
  }

  @Test
  void strangersReleaseNothing() {
    // Given
    Asked held = bench.acquire(lease, "r", "a");
    bench.create(held);
    LeaseId other = bench.lease();
    CallId wrongLease = bench.call();
    CallId unknownLease = bench.call();
    CallId wrongToken = bench.call();
    // When
    bench.on(new ClientEvent.Release(wrongLease, other, "r", 0));
    bench.on(new ClientEvent.Release(unknownLease, new LeaseId(404, 404), "r", 0));
    bench.on(new ClientEvent.Release(wrongToken, lease, "r", 1));
    // Then
    assertThat(bench.failure(wrongLease)).isEqualTo(Failure.Reason.UNKNOWN_ACQUISITION);
    assertThat(bench.failure(unknownLease)).isEqualTo(Failure.Reason.UNKNOWN_LEASE);
    assertThat(bench.failure(wrongToken)).isEqualTo(Failure.Reason.WRONG_TOKEN);
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    assertThat(bench.counts().held()).isEqualTo(1);
  }

  @Test
  void releaseWithTheRightTokenReleases() {
    Asked held = bench.acquire(lease, "r", "a");
    bench.create(held);
    long token = bench.told(held, Notice.Granted.class).get(0).grants().get(0).token().value();
    CallId call = bench.call();
    bench.on(new ClientEvent.Release(call, lease, "r", token));
    bench.deleted(held);
    assertThat(bench.answer(call)).isEqualTo(done(Answer.ReleaseOutcome.RELEASED));
  }

  @Test
  void lockInUseAsAnotherKindIsRefused() {
    EntryName reader = EntryName.parse("__READ__0000000000").orElseThrow();
    bench.on(new StoreEvent.EntryAppeared(new LockName("a"), reader, bench.zxid()));
    Asked asked = bench.acquire("a");
    assertThat(bench.refusals(asked.stream())).containsExactly(Failure.Reason.WRONG_KIND);
  }

  @Test
  void fullQueueRefusesAtOnceThoughNoneOfItsEntriesHasBeenSeen() {
    // Given
    Bench small = Bench.ready(withMaxWaiters(2));
    Asked first = small.acquire("a");
    Asked second = small.acquire("a");
    // When: two are under way
    Asked third = small.acquire("a");
    small.create(first);
    small.create(second);
    Asked fourth = small.acquire("a");
    // Then
    assertThat(small.refusals(third.stream())).containsExactly(Failure.Reason.QUEUE_FULL);
    assertThat(small.refusals(fourth.stream())).containsExactly(Failure.Reason.QUEUE_FULL);
    assertThat(small.told(second, Notice.Queued.class)).hasSize(1);
  }

  @Test
  void placeBeyondTheCapIsGivenUp() {
    // Given
    Bench small = Bench.ready(withMaxWaiters(2));
    Asked late = small.acquire("a");
    // When: others came first while it was under way
    small.takenElsewhere("a");
    small.takenElsewhere("a");
    small.create(late);
    // Then
    assertThat(small.told(late, Notice.NotAcquired.class))
        .extracting(Notice.NotAcquired::reason)
        .containsExactly(Notice.RefusalReason.QUEUE_FULL);
  }

  @Test
  void entriesWhoseDeletionIsOwedAreInTheQueueUntilItIsCertain() {
    // Given: two that were cancelled before anybody saw their entries
    Bench small = Bench.ready(withMaxWaiters(2));
    Asked first = small.acquire("a");
    Asked second = small.acquire("a");
    small.on(new ClientEvent.StreamClosed(first.stream(), true));
    small.on(new ClientEvent.StreamClosed(second.stream(), true));
    // When
    Asked tooEarly = small.acquire("a");
    small.answerCreated(first, small.entryOf(first));
    small.deleteAll(first);
    Asked third = small.acquire("a");
    // Then
    assertThat(small.refusals(tooEarly.stream())).containsExactly(Failure.Reason.QUEUE_FULL);
    assertThat(small.refusals(third.stream())).isEmpty();
  }

  private static CoreSettings withMaxWaiters(int waiters) {
    CoreSettings defaults = CoreSettings.defaults();
    return new CoreSettings(
        defaults.tick(),
        waiters,
        100_000,
        512 << 10,
        64,
        8L << 20,
        64L << 20,
        1_000_000,
        64L << 20,
        defaults.linger(),
        true,
        java.time.Duration.ofSeconds(6));
  }

  @Test
  void leaseMayOwnNoMoreThanASessionMay() {
    // Given: a session of 260 bytes, the lease's record takes 50, an entry 100
    Bench small =
        Bench.ready(
            new CoreSettings(
                Duration.ofSeconds(2),
                10,
                10,
                260,
                8,
                8L << 20,
                64L << 20,
                1_000_000,
                64L << 20,
                Duration.ofSeconds(5),
                true,
                java.time.Duration.ofSeconds(6)));
    LeaseId owner = small.lease();
    small.create(small.acquire(owner, "1", "a"));
    small.create(small.acquire(owner, "2", "b"));
    // When
    Asked tooMuch = small.acquire(owner, "3", "c");
    // Then
    assertThat(small.refusals(tooMuch.stream())).containsExactly(Failure.Reason.LEASE_FULL);
  }

  private static Bench withMirrorOf(int entries, long nameBytes) {
    CoreSettings defaults = CoreSettings.defaults();
    return Bench.ready(
        new CoreSettings(
            defaults.tick(),
            10,
            10,
            512 << 10,
            8,
            8L << 20,
            64L << 20,
            entries,
            nameBytes,
            defaults.linger(),
            true,
            defaults.sendAwayAfter()));
  }

  @Test
  void thereAreNoMoreEntriesThanEveryCoordinatorCanKeep() {
    // Given
    Bench small = withMirrorOf(2, 1_000);
    LeaseId owner = small.lease();
    Asked first = small.acquire(owner, "1", "a");
    small.create(first);
    small.takenElsewhere("b");
    // When
    Asked tooMuch = small.acquire(owner, "2", "c");
    small.release(first);
    small.deleteAll(first);
    Asked afterwards = small.acquire(owner, "3", "c");
    // Then
    assertThat(small.refusals(tooMuch.stream())).containsExactly(Failure.Reason.TOO_MANY);
    assertThat(small.refusals(afterwards.stream())).isEmpty();
  }

  @Test
  void namesInUseAreNoLongerThanWhatCanBeReadBack() {
    // Given: "a" and "b" take five bytes each
    Bench small = withMirrorOf(100, 10);
    LeaseId owner = small.lease();
    Asked first = small.acquire(owner, "1", "a");
    small.create(first);
    small.takenElsewhere("b");
    // When
    Asked tooMuch = small.acquire(owner, "2", "c");
    small.release(first);
    small.deleteAll(first);
    Asked afterwards = small.acquire(owner, "3", "c");
    // Then
    assertThat(small.refusals(tooMuch.stream())).containsExactly(Failure.Reason.TOO_MANY);
    assertThat(small.refusals(afterwards.stream())).isEmpty();
  }

  @Test
  void thereAreNoMoreLeasesThanMayBe() {
    Bench small =
        Bench.ready(
            new CoreSettings(
                Duration.ofSeconds(2),
                10,
                1,
                512 << 10,
                8,
                8L << 20,
                64L << 20,
                1_000_000,
                64L << 20,
                Duration.ofSeconds(5),
                true,
                java.time.Duration.ofSeconds(6)));
    small.lease();
    Asked asked = small.acquire("a");
    assertThat(small.refusals(asked.stream())).containsExactly(Failure.Reason.TOO_MANY);
  }

  @Test
  void refusalThatAnOperatorCanMendSaysThatTheRequestMayComeAgain() {
    // Given
    Asked asked = bench.acquire(lease, "r", "a");
    // When
    bench.on(new StoreEvent.EntriesRefused(asked.id(), "closed", true));
    // Then
    assertThat(bench.refusals(asked.stream())).containsExactly(Failure.Reason.UNAVAILABLE);
  }

  @Test
  void releaseWhoseDeletionIsDelayedIsAnsweredAtOnceAndAgainWhenItIsDone() {
    // Given
    Asked asked = bench.acquire(lease, "r", "a");
    bench.create(asked);
    CallId first = bench.release(asked);
    // When
    bench.on(new StoreEvent.DeletionDelayed(asked.id(), "closed"));
    CallId second = bench.release(asked);
    bench.on(new StoreEvent.EntriesDeleted(asked.id()));
    // Then
    assertThat(bench.failure(first)).isEqualTo(Failure.Reason.UNAVAILABLE);
    assertThat(bench.answers(second)).hasSize(1);
  }

  @Test
  void storesRefusalIsToldAndTheRequestMayComeAgain() {
    // Given
    Asked asked = bench.acquire(lease, "r", "a");
    CallId release = bench.call();
    // When
    bench.on(new StoreEvent.EntriesRefused(asked.id(), "no"));
    Asked again = bench.acquire(lease, "r", "a");
    // Then
    assertThat(bench.refusals(asked.stream())).containsExactly(Failure.Reason.STORE_REFUSED);
    assertThat(bench.told(asked)).isEmpty();
    bench.create(again);
    assertThat(bench.wasGranted(again)).isTrue();
    assertThat(bench.answers(release)).isEmpty();
  }

  @Test
  void positionIsToldToWhoWaitsOnly() {
    // Given
    Asked held = bench.acquire(lease, "held", "a");
    bench.create(held);
    Asked waiting = bench.acquire(lease, "waiting", "a");
    bench.create(waiting);
    // When
    CallId ofWaiter = query(lease, "waiting");
    CallId ofHolder = query(lease, "held");
    CallId ofNobody = query(lease, "nobody");
    CallId ofStranger = query(new LeaseId(404, 404), "held");
    // Then
    Answer.PositionTold told = (Answer.PositionTold) bench.answer(ofWaiter);
    assertThat(told.told().places().get(0).ahead()).isEqualTo(1);
    assertThat(bench.failure(ofHolder)).isEqualTo(Failure.Reason.NOT_WAITING);
    assertThat(bench.failure(ofNobody)).isEqualTo(Failure.Reason.UNKNOWN_ACQUISITION);
    assertThat(bench.failure(ofStranger)).isEqualTo(Failure.Reason.UNKNOWN_LEASE);
  }

  private CallId query(LeaseId of, String requestId) {
    CallId call = bench.call();
    bench.on(new ClientEvent.QueryPosition(call, of, requestId));
    return call;
  }

  @Test
  void waiterIsToldItsPlaceWheneverItHasChangedAndAnIntervalHasPassed() {
    // Given: third in the queue
    Asked first = bench.acquire("a");
    bench.create(first);
    Asked second = bench.acquire("a");
    StoreEvent.CreatedEntry entry = bench.create(second);
    AcquireCommand command =
        new AcquireCommand(
            List.of(new AcquireCommand.WantedLock(new LockName("a"), MutexKind.EXCLUSIVE)),
            Optional.empty(),
            "",
            "r",
            Optional.empty(),
            "",
            Map.of(),
            Optional.of(Duration.ofSeconds(1)),
            Optional.empty(),
            Duration.ZERO,
            false,
            List.of(),
            false);
    Asked third = bench.acquire(new LeaseId(55, 5), command, bench.stream());
    bench.create(third);
    // When
    bench.pass(Duration.ofSeconds(3));
    assertThat(bench.told(third, Notice.Position.class)).isEmpty();
    bench.release(second);
    bench.vanish(entry);
    bench.pass(Duration.ofSeconds(3));
    // Then
    assertThat(bench.told(third, Notice.Position.class))
        .extracting(position -> position.places().get(0).ahead())
        .containsExactly(1);
  }

  @Test
  void waitTimeoutEndsTheWaitAndADeadEntryIsNeverGranted() {
    // Given
    Asked holder = bench.acquire("a");
    bench.create(holder);
    Asked waiting = bench.acquire("a", Optional.of(Duration.ofSeconds(3)));
    bench.create(waiting);
    bench.deleting = false;
    // When
    bench.pass(Duration.ofSeconds(3));
    bench.release(holder);
    bench.deleted(holder);
    // Then: what another coordinator could find is not called ended
    assertThat(bench.told(waiting, Notice.NotAcquired.class)).isEmpty();
    bench.deleted(waiting);
    assertThat(bench.told(waiting, Notice.NotAcquired.class))
        .extracting(Notice.NotAcquired::reason)
        .containsExactly(Notice.RefusalReason.TIMED_OUT);
    assertThat(bench.wasGranted(waiting)).isFalse();
  }

  @Test
  void attemptEndsWithTheSessionWhenZooKeeperDoesNotAnswer() {
    // Given
    Asked attempt = bench.acquire("a", Optional.of(Duration.ZERO));
    bench.proving = false;
    // When: its own time is over, and then that of the session
    bench.pass(Duration.ofSeconds(5));
    assertThat(bench.told(attempt, Notice.NotAcquired.class)).isEmpty();
    bench.pass(Bench.TIMEOUT);
    // Then
    assertThat(bench.told(attempt, Notice.NotAcquired.class))
        .extracting(Notice.NotAcquired::reason)
        .containsExactly(Notice.RefusalReason.SESSION_LOST);
  }

  @Test
  void entryThatIsCreatedAfterItsTimeIsAnsweredWithItsDeletionAndThenTheEnding() {
    // Given
    Asked attempt = bench.acquire("a", Optional.of(Duration.ZERO));
    bench.deleting = false;
    bench.pass(Duration.ofSeconds(5));
    // When
    bench.create(attempt);
    // Then
    assertThat(bench.told(attempt)).isEmpty();
    assertThat(bench.deletions()).hasSize(1);
    bench.deleted(attempt);
    assertThat(bench.ending(attempt).reason()).isEqualTo(Notice.RefusalReason.TIMED_OUT);
    bench.on(new ClientEvent.CloseLease(bench.call(), lease));
    bench.erased(lease);
    bench.assertNothingIsLeft();
  }

  @Test
  void waiterWhoseEntryCannotBeDeletedForNowIsRefusedAndHearsItsEndingWhenItAsksAgain() {
    // Given
    bench.create(bench.acquire("a"));
    AcquireCommand attempt =
        Bench.command(Optional.of(lease), "try", "a", Optional.of(Duration.ZERO));
    Asked first = bench.acquire(lease, attempt, bench.stream());
    bench.deleting = false;
    bench.create(first);
    // When
    bench.on(new StoreEvent.DeletionDelayed(first.id(), "closed"));
    // Then
    assertThat(bench.refusals(first.stream())).containsExactly(Failure.Reason.UNAVAILABLE);
    Asked again = bench.acquire(lease, attempt, bench.stream());
    bench.deleted(first);
    assertThat(bench.tells("try").map(Effect.Tell::stream)).containsExactly(again.stream());
  }

  @Test
  void streamThatIsTheLeaseTakesTheLockWithIt() {
    Asked held = bench.acquire("a");
    bench.create(held);
    bench.on(new ClientEvent.StreamClosed(held.stream(), false));
    assertThat(bench.last(StoreEffect.DeleteEntries.class)).hasSize(1);
    bench.deleted(held);
    assertThat(bench.counts().acquisitions()).isZero();
    assertThat(bench.counts().leases()).isEqualTo(1);
  }

  @Test
  void waiterWhoseStreamHasGoneLingersAndThenLeaves() {
    // Given
    bench.create(bench.acquire("a"));
    Asked waiting = bench.acquire(lease, "r", "a");
    bench.create(waiting);
    // When
    bench.on(new ClientEvent.StreamClosed(waiting.stream(), false));
    bench.pass(Duration.ofSeconds(4));
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    bench.pass(Duration.ofSeconds(1));
    // Then
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).hasSize(1);
  }

  @Test
  void waiterWhoseRequestComesAgainInTimeKeepsItsPlace() {
    bench.create(bench.acquire("a"));
    Asked waiting = bench.acquire(lease, "r", "a");
    bench.create(waiting);
    bench.on(new ClientEvent.StreamClosed(waiting.stream(), false));
    bench.pass(Duration.ofSeconds(4));
    bench.acquire(lease, "r", "a");
    bench.pass(Duration.ofSeconds(4));
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
  }

  @Test
  void lingeringBeginsAnewEachTimeTheStreamGoes() {
    // Given: gone at 0 s, back at 3 s, gone again at 4 s
    bench.create(bench.acquire("a"));
    Asked waiting = bench.acquire(lease, "r", "a");
    bench.create(waiting);
    bench.on(new ClientEvent.StreamClosed(waiting.stream(), false));
    bench.pass(Duration.ofSeconds(3));
    Asked again = bench.acquire(lease, "r", "a");
    bench.pass(Duration.ofSeconds(1));
    bench.on(new ClientEvent.StreamClosed(again.stream(), false));
    // When
    bench.pass(Duration.ofSeconds(4));
    // Then: only at 9 s is the place given up
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    bench.pass(Duration.ofSeconds(1));
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).hasSize(1);
  }

  @Test
  void grantThatNobodyHeardIsGivenBackAndOneThatWasHeardIsKept() {
    // Given
    Asked heard = bench.acquire(lease, "heard", "b");
    bench.create(heard);
    Asked unheard = bench.acquire(lease, "unheard", "a");
    bench.on(new ClientEvent.StreamClosed(heard.stream(), false));
    bench.on(new ClientEvent.StreamClosed(unheard.stream(), false));
    bench.create(unheard);
    assertThat(bench.counts().held()).isEqualTo(2);
    // When
    bench.pass(Duration.ofSeconds(5));
    // Then
    assertThat(bench.all(StoreEffect.DeleteEntries.class))
        .extracting(StoreEffect.DeleteEntries::id)
        .containsExactly(unheard.id());
  }

  private static Answer done(Answer.ReleaseOutcome outcome) {
    return new Answer.ReleaseDone(outcome, 0);
  }
}
