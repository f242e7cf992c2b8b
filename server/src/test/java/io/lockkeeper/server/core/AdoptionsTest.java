package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.LifecycleEvent;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.RevocationRequest;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class AdoptionsTest {

  private static final Duration VOUCHED = Bench.TIMEOUT;
  private static final Duration LINGER = Bench.settings().linger();
  private final Bench bench = Bench.ready();
  private final Inheritance left = new Inheritance(bench);

  private List<Long> tokens(String requestId) {
    return bench.told(requestId, Notice.Granted.class).stream()
        .flatMap(granted -> granted.grants().stream())
        .map(grant -> grant.token().value())
        .toList();
  }

  @Test
  void holderFindsItsGrantWithTheSameTokenAndTheWaiterItsPlace() {
    // Given
    LeaseId holder = left.lease();
    LeaseId waiter = left.lease();
    List<Long> held = left.entries(holder, Wish.named("held").exclusive("a"));
    left.entries(waiter, Wish.named("waits").exclusive("a"));
    left.take();
    // When
    bench.attach(holder);
    bench.attach(waiter);
    // Then
    assertThat(tokens("held")).isEqualTo(held);
    assertThat(bench.told("waits")).hasSize(1).first().isInstanceOf(Notice.Queued.class);
  }

  @Test
  void waiterIsGrantedWhenTheAdoptedHolderReleases() {
    // Given
    LeaseId holder = left.lease();
    LeaseId waiter = left.lease();
    left.entries(holder, Wish.named("held").exclusive("a"));
    List<Long> next = left.entries(waiter, Wish.named("waits").exclusive("a"));
    left.take();
    bench.attach(holder);
    bench.attach(waiter);
    // When
    bench.on(new ClientEvent.Release(bench.call(), holder, "held", 0));
    // Then
    assertThat(tokens("waits")).isEqualTo(next);
    assertThat(bench.deletions()).hasSize(1);
  }

  @Test
  void nothingIsDoneWithWhatTheCoordinatorBeforeMayVouchForUntilItsClientComes() {
    // Given: a waiter whose time is over, which may have been granted ahead of a release
    LeaseId holder = left.lease();
    LeaseId waiter = left.lease();
    left.entries(holder, Wish.named("held").exclusive("a"));
    left.entries(waiter, Wish.named("waits").exclusive("a").waiting(Duration.ofSeconds(1)));
    left.take();
    // When
    bench.pass(VOUCHED.minusNanos(1));
    // Then
    assertThat(bench.deletions()).isEmpty();
    assertThat(bench.all(Effect.Tell.class)).isEmpty();
    bench.pass(Duration.ofNanos(1));
    assertThat(bench.deletions()).isNotEmpty();
  }

  @Test
  void leaseNobodyComesForEndsWhenItsClientCanRelyOnItNoLonger() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a"));
    left.take();
    // When: one time to live would be half of it
    bench.pass(VOUCHED.minusNanos(1));
    assertThat(bench.deletions()).isEmpty();
    bench.pass(Duration.ofNanos(1));
    // Then
    assertThat(bench.deletions()).hasSize(1);
    assertThat(bench.all(StoreEffect.EraseLease.class)).hasSize(1);
  }

  @Test
  void leaseOfACoordinatorThatIsDeadForCertainHasOneTimeToLive() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a"));
    left.take(true);
    // When
    bench.pass(Bench.TTL.minusNanos(1));
    assertThat(bench.deletions()).isEmpty();
    bench.pass(Duration.ofNanos(1));
    // Then
    assertThat(bench.deletions()).hasSize(1);
  }

  @Test
  void leaseOfACoordinatorThatLeftInGoodOrderLivesForTheTimeThatWasLeft() {
    // Given: it knew how long its client could still rely on the lease
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a"));
    left.leftWith(promised(lease, Duration.ofSeconds(3)));
    left.take();
    // When
    bench.pass(Duration.ofSeconds(3).minusNanos(1));
    assertThat(bench.deletions()).isEmpty();
    bench.pass(Duration.ofNanos(1));
    // Then
    assertThat(bench.deletions()).hasSize(1);
    assertThat(bench.all(StoreEffect.EraseLease.class)).hasSize(1);
  }

  @Test
  void timeThatIsLeftOfALeaseIsNotRenewedByOneTakeoverAfterTheOther() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a"));
    left.leftWith(promised(lease, Duration.ofSeconds(3)));
    SessionKey session = left.take();
    bench.pass(Duration.ofSeconds(1));
    // When
    bench.on(new LifecycleEvent.Draining());
    bench.on(new LifecycleEvent.Leaving());
    // Then
    assertThat(bench.all(StoreEffect.RecordPromises.class))
        .contains(new StoreEffect.RecordPromises(session, promised(lease, Duration.ofSeconds(2))));
  }

  @Test
  void coordinatorThatLeavesPromisesNothingAfterItHasRecordedWhatIsLeft() {
    // Given
    LeaseId lease = bench.lease();
    bench.pass(Duration.ofSeconds(1));
    bench.on(new LifecycleEvent.Draining());
    bench.on(new LifecycleEvent.Leaving());
    CallId call = bench.call();
    // When
    bench.on(new ClientEvent.KeepAlive(call, lease));
    // Then
    Duration rest = Bench.TTL.minusSeconds(1);
    assertThat(bench.all(StoreEffect.RecordPromises.class))
        .contains(new StoreEffect.RecordPromises(Bench.S1, promised(lease, rest)));
    assertThat(bench.validFor(call)).isEqualTo(rest.toNanos());
  }

  @Test
  void coordinatorThatLeavesGrantsNothingAfterItHasRecordedWhatIsLeft() {
    // Given
    Asked holder = bench.alone(Wish.named("held").exclusive("a"));
    Asked next = bench.alone(Wish.named("next").exclusive("a"));
    bench.on(new LifecycleEvent.Draining());
    bench.on(new LifecycleEvent.Leaving());
    // When
    bench.release(holder);
    assertThat(bench.wasGranted(next)).isFalse();
    bench.deleteAll(holder);
    // Then: who adopts its session grants it
    assertThat(bench.wasGranted(next)).isFalse();
  }

  @Test
  void waitWhoseClientHadClosedItsStreamEndsWhenTheCoordinatorThatLeftWouldHaveEndedIt() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a"));
    left.entriesOfAnOwnStream(lease, Wish.named("waits").exclusive("a"));
    UUID waiter = left.created("a", "waits").name().id().orElseThrow();
    left.leftWith(
        new Promises(Map.of(lease.tag(), Bench.TTL), Map.of(waiter, Duration.ofSeconds(2))));
    SessionKey session = left.take();
    bench.keepAliveFor(lease, Duration.ofSeconds(1));
    bench.on(new LifecycleEvent.Leaving());
    // When
    bench.pass(Duration.ofSeconds(1).minusNanos(1));
    assertThat(entriesDeletedAfter(0)).isEmpty();
    bench.pass(Duration.ofNanos(1));
    // Then
    assertThat(entriesDeletedAfter(0)).containsExactly(entry("a", "waits"));
    assertThat(bench.all(StoreEffect.RecordPromises.class))
        .filteredOn(recorded -> recorded.session().equals(session))
        .singleElement()
        .satisfies(
            recorded ->
                assertThat(recorded.promises().waiters()).isEqualTo(Map.of(waiter, LINGER)));
  }

  @Test
  void waitThatNoClockMayEndYetIsNotLeftWithAnEarlierEnd() {
    // Given: the coordinator before may have granted it, and its client has closed its stream
    LeaseId waiter = left.lease();
    Wish waits = Wish.named("waits").exclusive("a");
    left.entries(left.lease(), Wish.named("held").exclusive("a"));
    left.entriesOfAnOwnStream(waiter, waits);
    left.take();
    Asked asked = bench.ask(waiter, waits);
    bench.on(new ClientEvent.StreamClosed(asked.stream(), false));
    bench.keepAliveFor(waiter, LINGER.plusSeconds(1));
    // When
    bench.on(new LifecycleEvent.Leaving());
    // Then
    assertThat(bench.all(StoreEffect.RecordPromises.class))
        .flatExtracting(recorded -> recorded.promises().waiters().values())
        .containsExactly(VOUCHED.minusSeconds(1));
  }

  @Test
  void lockOfAStreamIsFreedWhenTheCoordinatorThatLeftWouldHaveFreedIt() {
    // Given
    LeaseId stream = left.leaseWithoutRecord();
    left.entries(stream, Wish.named("held").exclusive("a"), true);
    left.leftWith(promised(stream, Duration.ofSeconds(2)));
    left.take();
    // When
    bench.pass(Duration.ofSeconds(2).minusNanos(1));
    assertThat(bench.deletions()).isEmpty();
    bench.pass(Duration.ofNanos(1));
    // Then
    assertThat(bench.deletions()).hasSize(1);
  }

  private static Promises promised(LeaseId lease, Duration left) {
    return new Promises(Map.of(lease.tag(), left), Map.of());
  }

  @Test
  void leaseWhoseClientCameAndLeftIsNotEndedWhileItMayBeVouchedForElsewhere() {
    // Given: its client may be back at the coordinator before, which does not know yet
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a"));
    left.take();
    StreamId stream = bench.attach(lease);
    bench.on(new ClientEvent.StreamClosed(stream, false));
    // When
    bench.pass(VOUCHED.minusNanos(1));
    assertThat(bench.deletions()).isEmpty();
    bench.pass(Duration.ofNanos(1));
    // Then
    assertThat(bench.deletions()).hasSize(1);
  }

  @Test
  void leaseLivesByItsOwnTimeWhenNobodyElseCanVouchForIt() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a"));
    left.take();
    bench.pass(VOUCHED.minusSeconds(1));
    bench.attach(lease);
    // When
    bench.pass(Bench.TTL.minusNanos(1));
    assertThat(bench.told("held", Notice.Lost.class)).isEmpty();
    bench.pass(Duration.ofNanos(1));
    // Then
    assertThat(bench.told("held", Notice.Lost.class)).hasSize(1);
  }

  @Test
  void keepAliveWithoutAStreamIsNeverWorthLessThanWhatWasVouchedFor() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a"));
    left.take();
    CallId call = bench.call();
    // When
    bench.on(new ClientEvent.KeepAlive(call, lease));
    // Then
    assertThat(bench.validFor(call)).isEqualTo(Bench.TTL.toNanos());
    bench.pass(VOUCHED.minusNanos(1));
    assertThat(bench.deletions()).isEmpty();
  }

  @Test
  void lockOfAStreamIsFreedWhenItsClientMustKnow() {
    // Given
    LeaseId stream = left.leaseWithoutRecord();
    left.entries(stream, Wish.named("held").exclusive("a"), true);
    left.take();
    // When
    bench.pass(VOUCHED.minusNanos(1));
    assertThat(bench.deletions()).isEmpty();
    bench.pass(Duration.ofNanos(1));
    // Then
    assertThat(bench.deletions()).hasSize(1);
  }

  @Test
  void lockOfAStreamIsFreedAtOnceWhereItsCoordinatorIsDeadForCertain() {
    // Given
    LeaseId stream = left.leaseWithoutRecord();
    left.entries(stream, Wish.named("held").exclusive("a"), true);
    // When
    left.take(true);
    // Then
    assertThat(bench.deletions()).hasSize(1);
  }

  @Test
  void entriesOfALeaseWithoutRecordGoAtOnceSinceItHadEnded() {
    // Given
    left.entries(left.leaseWithoutRecord(), Wish.named("late").exclusive("a"));
    // When
    left.take();
    // Then
    assertThat(bench.deletions()).hasSize(1);
  }

  @Test
  void waitWithoutItsStreamIsNotGivenUpBeforeNobodyElseCanVouchForIt() {
    // Given
    LeaseId waiter = left.lease();
    left.entries(left.lease(), Wish.named("held").exclusive("a"));
    Wish waits = Wish.named("waits").exclusive("a");
    left.entriesOfAnOwnStream(waiter, waits);
    left.take();
    Asked asked = bench.ask(waiter, waits);
    bench.on(new ClientEvent.StreamClosed(asked.stream(), false));
    // When
    bench.keepAliveFor(waiter, VOUCHED.plus(LINGER).minusNanos(1));
    // Then
    assertThat(entriesDeletedAfter(0)).doesNotContain(entry("a", "waits"));
    bench.pass(Duration.ofNanos(1));
    assertThat(entriesDeletedAfter(0)).contains(entry("a", "waits"));
  }

  @Test
  void holdThatNobodyHeardOfIsNotGivenUpBeforeNobodyElseCanVouchForIt() {
    // Given: a waiter without its stream, which is granted here
    LeaseId holder = left.lease();
    LeaseId waiter = left.lease();
    left.entries(holder, Wish.named("held").exclusive("a"));
    Wish waits = Wish.named("waits").exclusive("a");
    left.entriesOfAnOwnStream(waiter, waits);
    left.take();
    Asked asked = bench.ask(waiter, waits);
    bench.on(new ClientEvent.StreamClosed(asked.stream(), false));
    bench.on(new ClientEvent.Release(bench.call(), holder, "held", 0));
    int released = bench.deletions().size();
    // When
    bench.keepAliveFor(waiter, VOUCHED.plus(LINGER).minusNanos(1));
    // Then
    assertThat(entriesDeletedAfter(released)).doesNotContain(entry("a", "waits"));
    bench.pass(Duration.ofNanos(1));
    assertThat(entriesDeletedAfter(released)).contains(entry("a", "waits"));
  }

  private EntryRef entry(String lock, String requestId) {
    return Bench.ref(left.created(lock, requestId));
  }

  private List<EntryRef> entriesDeletedAfter(int count) {
    return bench.deletions().stream()
        .skip(count)
        .flatMap(deletion -> deletion.entries().stream())
        .toList();
  }

  @Test
  void holdWhoseClientHeardOfItElsewhereIsNotGivenUpWithoutItsStream() {
    // Given: nobody comes for it, but its lease is kept alive
    LeaseId lease = left.lease();
    left.entriesOfAnOwnStream(lease, Wish.named("held").exclusive("a"));
    left.take();
    // When
    bench.keepAliveFor(lease, VOUCHED.plus(LINGER).plusSeconds(60));
    // Then
    assertThat(bench.deletions()).isEmpty();
  }

  @Test
  void requestThatLosesOneOfItsLocksByForceKeepsTheOtherWhileItMayBeReliedOnElsewhere() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("both").exclusive("a", "b"));
    left.take();
    CallId call = bench.call();
    RevocationRequest ask = new RevocationRequest("1", "ops", "", Optional.empty(), true);
    // When
    bench.on(new ClientEvent.ForceRelease(call, new LockName("a"), 0, ask));
    // Then: the one that was wanted goes at once
    assertThat(bench.last(StoreEffect.UpdateEntry.class))
        .hasSize(1)
        .first()
        .satisfies(
            update -> {
              assertThat(update.lock()).isEqualTo(new LockName("a"));
              assertThat(update.update()).isEqualTo(new EntryUpdate.Remove());
            });
    bench.vanish(left.created("a", "both"));
    assertThat(bench.answers(call)).hasSize(1);
    bench.keepAliveFor(lease, VOUCHED.minusNanos(1));
    assertThat(bench.deletions()).isEmpty();
    bench.pass(Duration.ofNanos(1));
    assertThat(entriesDeletedAfter(0)).contains(entry("b", "both"));
  }

  @Test
  void requestThatLosesOneOfItsLocksToAStrangerKeepsTheOtherWhileItMayBeReliedOnElsewhere() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("both").exclusive("a", "b"));
    left.take();
    LeaseId other = bench.lease(Duration.ofHours(1));
    Asked next = bench.askAndCreate(other, Wish.named("next").exclusive("b"));
    // When
    bench.vanish(left.created("a", "both"));
    // Then
    bench.keepAliveFor(lease, VOUCHED.minusNanos(1));
    assertThat(bench.deletions()).isEmpty();
    assertThat(bench.wasGranted(next)).isFalse();
    bench.pass(Duration.ofNanos(1));
    assertThat(entriesDeletedAfter(0)).contains(entry("b", "both"));
  }

  @Test
  void whatIsLeftOfARequestGoesAtOnceWhenItsClientGivesItBack() {
    // Given: one of its locks was taken away
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("both").exclusive("a", "b"));
    left.take();
    bench.vanish(left.created("a", "both"));
    assertThat(bench.deletions()).isEmpty();
    // When
    bench.on(new ClientEvent.Release(bench.call(), lease, "both", 0));
    // Then
    assertThat(entriesDeletedAfter(0)).contains(entry("b", "both"));
  }

  @Test
  void whatIsLeftOfARequestGoesAtOnceWhenItsLeaseEnds() {
    // Given: one of its locks was taken away
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("both").exclusive("a", "b"));
    SessionKey key = left.take();
    bench.vanish(left.created("a", "both"));
    // When
    bench.on(new ClientEvent.CloseLease(bench.call(), lease));
    bench.erased(lease);
    // Then: and the session is closed when it is gone, and not before
    assertThat(entriesDeletedAfter(0)).contains(entry("b", "both"));
    assertThat(bench.all(StoreEffect.CloseSession.class)).isEmpty();
    bench.on(new StoreEvent.EntriesDeleted(bench.deletions().get(0).id()));
    assertThat(bench.all(StoreEffect.CloseSession.class))
        .containsExactly(new StoreEffect.CloseSession(key));
  }

  @Test
  void lostHolderLeavesItsGuardForTheLockDelay() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a").delaying(Duration.ofSeconds(3)));
    left.take();
    // When
    bench.pass(VOUCHED);
    // Then
    assertThat(bench.deletions().get(0).entries().get(0).guard()).isEmpty();
  }

  @Test
  void releasedHolderTakesItsGuardAlong() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a").delaying(Duration.ofSeconds(3)));
    left.take();
    // When
    bench.on(new ClientEvent.Release(bench.call(), lease, "held", 0));
    // Then
    assertThat(bench.deletions().get(0).entries().get(0).guard()).isPresent();
  }

  @Test
  void entryThatWasRemovedMeanwhileIsTellingOfALoss() {
    // Given: it is on the session by the inventory, and not in the mirror
    LeaseId lease = left.lease();
    StoreEvent.CreatedEntry gone =
        bench.foreign("a", new UUID(lease.high(), 7), MutexKind.EXCLUSIVE);
    Wish held = Wish.named("held").exclusive("a");
    long token =
        left.add(gone, Inheritance.details(lease, held.command(Optional.of(lease)), false));
    bench.vanish(gone);
    left.take();
    // When
    StreamId stream = bench.attach(lease);
    bench.repeat(stream, lease, held.holding(token));
    // Then
    assertThat(bench.told("held", Notice.Granted.class)).isEmpty();
    assertThat(bench.told("held", Notice.Lost.class))
        .extracting(Notice.Lost::reason)
        .containsExactly(Notice.LossReason.REMOVED);
  }

  @Test
  void entryThatTheMirrorShowsLaterIsGrantedThen() {
    // Given
    LeaseId lease = left.lease();
    UUID id = new UUID(lease.high(), 7);
    StoreEvent.CreatedEntry late =
        new StoreEvent.CreatedEntry(
            new LockName("a"),
            EntryName.parse(EntryName.prefix(id, MutexKind.EXCLUSIVE) + EntryName.suffix(0))
                .orElseThrow(),
            bench.zxid(),
            0);
    Wish held = Wish.named("held").exclusive("a");
    left.add(late, Inheritance.details(lease, held.command(Optional.of(lease)), false));
    SessionKey key = left.claim();
    assertThat(key).isNotEqualTo(Bench.S1);
    left.adoptedAs(key, false);
    bench.attach(lease);
    assertThat(bench.told("held")).isEmpty();
    // When
    bench.appear(late);
    left.passBarriers();
    // Then
    assertThat(tokens("held")).hasSize(1);
  }

  @Test
  void releaseOfWhatIsNotThereAnyMoreIsDone() {
    // Given
    LeaseId lease = left.lease();
    left.take();
    // When
    CallId call = bench.call();
    bench.on(new ClientEvent.Release(call, lease, "gone", 0));
    // Then
    assertThat(bench.answer(call))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.ALREADY_RELEASED, 0));
  }

  @Test
  void wishToGiveWayThatNobodyWasToldIsReadAgain() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a"));
    left.take();
    // When
    bench.attach(lease);
    StoreEffect.ReadDetails read = bench.all(StoreEffect.ReadDetails.class).get(0);
    EntryDetails asked =
        new EntryDetails(
            lease.toString(),
            "held",
            "",
            "tester",
            Map.of(),
            false,
            false,
            Optional.empty(),
            Optional.of(new RevocationRequest("1", "ops", "please", Optional.empty(), false)));
    bench.on(
        new StoreEvent.DetailsRead(
            read.lock(),
            read.entry(),
            Optional.of(new StoreEvent.ReadEntry(asked, 1, 0, Optional.empty()))));
    // Then
    assertThat(bench.told("held", Notice.ReleaseRequested.class)).hasSize(1);
  }
}
