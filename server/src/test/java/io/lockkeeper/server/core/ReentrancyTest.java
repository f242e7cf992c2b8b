package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A lock that its owner takes once more. */
class ReentrancyTest {

  private final Bench bench = Bench.ready();
  private LeaseId lease;
  private Asked first;

  @BeforeEach
  void theOwnerHoldsTheLock() {
    lease = bench.lease();
    first = bench.askAndCreate(lease, Wish.named("one").exclusive("a").by("thread"));
  }

  private Asked again(String requestId) {
    return bench.ask(lease, Wish.named(requestId).exclusive("a").by("thread"));
  }

  private Answer released(Asked asked) {
    return bench.answer(bench.release(asked));
  }

  @Test
  void ownerIsGrantedAtOnceWithTheSameTokenAndNothingIsWritten() {
    // Given
    int writes = bench.all(Effect.CreateEntries.class).size();
    // When
    Asked second = again("two");
    // Then
    Notice.Grant grant = bench.granted(second).grants().get(0);
    assertThat(grant.token()).isEqualTo(bench.granted(first).grants().get(0).token());
    assertThat(grant.holdCount()).isEqualTo(2);
    assertThat(bench.all(Effect.CreateEntries.class)).hasSize(writes);
  }

  @Test
  void releasesGiveBackOneLevelEachWhateverTheirOrder() {
    // Given
    Asked second = again("two");
    Asked third = again("three");
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    // When: the one whose entry it is goes first
    Answer one = released(first);
    Answer three = released(third);
    boolean before = bench.wasGranted(waiter);
    CallId last = bench.release(second);
    // Then
    assertThat(one).isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 2));
    assertThat(three).isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 1));
    assertThat(before).isFalse();
    assertThat(bench.wasGranted(waiter)).isTrue();
    bench.deleteAll(second);
    assertThat(bench.answer(last))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.RELEASED, 0));
  }

  @Test
  void releaseOfALevelThatWasGivenBackChangesNothing() {
    // Given
    again("two");
    released(first);
    // When
    Answer again = released(first);
    // Then
    assertThat(again).isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.ALREADY_RELEASED, 0));
    assertThat(bench.all(Effect.DeleteEntries.class)).isEmpty();
  }

  @Test
  void anotherOwnerAndNoOwnerAreOtherContenders() {
    // When
    Asked other = bench.askAndCreate(lease, Wish.named("o").exclusive("a").by("another"));
    Asked nobody = bench.askAndCreate(lease, Wish.named("n").exclusive("a"));
    Asked elsewhere = bench.alone(Wish.named("e").exclusive("a").by("thread"));
    // Then
    assertThat(List.of(other, nobody, elsewhere)).noneMatch(bench::wasGranted);
  }

  @Test
  void withoutAnOwnerEveryAcquisitionIsItsOwnContender() {
    // Given
    bench.askAndCreate(lease, Wish.named("b1").exclusive("b"));
    // When
    Asked second = bench.askAndCreate(lease, Wish.named("b2").exclusive("b"));
    // Then
    assertThat(bench.wasGranted(second)).isFalse();
  }

  @Test
  void everyLevelIsLostTogether() {
    // Given
    Asked second = again("two");
    // When: the entry is removed by somebody else
    StoreEvent.CreatedEntry entry = entryOf(first);
    bench.vanish(entry);
    // Then
    for (Asked asked : List.of(first, second)) {
      assertThat(bench.told(asked, Notice.Lost.class))
          .containsExactly(new Notice.Lost(Notice.LossReason.REMOVED, ""));
    }
  }

  private StoreEvent.CreatedEntry entryOf(Asked asked) {
    Hold hold = bench.kernel.world.tickets.get(asked.id()).holds().get(0);
    return hold.entry();
  }

  @Test
  void leaseThatEndsLosesEveryLevelAndDeletesTheEntryOnce() {
    // Given
    Asked second = again("two");
    // When
    bench.pass(Bench.TTL.plusSeconds(1));
    // Then
    assertThat(List.of(first, second))
        .allMatch(asked -> bench.told(asked, Notice.Lost.class).size() == 1);
    assertThat(bench.all(Effect.DeleteEntries.class)).hasSize(1);
    // And the entry's end ends the lease
    bench.on(new StoreEvent.EntriesDeleted(bench.all(Effect.DeleteEntries.class).get(0).id()));
    bench.on(new StoreEvent.LeaseErased(lease));
    bench.assertNothingIsLeft();
  }

  @Test
  void maxHoldOfAnInnerLevelEndsThatLevelAndThoseInsideIt() {
    // Given: the outer level without a limit, a limited one in it, and one in that
    Wish limited = Wish.named("two").exclusive("a").by("thread").atMost(Duration.ofSeconds(5));
    Asked second = bench.ask(lease, limited);
    bench.pass(Duration.ofSeconds(1));
    Asked third = again("three");
    assertThat(bench.granted(third).validForNanos()).isEqualTo(Duration.ofSeconds(4).toNanos());
    // When
    bench.pass(Duration.ofSeconds(5));
    // Then
    for (Asked asked : List.of(second, third)) {
      assertThat(bench.told(asked, Notice.Lost.class).get(0).reason())
          .isEqualTo(Notice.LossReason.MAX_HOLD);
    }
    assertThat(bench.told(first, Notice.Lost.class)).isEmpty();
    assertThat(bench.all(Effect.DeleteEntries.class)).isEmpty();
  }

  @Test
  void entryOutlivesTheAcquisitionItWasCreatedForWhileAnotherIsOnItsWay() {
    // Given: a request for the lock that is held and one that is not, not created yet
    Asked both = bench.ask(lease, Wish.named("both").exclusive("a", "b").by("thread"));
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    // When
    Answer answer = released(first);
    // Then
    assertThat(answer).isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 1));
    assertThat(bench.wasGranted(waiter)).isFalse();
    bench.createAll(both);
    assertThat(bench.granted(both).grants()).hasSize(2);
    bench.release(both);
    assertThat(bench.wasGranted(waiter)).isTrue();
  }

  @Test
  void requestThatIsRefusedGivesBackTheEntryThatItAloneShares() {
    // Given
    Asked both = bench.ask(lease, Wish.named("both").exclusive("a", "b").by("thread"));
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    StoreEvent.CreatedEntry entry = entryOf(first);
    released(first);
    // When
    bench.on(new StoreEvent.EntriesRefused(both.id(), "no room"));
    // Then
    assertThat(bench.last(Effect.DeleteEntries.class).get(0).entries())
        .extracting(EntryRef::entry)
        .containsExactly(entry.name().text());
    bench.vanish(entry);
    assertThat(bench.wasGranted(waiter)).isTrue();
  }

  @Test
  void bytesOfAnEntryAreCountedAsLongAsItLives() {
    // Given
    long before = bench.counts().sessions().get(0).pathBytes();
    Asked second = again("two");
    // When
    released(first);
    long passedOn = bench.counts().sessions().get(0).pathBytes();
    bench.release(second);
    bench.deleteAll(second);
    // Then
    assertThat(passedOn).isEqualTo(before);
    assertThat(bench.counts().sessions().get(0).pathBytes()).isEqualTo(before - Bench.ENTRY_BYTES);
  }

  @Test
  void guardStaysWhenAnyLevelWasLostWhicheverLeavesLast() {
    // Given: the second level still waits for another lock when the lease ends
    LeaseId other = bench.lease();
    Wish delayed = Wish.named("one").exclusive("c").by("thread").delaying(Duration.ofSeconds(30));
    bench.askAndCreate(other, delayed);
    bench.alone(Wish.named("h").exclusive("d"));
    bench.askAndCreate(other, Wish.named("two").exclusive("c", "d").by("thread"));
    // When
    bench.pass(Bench.TTL.plusMillis(1));
    // Then
    assertThat(
            bench.all(Effect.DeleteEntries.class).stream()
                .flatMap(delete -> delete.entries().stream())
                .filter(ref -> ref.lock().value().equals("c")))
        .hasSize(1)
        .allMatch(ref -> ref.guard().isEmpty());
  }

  @Test
  void reentryDuringAnOutageOfTheMirrorIsGranted() {
    // Given
    bench.on(new StoreEvent.MirrorStale());
    // When
    Asked second = again("two");
    // Then
    assertThat(bench.wasGranted(second)).isTrue();
  }

  @Test
  void rebuildKeepsTheEntryOfAHoldWhoseFirstAcquisitionIsGone() {
    // Given
    StoreEvent.CreatedEntry entry = entryOf(first);
    Asked second = again("two");
    released(first);
    // When
    bench.on(new StoreEvent.MirrorStale());
    bench.on(new StoreEvent.RebuildStarted(java.util.Set.of(entry.lock())));
    bench.on(
        new StoreEvent.QueueListed(
            entry.lock(),
            List.of(new StoreEvent.ListedEntry(entry.name(), java.util.Optional.empty(), 0)),
            List.of()));
    bench.on(new StoreEvent.MirrorCurrent());
    // Then
    assertThat(bench.told(second, Notice.Lost.class)).isEmpty();
    assertThat(bench.kernel.lock(entry.lock(), 0, bench.now).holders().get(0).requestId())
        .isEqualTo("two");
  }

  @Test
  void severalLocksSomeOfThemHeldTakeOnlyTheOthersFromZooKeeper() {
    // When
    Asked both = bench.ask(lease, Wish.named("both").exclusive("a", "b").by("thread"));
    // Then
    assertThat(bench.planned(both).entries())
        .extracting(PlannedEntry::lock)
        .containsExactly(new LockName("b"));
    bench.createAll(both);
    assertThat(bench.granted(both).grants())
        .extracting(Notice.Grant::holdCount)
        .containsExactly(2, 1);
    // And the release of both deletes only the one
    bench.release(both);
    assertThat(bench.last(Effect.DeleteEntries.class).get(0).entries())
        .extracting(EntryRef::lock)
        .containsExactly(new LockName("b"));
  }
}
