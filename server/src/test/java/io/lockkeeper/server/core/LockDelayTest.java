package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.RevocationRequest;
import io.lockkeeper.server.core.queue.Mirror;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** After a holder was lost rather than released, the next grant waits. */
class LockDelayTest {

  private static final LockName A = new LockName("a");
  private static final Duration DELAY = Duration.ofSeconds(30);
  private final Bench bench = Bench.ready();

  private Asked holder() {
    return bench.alone(Wish.named("h").exclusive("a").delaying(DELAY));
  }

  /** Asks without a lease: the stream is the lease. */
  private Asked onItsStream() {
    AcquireCommand command =
        Wish.named("h").exclusive("a").delaying(DELAY).command(Optional.empty());
    Asked asked = bench.acquire(new LeaseId(77, 7), command, new StreamId(77));
    bench.createAll(asked);
    return asked;
  }

  private Asked waiter() {
    return bench.askAndCreate(bench.lease(Duration.ofHours(1)), Wish.named("w").exclusive("a"));
  }

  private void guardVanishes(UUID id) {
    bench.on(
        new StoreEvent.MarkerVanished(
            A, MarkerName.Guard.of(id, (int) DELAY.toMillis(), AccountTag.NOBODY), bench.zxid()));
  }

  private Optional<Long> delayedFor() {
    return bench.kernel.lock(A, 0, bench.now).delayedForNanos();
  }

  @Test
  void entryIsCreatedTogetherWithItsGuard() {
    Asked asked = bench.ask(bench.lease(), Wish.named("h").exclusive("a").delaying(DELAY));
    assertThat(bench.planned(asked).lockDelayMillis()).isEqualTo(30_000);
  }

  @Test
  void holderThatReleasesTakesItsGuardAlongAndTheNextIsGrantedAtOnce() {
    // Given
    Asked holder = holder();
    Asked waiter = waiter();
    // When
    bench.release(holder);
    bench.deleteAll(holder);
    // Then
    EntryRef ref = bench.all(StoreEffect.DeleteEntries.class).get(0).entries().get(0);
    assertThat(ref.guard()).contains("delay-30000-" + AccountTag.NOBODY + "-" + holder.id());
    assertThat(bench.wasGranted(waiter)).isTrue();
    assertThat(delayedFor()).isEmpty();
  }

  @Test
  void holderThatIsLostLeavesItsGuardAndTheNextWaitsUntilItIsGone() {
    // Given
    Asked holder = holder();
    Asked waiter = waiter();
    // When: the lease runs out
    bench.pass(Bench.TTL.plusMillis(1));
    bench.deleteAll(holder);
    // Then
    EntryRef ref = bench.all(StoreEffect.DeleteEntries.class).get(0).entries().get(0);
    assertThat(ref.guard()).isEmpty();
    assertThat(bench.wasGranted(waiter)).isFalse();
    assertThat(delayedFor()).contains(DELAY.toNanos());
    // And when the delay is over
    bench.pass(DELAY.minusSeconds(1));
    assertThat(bench.all(StoreEffect.RemoveGuard.class)).isEmpty();
    bench.pass(Duration.ofSeconds(1));
    assertThat(bench.all(StoreEffect.RemoveGuard.class)).hasSize(1);
    assertThat(bench.wasGranted(waiter)).isFalse();
    guardVanishes(holder.id());
    // Then
    assertThat(bench.wasGranted(waiter)).isTrue();
    assertThat(bench.granted(waiter).grants().get(0).previous()).contains(HoldEnd.LEASE_ENDED);
  }

  @Test
  void clientThatCancelsItsCallGivesTheLockUpAndDelaysNobody() {
    // Given
    Asked holder = onItsStream();
    Asked waiter = waiter();
    // When
    bench.on(new ClientEvent.StreamClosed(holder.stream(), true));
    bench.deleteAll(holder);
    // Then
    EntryRef ref = bench.all(StoreEffect.DeleteEntries.class).get(0).entries().get(0);
    assertThat(ref.guard()).contains("delay-30000-" + AccountTag.NOBODY + "-" + holder.id());
    assertThat(bench.granted(waiter).grants().get(0).previous()).contains(HoldEnd.CANCELLED);
    assertThat(delayedFor()).isEmpty();
  }

  @Test
  void lockThatWasTakenAwayBeforeTheCallWasCancelledCountsAsTakenAway() {
    // Given
    Asked holder = onItsStream();
    Asked waiter = waiter();
    RevocationRequest force = new RevocationRequest("f", "ops", "", Optional.empty(), true);
    bench.on(new ClientEvent.ForceRelease(bench.call(), A, 0, force));
    // When
    bench.on(new ClientEvent.StreamClosed(holder.stream(), true));
    bench.deleteAll(holder);
    // Then
    assertThat(delayedFor()).contains(DELAY.toNanos());
    guardVanishes(holder.id());
    assertThat(bench.granted(waiter).grants().get(0).previous()).contains(HoldEnd.FORCED);
  }

  @Test
  void lockThatWasReleasedBeforeTheCallWasCancelledCountsAsReleased() {
    // Given: nobody is granted ahead of the commit
    Bench careful =
        Bench.ready(
            new CoreSettings(
                Duration.ofSeconds(2),
                100,
                100,
                512 << 10,
                4,
                8L << 20,
                64L << 20,
                1_000_000,
                64L << 20,
                Duration.ofSeconds(5),
                false,
                Duration.ofSeconds(6)));
    AcquireCommand command = Wish.named("h").exclusive("a").command(Optional.empty());
    Asked holder = careful.acquire(new LeaseId(77, 7), command, new StreamId(77));
    careful.createAll(holder);
    Asked waiter = careful.alone(Wish.named("w").exclusive("a"));
    careful.release(holder);
    // When
    careful.on(new ClientEvent.StreamClosed(holder.stream(), true));
    careful.deleteAll(holder);
    // Then
    assertThat(careful.granted(waiter).grants().get(0).previous()).contains(HoldEnd.RELEASED);
  }

  @Test
  void connectionThatBreaksIsNoRelease() {
    // Given
    Asked holder = onItsStream();
    Asked waiter = waiter();
    // When
    bench.on(new ClientEvent.StreamClosed(holder.stream(), false));
    bench.deleteAll(holder);
    // Then
    assertThat(bench.wasGranted(waiter)).isFalse();
    assertThat(delayedFor()).contains(DELAY.toNanos());
  }

  @Test
  void guardThatDoesNotGoIsTakenAwayAgain() {
    Asked holder = holder();
    bench.pass(Bench.TTL.plusMillis(1));
    bench.deleteAll(holder);
    bench.pass(DELAY.plusSeconds(5));
    assertThat(bench.all(StoreEffect.RemoveGuard.class)).hasSizeGreaterThan(2);
  }

  @Test
  void holderOfAnotherCoordinatorThatIsLostDelaysTheNextGrantHere() {
    // Given
    UUID id = new UUID(0x99, 1);
    StoreEvent.CreatedEntry entry = bench.foreign("a", id, MutexKind.EXCLUSIVE);
    MarkerName guard = MarkerName.Guard.of(id, (int) DELAY.toMillis(), AccountTag.NOBODY);
    bench.on(new StoreEvent.MarkerAppeared(A, guard, entry.czxid()));
    Asked waiter = waiter();
    // When: its coordinator's session has ended, and took the entry alone
    bench.vanish(entry);
    // Then
    assertThat(bench.wasGranted(waiter)).isFalse();
    bench.pass(DELAY);
    guardVanishes(id);
    assertThat(bench.granted(waiter).grants().get(0).previous()).contains(HoldEnd.LOST);
  }

  @Test
  void holderOfAnotherCoordinatorThatReleasesIsKnownToHaveReleased() {
    // Given
    UUID id = new UUID(0x99, 1);
    StoreEvent.CreatedEntry entry = bench.foreign("a", id, MutexKind.EXCLUSIVE);
    MarkerName guard = MarkerName.Guard.of(id, (int) DELAY.toMillis(), AccountTag.NOBODY);
    bench.on(new StoreEvent.MarkerAppeared(A, guard, entry.czxid()));
    Asked waiter = waiter();
    // When: one transaction deletes the guard and then the entry
    guardVanishes(id);
    bench.vanish(entry);
    // Then
    assertThat(bench.granted(waiter).grants().get(0).previous()).contains(HoldEnd.RELEASED);
  }

  @Test
  void coordinatorThatStartsLaterWaitsTheWholeDelay() {
    // Given: a directory with a guard and no entry
    UUID id = new UUID(0x99, 1);
    bench.on(new StoreEvent.MirrorStale());
    bench.on(new StoreEvent.RebuildStarted(Set.of(A)));
    bench.on(
        new StoreEvent.QueueListed(
            A,
            List.of(),
            List.of(MarkerName.Guard.of(id, (int) DELAY.toMillis(), AccountTag.NOBODY))));
    bench.on(new StoreEvent.MirrorCurrent());
    // When
    Asked waiter = waiter();
    // Then
    assertThat(bench.wasGranted(waiter)).isFalse();
    assertThat(delayedFor()).contains(DELAY.toNanos());
    bench.pass(DELAY);
    guardVanishes(id);
    assertThat(bench.wasGranted(waiter)).isTrue();
  }

  @Test
  void lockDoesNotOpenBetweenOneDelayAndTheNextThatARebuildShows() {
    // Given: a delay is under way, and somebody waits
    Asked holder = holder();
    Asked waiter = waiter();
    bench.pass(Bench.TTL.plusMillis(1));
    bench.deleteAll(holder);
    StoreEvent.CreatedEntry waiting = bench.created(waiter);
    // When: out of touch, that delay ends, another holder comes and is lost
    UUID next = new UUID(0x99, 1);
    bench.on(new StoreEvent.MirrorStale());
    bench.on(new StoreEvent.RebuildStarted(Set.of(A)));
    bench.on(
        new StoreEvent.QueueListed(
            A,
            List.of(new StoreEvent.ListedEntry(waiting.name(), Optional.empty(), 0)),
            List.of(MarkerName.Guard.of(next, (int) DELAY.toMillis(), AccountTag.NOBODY))));
    bench.on(new StoreEvent.MirrorCurrent());
    // Then
    assertThat(bench.wasGranted(waiter)).isFalse();
    assertThat(delayedFor()).contains(DELAY.toNanos());
  }

  @Test
  void waiterElsewhereThatGoesWithItsSessionDelaysNobody() {
    // Given: we hold; a waiter of another coordinator has a guard
    Asked holder =
        bench.askAndCreate(bench.lease(Duration.ofHours(1)), Wish.named("h").exclusive("a"));
    UUID id = new UUID(0x99, 1);
    StoreEvent.CreatedEntry entry = bench.foreign("a", id, MutexKind.EXCLUSIVE);
    MarkerName guard = MarkerName.Guard.of(id, (int) DELAY.toMillis(), AccountTag.NOBODY);
    bench.on(new StoreEvent.MarkerAppeared(A, guard, entry.czxid()));
    Asked next = waiter();
    // When: the waiter's session ends
    bench.vanish(entry);
    bench.release(holder);
    // Then
    assertThat(bench.wasGranted(next)).isTrue();
    bench.pass(Duration.ofSeconds(2));
    assertThat(bench.all(StoreEffect.RemoveGuard.class)).hasSize(1);
  }

  @Test
  void guardsOfOneRequestAreClearedAwayLockByLock() {
    // Given: a request elsewhere waits for a and b, each with a guard of the same uuid
    LockName other = new LockName("b");
    bench.askAndCreate(bench.lease(Duration.ofHours(1)), Wish.named("h").exclusive("a", "b"));
    UUID id = new UUID(0x99, 1);
    StoreEvent.CreatedEntry entry = bench.foreign("a", id, MutexKind.EXCLUSIVE);
    bench.foreign("b", id, MutexKind.EXCLUSIVE);
    MarkerName guard = MarkerName.Guard.of(id, (int) DELAY.toMillis(), AccountTag.NOBODY);
    bench.on(new StoreEvent.MarkerAppeared(A, guard, entry.czxid()));
    bench.on(new StoreEvent.MarkerAppeared(other, guard, entry.czxid()));
    // When: one entry is seen to go, the other goes unseen
    bench.vanish(entry);
    bench.on(new StoreEvent.MirrorStale());
    bench.on(new StoreEvent.RebuildStarted(Set.of(A, other)));
    bench.on(new StoreEvent.QueueListed(A, List.of(), List.of(guard)));
    bench.on(new StoreEvent.QueueListed(other, List.of(), List.of(guard)));
    bench.on(new StoreEvent.MirrorCurrent());
    bench.pass(DELAY.plusSeconds(1));
    // Then
    assertThat(bench.all(StoreEffect.RemoveGuard.class))
        .extracting(StoreEffect.RemoveGuard::lock)
        .contains(A, other);
  }

  @Test
  void readersWhoHoldGoOnWhileTheLockIsClosedToNewOnes() {
    // Given
    Asked lost = bench.alone(Wish.named("h").read("a").delaying(DELAY));
    Asked holds = bench.askAndCreate(bench.lease(Duration.ofHours(1)), Wish.named("r").read("a"));
    // When
    bench.pass(Bench.TTL.plusMillis(1));
    bench.deleteAll(lost);
    Asked late = bench.alone(Wish.named("late").read("a"));
    // Then
    assertThat(bench.told(holds, Notice.Lost.class)).isEmpty();
    assertThat(bench.kernel.lock(A, 0, bench.now).holders())
        .extracting(Contender::requestId)
        .containsExactly("r");
    assertThat(bench.wasGranted(late)).isFalse();
  }

  @Test
  void waiterThatLeavesTakesItsGuardAlong() {
    // Given
    bench.alone(Wish.named("other").exclusive("a"));
    Asked waiter = bench.alone(Wish.named("w").exclusive("a").delaying(DELAY));
    // When
    bench.release(waiter);
    // Then
    EntryRef ref = bench.last(StoreEffect.DeleteEntries.class).get(0).entries().get(0);
    assertThat(ref.guard()).isPresent();
  }

  @Test
  void waiterWithALockDelayIsNotGrantedAheadOfTheCommit() {
    // Given
    LeaseId lease = bench.lease(Duration.ofHours(1));
    Asked holder = bench.askAndCreate(lease, Wish.named("h").exclusive("a"));
    Asked next = bench.alone(Wish.named("next").exclusive("a").delaying(DELAY));
    // When
    bench.release(holder);
    boolean ahead = bench.wasGranted(next);
    bench.deleteAll(holder);
    // Then: if it is lost from now on, everybody knows that it held
    assertThat(ahead).isFalse();
    assertThat(bench.wasGranted(next)).isTrue();
  }

  @Test
  void whoeverIsBehindAWaiterWithALockDelayWaitsForTheCommitToo() {
    // Given
    LeaseId lease = bench.lease(Duration.ofHours(1));
    Asked holder = bench.askAndCreate(lease, Wish.named("h").write("a"));
    Asked next = bench.alone(Wish.named("next").read("a").delaying(DELAY));
    Asked behind = bench.alone(Wish.named("behind").read("a"));
    // When
    bench.release(holder);
    boolean ahead = bench.wasGranted(behind);
    bench.vanish(bench.created(holder));
    // Then
    assertThat(ahead).isFalse();
    assertThat(List.of(next, behind)).allMatch(bench::wasGranted);
  }

  @Test
  void waiterElsewhereThatBecameTheHolderAndIsLostDelaysTheNextGrantHere() {
    // Given: both of another coordinator, the second with a guard
    StoreEvent.CreatedEntry holder = bench.foreign("a", new UUID(0x98, 1), MutexKind.EXCLUSIVE);
    UUID id = new UUID(0x99, 1);
    StoreEvent.CreatedEntry next = bench.foreign("a", id, MutexKind.EXCLUSIVE);
    MarkerName guard = MarkerName.Guard.of(id, (int) DELAY.toMillis(), AccountTag.NOBODY);
    bench.on(new StoreEvent.MarkerAppeared(A, guard, next.czxid()));
    Asked waiter = waiter();
    bench.vanish(holder);
    // When
    bench.vanish(next);
    // Then
    assertThat(bench.wasGranted(waiter)).isFalse();
    assertThat(delayedFor()).contains(DELAY.toNanos());
  }

  /** A waiter elsewhere with a guard has gone with its session, and its guard is cleared away. */
  private MarkerName.Guard clearing(UUID id) {
    bench.askAndCreate(bench.lease(Duration.ofHours(1)), Wish.named("h").exclusive("a"));
    StoreEvent.CreatedEntry entry = bench.foreign("a", id, MutexKind.EXCLUSIVE);
    MarkerName.Guard guard = MarkerName.Guard.of(id, (int) DELAY.toMillis(), AccountTag.NOBODY);
    bench.on(new StoreEvent.MarkerAppeared(A, guard, entry.czxid()));
    bench.vanish(entry);
    return guard;
  }

  @Test
  void guardThatIsClearedAwayIsClearedUntilItIsGone() {
    // Given
    clearing(new UUID(0x99, 1));
    // When
    bench.pass(Duration.ofSeconds(5));
    // Then
    assertThat(bench.all(StoreEffect.RemoveGuard.class)).hasSize(2);
  }

  @Test
  void guardThatComesAfterOneWasClearedAwayIsLeftAlone() {
    // Given
    UUID id = new UUID(0x99, 1);
    MarkerName.Guard guard = clearing(id);
    guardVanishes(id);
    // When: the same name is created again
    StoreEvent.CreatedEntry again = bench.foreign("a", id, MutexKind.EXCLUSIVE);
    bench.on(new StoreEvent.MarkerAppeared(A, guard, again.czxid()));
    bench.pass(Duration.ofSeconds(10));
    // Then
    assertThat(bench.all(StoreEffect.RemoveGuard.class)).isEmpty();
  }

  @Test
  void guardIsLeftAloneWhoseEntryWasTakenAwayInDoubtAndIsCreatedAgain() {
    // Given
    UUID id = new UUID(0x99, 1);
    clearing(id);
    // When
    bench.foreign("a", id, MutexKind.EXCLUSIVE);
    bench.pass(Duration.ofSeconds(10));
    // Then
    assertThat(bench.all(StoreEffect.RemoveGuard.class)).isEmpty();
  }

  @Test
  void guardThatCameWhileTheMirrorWasAwayIsLeftAlone() {
    // Given
    UUID id = new UUID(0x99, 1);
    MarkerName.Guard guard = clearing(id);
    bench.on(new StoreEvent.MirrorStale());
    // When: the guard went unseen, and the same name was created again
    EntryName again =
        EntryName.parse(EntryName.prefix(id, MutexKind.EXCLUSIVE) + EntryName.suffix(7))
            .orElseThrow();
    bench.on(new StoreEvent.RebuildStarted(Set.of(A)));
    bench.on(
        new StoreEvent.QueueListed(
            A, List.of(new StoreEvent.ListedEntry(again, Optional.empty(), 0)), List.of(guard)));
    bench.on(new StoreEvent.MirrorCurrent());
    int removals = bench.all(StoreEffect.RemoveGuard.class).size();
    bench.pass(Duration.ofSeconds(10));
    // Then
    assertThat(bench.all(StoreEffect.RemoveGuard.class)).hasSize(removals);
  }

  @Test
  void clearingEndsWithTheGuardThatWentWhileTheMirrorWasAway() {
    // Given
    clearing(new UUID(0x99, 1));
    bench.on(new StoreEvent.MirrorStale());
    // When
    bench.on(new StoreEvent.RebuildStarted(Set.of(A)));
    bench.on(new StoreEvent.QueueListed(A, List.of(), List.of()));
    bench.on(new StoreEvent.MirrorCurrent());
    int removals = bench.all(StoreEffect.RemoveGuard.class).size();
    bench.pass(Duration.ofSeconds(10));
    // Then
    assertThat(bench.all(StoreEffect.RemoveGuard.class)).hasSize(removals);
  }

  @Test
  void answerToADeletionThatOvertakesTheEventsOfTheCreationBeginsNoDelay() {
    // Given: an entry with a guard is created and withdrawn before the mirror has heard of it
    Asked gone = bench.ask(bench.lease(), Wish.named("h").exclusive("a").delaying(DELAY));
    StoreEvent.CreatedEntry entry = bench.entryOf(gone);
    bench.answerCreated(gone, entry);
    bench.release(gone);
    bench.deleteAll(gone);
    Asked attempt =
        bench.ask(bench.lease(), Wish.named("try").exclusive("a").waiting(Duration.ZERO));
    // When: its events come now, and those of somebody who only tries
    bench.appear(entry);
    MarkerName guard = MarkerName.Guard.of(gone.id(), (int) DELAY.toMillis(), AccountTag.NOBODY);
    bench.on(new StoreEvent.MarkerAppeared(A, guard, entry.czxid()));
    bench.createAll(attempt);
    // Then
    assertThat(bench.told(attempt)).hasSize(1).first().isInstanceOf(Notice.Granted.class);
    guardVanishes(gone.id());
    bench.vanish(entry);
    assertThat(bench.all(StoreEffect.RemoveGuard.class)).isEmpty();
    assertThat(bench.kernel.core.mirror.suppressed()).isEmpty();
  }

  @Test
  void guardWhoseEndWasToldBeforeTheAnswerIsNotKeptOutForEver() {
    // Given
    LeaseId lease = bench.lease(Duration.ofHours(1));
    Asked holder = bench.askAndCreate(lease, Wish.named("h").exclusive("a").delaying(DELAY));
    StoreEvent.CreatedEntry entry = bench.created(holder);
    bench.release(holder);
    guardVanishes(holder.id());
    bench.deleted(holder);
    bench.vanish(entry);
    Mirror mirror = bench.kernel.core.mirror;
    assertThat(mirror.suppressed()).isNotEmpty();
    // When
    bench.pass(Duration.ofSeconds(5));
    long barrier = bench.all(StoreEffect.Barrier.class).get(0).barrier();
    bench.on(new StoreEvent.BarrierPassed(barrier));
    // Then
    assertThat(mirror.suppressed()).isEmpty();
  }

  @Test
  void delayOfAHolderRunsItsTimeThoughItsFirstEntryWasTakenAwayInDoubt() {
    // Given: it is created again behind a holder, and holds
    UUID first = new UUID(0x98, 1);
    UUID id = new UUID(0x99, 1);
    StoreEvent.CreatedEntry ahead = bench.foreign("a", first, MutexKind.EXCLUSIVE);
    StoreEvent.CreatedEntry taken = bench.foreign("a", id, MutexKind.EXCLUSIVE);
    MarkerName guard =
        MarkerName.Guard.of(id, (int) Duration.ofSeconds(30).toMillis(), AccountTag.NOBODY);
    bench.on(new StoreEvent.MarkerAppeared(A, guard, taken.czxid()));
    bench.vanish(taken);
    StoreEvent.CreatedEntry again = bench.foreign("a", id, MutexKind.EXCLUSIVE);
    bench.vanish(ahead);
    // When
    bench.vanish(again);
    bench.pass(Duration.ofSeconds(10));
    // Then
    assertThat(bench.all(StoreEffect.RemoveGuard.class)).isEmpty();
    assertThat(delayedFor()).isPresent();
  }

  private CallId force(long token, Optional<Duration> grace) {
    CallId call = bench.call();
    RevocationRequest force = new RevocationRequest("f", "ops", "", grace, true);
    bench.on(new ClientEvent.ForceRelease(call, A, token, force));
    return call;
  }

  @Test
  void forcedReleaseEndsADelayThatRunsAndIsAnsweredWhenTheGuardIsGone() {
    // Given
    Asked holder = holder();
    Asked waiter = waiter();
    bench.pass(Bench.TTL.plusMillis(1));
    bench.deleteAll(holder);
    // When
    CallId call = force(0, Optional.of(Duration.ofSeconds(20)));
    // Then
    assertThat(bench.all(StoreEffect.RemoveGuard.class)).hasSize(1);
    assertThat(delayedFor()).contains(0L);
    assertThat(bench.answers(call)).isEmpty();
    guardVanishes(holder.id());
    assertThat(bench.answer(call)).isEqualTo(new Answer.Forced(0, 0, 1));
    assertThat(bench.wasGranted(waiter)).isTrue();
    assertThat(bench.failure(force(7, Optional.empty()))).isEqualTo(Failure.Reason.NO_HOLDER);
  }

  @Test
  void forcedReleaseByATokenEndsNoDelay() {
    // Given
    Asked holder = holder();
    bench.pass(Bench.TTL.plusMillis(1));
    bench.deleteAll(holder);
    // When
    CallId call = force(7, Optional.empty());
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.NO_HOLDER);
    assertThat(delayedFor()).contains(DELAY.toNanos());
  }

  @Test
  void delayOfAHolderThatWasForcedToReleaseIsEndedByTheSecondRequestOnly() {
    // Given
    Asked holder = holder();
    CallId first = force(0, Optional.empty());
    bench.deleteAll(holder);
    assertThat(bench.answer(first)).isEqualTo(new Answer.Forced(1, 0, 0));
    assertThat(delayedFor()).contains(DELAY.toNanos());
    // When
    CallId second = force(0, Optional.empty());
    guardVanishes(holder.id());
    // Then
    assertThat(bench.answer(second)).isEqualTo(new Answer.Forced(0, 0, 1));
    assertThat(delayedFor()).isEmpty();
  }
}
