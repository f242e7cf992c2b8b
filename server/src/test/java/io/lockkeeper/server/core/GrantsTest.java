package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class GrantsTest {

  private static final LockName A = new LockName("a");

  private final Bench bench = Bench.ready();

  @Test
  void grantNeedsTheAnswerAndTheMirrorInWhicheverOrderTheyCome() {
    // Given
    Asked answerFirst = bench.acquire("a");
    Asked mirrorFirst = bench.acquire("b");
    StoreEvent.CreatedEntry a = bench.entryOf(answerFirst);
    StoreEvent.CreatedEntry b = bench.entryOf(mirrorFirst);
    // When
    bench.answerCreated(answerFirst, a);
    bench.appear(b);
    assertThat(bench.all(Effect.Tell.class)).isEmpty();
    bench.appear(a);
    bench.answerCreated(mirrorFirst, b);
    // Then
    assertThat(bench.told(answerFirst)).hasSize(1).first().isInstanceOf(Notice.Granted.class);
    assertThat(bench.told(mirrorFirst)).hasSize(1).first().isInstanceOf(Notice.Granted.class);
  }

  @Test
  void grantsComeInTheOrderOfTheQueueAndTheirTokensRise() {
    // Given
    List<Asked> all = List.of(bench.acquire("a"), bench.acquire("a"), bench.acquire("a"));
    all.forEach(bench::create);
    long last = 0;
    for (Asked asked : all) {
      // Then
      List<Notice.Granted> granted = bench.told(asked, Notice.Granted.class);
      assertThat(granted).hasSize(1);
      long token = granted.get(0).grants().get(0).token().value();
      assertThat(token).isGreaterThan(last);
      last = token;
      // When
      bench.release(asked);
      bench.deleted(asked);
    }
    bench.assertNothingIsLeft();
  }

  @Test
  void nextIsGrantedWhenTheHolderReleasesAndTheReleaseIsAnsweredWhenTheEntryIsGone() {
    // Given
    Asked holder = bench.acquire("a");
    bench.create(holder);
    Asked next = bench.acquire("a");
    bench.create(next);
    // When
    CallId call = bench.release(holder);
    // Then
    assertThat(bench.wasGranted(next)).isTrue();
    assertThat(bench.told(next, Notice.Granted.class).get(0).grants().get(0).previous())
        .contains(HoldEnd.RELEASED);
    assertThat(bench.answers(call)).isEmpty();
    assertThat(bench.told(holder, Notice.Released.class)).isEmpty();
  }

  @Test
  void withoutHandOffAheadTheNextIsGrantedWhenTheEntryIsGone() {
    // Given
    CoreSettings defaults = CoreSettings.defaults();
    Bench careful =
        Bench.ready(
            new CoreSettings(
                defaults.tick(),
                10,
                10,
                512 << 10,
                8,
                8L << 20,
                64L << 20,
                1_000_000,
                64L << 20,
                defaults.linger(),
                false,
                java.time.Duration.ofSeconds(6)));
    Asked holder = careful.acquire("a");
    careful.create(holder);
    Asked next = careful.acquire("a");
    careful.create(next);
    // When
    careful.release(holder);
    assertThat(careful.wasGranted(next)).isFalse();
    careful.deleted(holder);
    // Then
    assertThat(careful.wasGranted(next)).isTrue();
  }

  @Test
  void handOffAheadWaitsForTheMirror() {
    // Given
    Asked holder = bench.acquire("a");
    StoreEvent.CreatedEntry holders = bench.create(holder);
    Asked next = bench.acquire("a");
    StoreEvent.CreatedEntry nexts = bench.create(next);
    bench.on(new StoreEvent.MirrorStale());
    // When
    bench.release(holder);
    assertThat(bench.wasGranted(next)).isFalse();
    rebuild(List.of(holders, nexts));
    // Then: the entry that is still there belongs to one who has released
    assertThat(bench.wasGranted(next)).isTrue();
  }

  @Test
  void staleMirrorGrantsNothingUntilItIsRebuilt() {
    // Given
    bench.on(new StoreEvent.MirrorStale());
    Asked asked = bench.acquire("a");
    StoreEvent.CreatedEntry entry = bench.create(asked);
    EntryName unseen = EntryName.parse("lock-0000000000").orElseThrow();
    assertThat(bench.told(asked)).isEmpty();
    // When: the listing finds somebody ahead
    StoreEvent.CreatedEntry behind =
        new StoreEvent.CreatedEntry(
            A,
            EntryName.parse(entry.name().text().replaceAll("[0-9]{10}$", "0000000001"))
                .orElseThrow(),
            entry.czxid(),
            0);
    bench.vanish(entry);
    bench.on(new StoreEvent.RebuildStarted(Set.of(A)));
    bench.on(
        new StoreEvent.QueueListed(
            A,
            List.of(
                new StoreEvent.ListedEntry(unseen, Optional.empty(), 0),
                new StoreEvent.ListedEntry(behind.name(), Optional.empty(), 0)),
            List.of()));
    bench.on(new StoreEvent.MirrorCurrent());
    // Then
    assertThat(bench.wasGranted(asked)).isFalse();
  }

  @Test
  void waiterWhoseEntryWasListedBeforeItsCreationWasAnsweredIsToldItsPlace() {
    // Given
    StoreEvent.CreatedEntry holders = bench.create(bench.acquire("a"));
    Bench.Asked waiter = bench.acquire("a");
    StoreEvent.CreatedEntry entry = bench.entryOf(waiter);
    rebuild(List.of(holders, entry));
    // When
    bench.answerCreated(waiter, entry);
    // Then
    assertThat(bench.told(waiter)).hasSize(1).first().isInstanceOf(Notice.Queued.class);
  }

  @Test
  void rebuildGrantsWhatBecameFreeMeanwhile() {
    // Given
    EntryName foreign = EntryName.parse("lock-0000000000").orElseThrow();
    bench.on(new StoreEvent.EntryAppeared(A, foreign, bench.zxid()));
    Asked waiting = bench.acquire("a");
    bench.entryOf(waiting);
    StoreEvent.CreatedEntry entry = bench.create(waiting);
    assertThat(bench.told(waiting)).hasSize(1).first().isInstanceOf(Notice.Queued.class);
    bench.on(new StoreEvent.MirrorStale());
    // When
    rebuild(List.of(entry));
    // Then
    assertThat(bench.wasGranted(waiting)).isTrue();
    assertThat(bench.all(Effect.PublishGap.class)).hasSize(2);
  }

  @Test
  void holderWhoseEntryIsMissingFromARebuildIsLostOnlyAfterABarrier() {
    // Given: the listing may be older than the entry
    Asked young = bench.acquire("a");
    bench.create(young);
    Asked removed = bench.acquire("b");
    bench.create(removed);
    StoreEvent.CreatedEntry ofYoung = seen(young);
    bench.on(new StoreEvent.MirrorStale());
    rebuild(List.of());
    StoreEffect.Barrier barrier = bench.last(StoreEffect.Barrier.class).get(0);
    // When: before the barrier the mirror sees one of them
    bench.appear(ofYoung);
    bench.on(new StoreEvent.BarrierPassed(barrier.barrier()));
    // Then
    assertThat(bench.told(young, Notice.Lost.class)).isEmpty();
    assertThat(bench.told(removed, Notice.Lost.class))
        .containsExactly(new Notice.Lost(Notice.LossReason.REMOVED, ""));
  }

  private StoreEvent.CreatedEntry seen(Asked asked) {
    Contender holder = bench.kernel.lock(asked.lock(), 0, bench.now).holders().get(0);
    return new StoreEvent.CreatedEntry(
        asked.lock(), EntryName.parse(holder.entry()).orElseThrow(), bench.zxid(), 0);
  }

  @Test
  void entriesThatAreGoneWhenTheirSessionMayHaveEndedWentWithIt() {
    // Given
    Asked holder = bench.acquire("a");
    StoreEvent.CreatedEntry entry = bench.create(holder);
    Asked waiting = bench.acquire("a");
    StoreEvent.CreatedEntry waiters = bench.create(waiting);
    // When: after a pause the mirror is heard first
    bench.now += Bench.TIMEOUT.toNanos();
    bench.vanish(entry);
    bench.vanish(waiters);
    // Then
    assertThat(bench.told(holder, Notice.Lost.class))
        .containsExactly(new Notice.Lost(Notice.LossReason.SESSION_LOST, ""));
    assertThat(bench.told(waiting, Notice.NotAcquired.class))
        .extracting(Notice.NotAcquired::reason)
        .containsExactly(Notice.RefusalReason.SESSION_LOST);
  }

  @Test
  void holderWhoseEntryIsRemovedByAStrangerIsToldSo() {
    Asked holder = bench.acquire("a");
    StoreEvent.CreatedEntry entry = bench.create(holder);
    Asked waiting = bench.acquire("a");
    StoreEvent.CreatedEntry waiters = bench.create(waiting);
    Asked third = bench.acquire("a");
    bench.create(third);
    bench.vanish(waiters);
    bench.vanish(entry);
    assertThat(bench.told(holder, Notice.Lost.class))
        .containsExactly(new Notice.Lost(Notice.LossReason.REMOVED, ""));
    assertThat(bench.told(waiting, Notice.NotAcquired.class))
        .extracting(Notice.NotAcquired::reason)
        .containsExactly(Notice.RefusalReason.REMOVED);
    assertThat(bench.wasGranted(third)).isTrue();
  }

  @Test
  void entryThatIsCreatedTooLateIsAnsweredWithItsDeletion() {
    // Given
    Asked holder = bench.acquire("b");
    bench.create(holder);
    Asked late = bench.acquire("a", Optional.of(Duration.ofSeconds(1)));
    StoreEvent.CreatedEntry entry = bench.entryOf(late);
    bench.pass(Duration.ofSeconds(1));
    // When: mirror and answer come after all
    bench.appear(entry);
    bench.answerCreated(late, entry);
    // Then
    assertThat(bench.wasGranted(late)).isFalse();
    assertThat(bench.all(StoreEffect.DeleteEntries.class))
        .containsExactly(
            new StoreEffect.DeleteEntries(Bench.S1, late.id(), List.of(Bench.ref(entry))));
    bench.deleted(late);
    assertThat(bench.counts().acquisitions()).isEqualTo(1);
  }

  @Test
  void tokenIsInTheGrantAndNowhereBefore() {
    // Given: the waiter's entry exists, and so its token could be known
    Asked holder = bench.acquire("a");
    bench.create(holder);
    Asked waiting = bench.acquire("a");
    bench.create(waiting);
    // When
    LockView view = bench.kernel.lock(A, 10, bench.now);
    // Then
    assertThat(view.holders()).extracting(Contender::token).allMatch(Optional::isPresent);
    assertThat(view.queue()).hasSize(1).extracting(Contender::token).containsOnly(Optional.empty());
    assertThat(bench.all(Effect.Publish.class))
        .filteredOn(p -> p.change().cause() == LockChange.Cause.QUEUED)
        .hasSize(1)
        .allMatch(p -> p.change().contender().orElseThrow().token().isEmpty());
    assertThat(bench.told(waiting, Notice.Queued.class).get(0).places().get(0).holders())
        .hasSize(1);
  }

  @Test
  void noticesOfAnAcquisitionAreNumberedFromOneWithoutGaps() {
    // Given
    Asked holder = bench.acquire("a");
    bench.create(holder);
    Asked asked = bench.acquire("a");
    bench.create(asked);
    // When: queued, granted, jeopardy, safe, released
    bench.release(holder);
    bench.on(new SessionEvent.SessionSuspended(Bench.S1));
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    bench.release(asked);
    bench.deleted(asked);
    // Then
    assertThat(bench.tells(asked.requestId()).map(Effect.Tell::sequence))
        .containsExactlyElementsOf(LongStream.rangeClosed(1, 5).boxed().toList());
  }

  @Test
  void watchersSeeTheLifeOfALock() {
    // Given
    Asked holder = bench.acquire("a");
    bench.create(holder);
    Asked next = bench.acquire("a");
    bench.create(next);
    // When
    bench.release(holder);
    bench.deleted(holder);
    bench.release(next);
    bench.deleted(next);
    // Then
    assertThat(bench.all(Effect.Publish.class))
        .extracting(p -> p.change().cause())
        .containsExactly(
            LockChange.Cause.GRANTED,
            LockChange.Cause.QUEUED,
            LockChange.Cause.RELEASED,
            LockChange.Cause.GRANTED,
            LockChange.Cause.RELEASED);
  }

  private void rebuild(List<StoreEvent.CreatedEntry> entries) {
    bench.on(new StoreEvent.RebuildStarted(Set.of(A)));
    bench.on(
        new StoreEvent.QueueListed(
            A,
            entries.stream()
                .map(e -> new StoreEvent.ListedEntry(e.name(), Optional.empty(), 0))
                .toList(),
            List.of()));
    bench.on(new StoreEvent.MirrorCurrent());
  }

  @Test
  void waiterOnItsWayOutIsGrantedNothingAndHidesNotHowTheHolderEnded() {
    // Given: a holder, a waiter that has given up and is not deleted yet, and a waiter
    Asked holder = bench.acquire("a");
    bench.create(holder);
    Asked leaving = bench.acquire("a", Optional.of(Duration.ofSeconds(1)));
    bench.create(leaving);
    Asked next = bench.acquire("a");
    bench.create(next);
    bench.pass(Duration.ofSeconds(2));
    // When
    bench.on(new ClientEvent.StreamClosed(holder.stream(), false));
    bench.deleted(holder);
    bench.deleted(leaving);
    // Then
    assertThat(bench.told(next, Notice.Granted.class))
        .extracting(granted -> granted.grants().get(0).previous())
        .containsExactly(Optional.of(HoldEnd.LEASE_ENDED));
    assertThat(bench.all(Effect.Publish.class))
        .filteredOn(p -> p.change().cause() == LockChange.Cause.GRANTED)
        .hasSize(2);
  }

  @Test
  void changesAreDescribedOnlyWhenSomebodyWantsToHearThem() {
    // Given
    Bench bench = Bench.unwatched();
    bench.alone(Wish.named("r1").lock("a", MutexKind.EXCLUSIVE));
    List<Effect.Publish> untold = bench.all(Effect.Publish.class);
    // When
    bench.watch(Set.of(new LockName("b")), "");
    bench.alone(Wish.named("r2").lock("b", MutexKind.EXCLUSIVE));
    // Then
    assertThat(untold).extracting(p -> p.change().isUndescribed()).containsExactly(true);
    assertThat(bench.last(Effect.Publish.class))
        .extracting(p -> p.change().cause())
        .containsExactly(LockChange.Cause.GRANTED);
  }

  private Asked alone(Wish wish) {
    return bench.askAndCreate(bench.lease(Duration.ofHours(1)), wish);
  }

  @Test
  void listingThatIsOlderThanADeletionDoesNotBringAReleasedReaderBackBesideAWriter() {
    // Given: a reader has released, its deletion was answered, and the writer behind it holds
    Asked released = alone(Wish.named("r").read("a"));
    StoreEvent.CreatedEntry readers = bench.created(released);
    Asked writer = alone(Wish.named("w").write("a"));
    StoreEvent.CreatedEntry writers = bench.created(writer);
    bench.release(released);
    bench.deleteAll(released);
    bench.on(new StoreEvent.MirrorStale());
    // When: the server that lists lags behind
    rebuild(List.of(readers, writers));
    Asked late = alone(Wish.named("late").read("a"));
    // Then
    assertThat(bench.wasGranted(writer)).isTrue();
    assertThat(bench.wasGranted(late)).isFalse();
    assertThat(bench.kernel.lock(A, 10, bench.now).holders())
        .extracting(Contender::requestId)
        .containsExactly("w");
    bench.release(writer);
    assertThat(bench.wasGranted(late)).isTrue();
  }

  @Test
  void deletionThatIsAnsweredWhileTheMirrorIsAwayIsNotUndoneByAnOlderListing() {
    // Given
    Asked released = alone(Wish.named("r").read("a"));
    StoreEvent.CreatedEntry readers = bench.created(released);
    Asked writer = alone(Wish.named("w").write("a"));
    StoreEvent.CreatedEntry writers = bench.created(writer);
    bench.release(released);
    bench.on(new StoreEvent.MirrorStale());
    bench.deleteAll(released);
    // When
    rebuild(List.of(readers, writers));
    // Then
    assertThat(bench.wasGranted(writer)).isTrue();
    assertThat(bench.kernel.lock(A, 10, bench.now).holders())
        .extracting(Contender::requestId)
        .containsExactly("w");
    // And a barrier tells that what comes from now on is newer
    bench
        .all(StoreEffect.Barrier.class)
        .forEach(barrier -> bench.on(new StoreEvent.BarrierPassed(barrier.barrier())));
    assertThat(bench.kernel.core.mirror.suppressed()).isEmpty();
  }

  @Test
  void nothingIsRememberedOfADeletionOfWhichTheWatchHasToldOrWillNotTell() {
    // Given: one whose deletion the watch told first, one whose entry somebody else removed
    Asked told = alone(Wish.named("1").exclusive("a"));
    Asked removed = alone(Wish.named("2").exclusive("b"));
    bench.release(told);
    bench.vanish(bench.created(told));
    bench.vanish(bench.created(removed));
    // When
    bench.deleteAll(told);
    bench.deleteAll(removed);
    // Then
    assertThat(bench.kernel.core.mirror.suppressed()).isEmpty();
  }

  @Test
  void nothingIsRememberedOfALevelThatWasNeverCreated() {
    // Given
    LeaseId lease = bench.lease();
    Asked base = bench.askAndCreate(lease, Wish.named("one").exclusive("a").by("t"));
    Asked level = bench.ask(lease, Wish.named("two").exclusive("a").by("t"));
    bench.vanish(bench.created(base));
    bench.on(new StoreEvent.EntriesRefused(level.id(), "the entry is gone"));
    // When
    boolean asked =
        bench.all(StoreEffect.DeleteEntries.class).stream()
            .anyMatch(d -> d.id().equals(level.id()));
    if (asked) {
      bench.deleted(level);
    }
    // Then
    assertThat(bench.kernel.core.acquisitions).doesNotContainKey(level.id());
    assertThat(bench.kernel.core.mirror.suppressed()).isEmpty();
  }
}
