package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.RevocationRequest;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
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

  private Asked createdAgain(String requestId) {
    Asked asked = again(requestId);
    bench.createAll(asked);
    return asked;
  }

  /** Releases, and lets ZooKeeper delete the entry. */
  private Answer released(Asked asked) {
    CallId call = bench.release(asked);
    bench.deleteAll(asked);
    return bench.answer(call);
  }

  private long pathBytes() {
    return bench.counts().sessions().get(0).pathBytes();
  }

  @Test
  void ownerIsGrantedAtOnceWithTheSameTokenBeforeItsEntryIsCreated() {
    // When
    Asked second = again("two");
    // Then
    Notice.Grant grant = bench.granted(second).grants().get(0);
    assertThat(grant.token()).isEqualTo(bench.granted(first).grants().get(0).token());
    assertThat(grant.holdCount()).isEqualTo(2);
    assertThat(bench.planned(second).entries())
        .containsExactly(
            new PlannedEntry(
                new LockName("a"),
                MutexKind.EXCLUSIVE,
                Optional.of(new PlannedEntry.Beside(bench.created(first).name(), grant.token()))));
    // And it is granted once
    bench.createAll(second);
    assertThat(bench.told(second)).hasSize(1);
  }

  @Test
  void releasesGiveBackOneLevelEachWhateverTheirOrder() {
    // Given
    Asked second = createdAgain("two");
    Asked third = createdAgain("three");
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    // When: the one beside which the others were placed goes first
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
  void releaseOfALevelIsAnsweredWhenItsOwnEntryIsGone() {
    // Given
    Asked second = createdAgain("two");
    // When
    CallId call = bench.release(second);
    // Then
    assertThat(bench.answers(call)).isEmpty();
    assertThat(bench.told(second, Notice.Released.class)).isEmpty();
    assertThat(bench.last(StoreEffect.DeleteEntries.class).get(0).entries())
        .containsExactly(Bench.ref(bench.created(second)));
    bench.deleteAll(second);
    assertThat(bench.answer(call))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 1));
    assertThat(bench.told(first, Notice.Lost.class)).isEmpty();
  }

  @Test
  void levelThatIsReleasedBeforeItsCreationIsAnsweredIsDeletedAfterwards() {
    // Given
    Asked second = again("two");
    // When
    CallId call = bench.release(second);
    // Then: the store promises no order between a creation and a deletion
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    bench.createAll(second);
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).hasSize(1);
    assertThat(bench.answers(call)).isEmpty();
    bench.deleteAll(second);
    assertThat(bench.answer(call))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 1));
  }

  @Test
  void entryIsNotDeletedWhileAnotherIsOnItsWayBesideIt() {
    // Given
    Asked second = again("two");
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    // When
    CallId call = bench.release(first);
    // Then
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    assertThat(bench.wasGranted(waiter)).isFalse();
    bench.createAll(second);
    assertThat(bench.all(StoreEffect.DeleteEntries.class))
        .extracting(StoreEffect.DeleteEntries::id)
        .containsExactly(first.id());
    bench.deleteAll(first);
    assertThat(bench.answer(call))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 1));
    assertThat(bench.wasGranted(waiter)).isFalse();
    assertThat(bench.told(second, Notice.Lost.class)).isEmpty();
  }

  @Test
  void releaseOfALevelThatWasGivenBackChangesNothing() {
    // Given
    createdAgain("two");
    released(first);
    int deletions = bench.all(StoreEffect.DeleteEntries.class).size();
    // When
    CallId again = bench.release(first);
    // Then
    assertThat(bench.answer(again))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.ALREADY_RELEASED, 0));
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).hasSize(deletions);
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
  void removalOfOneLevelsEntryLosesThatLevelAndNoOther() {
    // Given
    Asked second = createdAgain("two");
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    // When: the entry is removed by somebody else
    bench.vanish(bench.created(first));
    // Then
    assertThat(bench.told(first, Notice.Lost.class))
        .containsExactly(new Notice.Lost(Notice.LossReason.REMOVED, ""));
    assertThat(bench.told(second, Notice.Lost.class)).isEmpty();
    assertThat(bench.wasGranted(waiter)).isFalse();
  }

  @Test
  void levelIsLostWhenTheEntryIsGoneBesideWhichItWasToBePlaced() {
    // Given: one creation is refused when that is known, the other before
    Asked second = again("two");
    Asked third = again("three");
    bench.on(new StoreEvent.EntriesRefused(third.id(), "the entry is gone"));
    assertThat(bench.told(third, Notice.Lost.class)).isEmpty();
    // When
    bench.vanish(bench.created(first));
    bench.on(new StoreEvent.EntriesRefused(second.id(), "the entry is gone"));
    // Then
    for (Asked asked : List.of(second, third)) {
      assertThat(bench.told(asked, Notice.Lost.class))
          .containsExactly(new Notice.Lost(Notice.LossReason.REMOVED, ""));
    }
  }

  @Test
  void levelWhoseCreationIsRefusedIsCreatedAgainAndTheEntryBesideItStays() {
    // Given
    Asked second = again("two");
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    bench.on(new StoreEvent.EntriesRefused(second.id(), "no room"));
    CallId release = bench.release(first);
    int creations = bench.all(StoreEffect.CreateEntries.class).size();
    // When
    bench.pass(Duration.ofSeconds(1));
    // Then
    assertThat(bench.all(StoreEffect.CreateEntries.class)).hasSize(creations + 1);
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    bench.createAll(second);
    bench.deleteAll(first);
    assertThat(bench.answers(release)).hasSize(1);
    assertThat(bench.told(second)).hasSize(1).first().isInstanceOf(Notice.Granted.class);
    assertThat(bench.wasGranted(waiter)).isFalse();
  }

  @Test
  void levelThatIsReleasedWhileItsCreationIsRefusedIsReleased() {
    // Given
    Asked second = again("two");
    bench.on(new StoreEvent.EntriesRefused(second.id(), "no room"));
    // When
    CallId release = bench.release(second);
    bench.pass(Duration.ofSeconds(1));
    bench.deleteAll(second);
    // Then
    assertThat(bench.answer(release))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 1));
    assertThat(bench.kernel.core.acquisitions).doesNotContainKey(second.id());
  }

  @Test
  void forcedReleaseTakesEveryLevelAway() {
    // Given
    Asked second = createdAgain("two");
    RevocationRequest ask = new RevocationRequest("1", "ops", "", Optional.empty(), true);
    // When
    bench.on(new ClientEvent.ForceRelease(bench.call(), new LockName("a"), 0, ask));
    // Then
    for (Asked asked : List.of(first, second)) {
      assertThat(bench.told(asked, Notice.Lost.class))
          .extracting(Notice.Lost::reason)
          .containsExactly(Notice.LossReason.FORCED);
    }
  }

  @Test
  void leaseThatEndsLosesEveryLevelAndDeletesEachEntryOnce() {
    // Given
    Asked second = createdAgain("two");
    // When
    bench.pass(Bench.TTL.plusSeconds(1));
    // Then
    assertThat(List.of(first, second))
        .allMatch(asked -> bench.told(asked, Notice.Lost.class).size() == 1);
    assertThat(bench.all(StoreEffect.DeleteEntries.class))
        .extracting(StoreEffect.DeleteEntries::id)
        .containsExactlyInAnyOrder(first.id(), second.id());
    // And the entries' end ends the lease
    bench.deleteAll(first);
    bench.deleteAll(second);
    bench.erased(lease);
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
    // And the outer level keeps its entry
    bench.createAll(second);
    bench.createAll(third);
    assertThat(bench.all(StoreEffect.DeleteEntries.class))
        .extracting(StoreEffect.DeleteEntries::id)
        .containsExactly(second.id(), third.id());
  }

  @Test
  void lockStaysWithItsOwnerWhileAnotherRequestOfItIsOnItsWay() {
    // Given: a request for the lock that is held and one that is not, not created yet
    Asked both = bench.ask(lease, Wish.named("both").exclusive("a", "b").by("thread"));
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    CallId release = bench.release(first);
    boolean handedOff = bench.wasGranted(waiter);
    // When
    bench.createAll(both);
    bench.deleteAll(first);
    // Then
    assertThat(handedOff).isFalse();
    assertThat(bench.answers(release)).hasSize(1);
    assertThat(bench.granted(both).grants()).hasSize(2);
    assertThat(bench.wasGranted(waiter)).isFalse();
    bench.release(both);
    assertThat(bench.wasGranted(waiter)).isTrue();
  }

  @Test
  void requestThatIsRefusedLetsTheEntryGoThatItWasToBePlacedBeside() {
    // Given
    Asked both = bench.ask(lease, Wish.named("both").exclusive("a", "b").by("thread"));
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    StoreEvent.CreatedEntry entry = bench.created(first);
    bench.release(first);
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    // When
    bench.on(new StoreEvent.EntriesRefused(both.id(), "no room"));
    // Then
    assertThat(bench.refusals(both.stream())).containsExactly(Failure.Reason.STORE_REFUSED);
    assertThat(bench.last(StoreEffect.DeleteEntries.class).get(0).entries())
        .extracting(EntryRef::entry)
        .containsExactly(entry.name().text());
    bench.vanish(entry);
    assertThat(bench.wasGranted(waiter)).isTrue();
  }

  @Test
  void bytesOfEveryLevelAreCountedAsLongAsItsEntryLives() {
    // Given
    long before = pathBytes();
    Asked second = createdAgain("two");
    long both = pathBytes();
    // When
    bench.release(first);
    long leaving = pathBytes();
    bench.deleteAll(first);
    long one = pathBytes();
    released(second);
    // Then
    assertThat(both).isEqualTo(before + Bench.ENTRY_BYTES);
    assertThat(leaving).isEqualTo(both);
    assertThat(one).isEqualTo(before);
    assertThat(pathBytes()).isEqualTo(before - Bench.ENTRY_BYTES);
  }

  @Test
  void levelThatIsLostLeavesItsOwnGuardAndOneThatIsReleasedTakesItsAlong() {
    // Given: both levels have a lock delay
    LeaseId other = bench.lease();
    Wish outer = Wish.named("one").exclusive("c").by("thread").delaying(Duration.ofSeconds(30));
    Wish inner = Wish.named("two").exclusive("c").by("thread").delaying(Duration.ofSeconds(20));
    Asked lost = bench.askAndCreate(other, outer);
    Asked released = bench.askAndCreate(other, inner);
    // When
    bench.release(released);
    bench.pass(Bench.TTL.plusMillis(1));
    // Then
    assertThat(guardDeletedWith(released))
        .contains("delay-20000-" + AccountTag.NOBODY + "-" + released.id());
    assertThat(guardDeletedWith(lost)).isEmpty();
  }

  private Optional<String> guardDeletedWith(Asked asked) {
    return bench.all(StoreEffect.DeleteEntries.class).stream()
        .filter(delete -> delete.id().equals(asked.id()))
        .map(delete -> delete.entries().get(0).guard())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void levelThatOnlyWaitedWhenTheLeaseEndedLeavesNoGuard() {
    // Given: the second level still waits for another lock when the lease ends
    LeaseId other = bench.lease();
    Wish delayed = Wish.named("one").exclusive("c").by("thread").delaying(Duration.ofSeconds(30));
    Asked held = bench.askAndCreate(other, delayed);
    bench.alone(Wish.named("h").exclusive("d"));
    Asked waits =
        bench.askAndCreate(
            other,
            Wish.named("two").exclusive("c", "d").by("thread").delaying(Duration.ofSeconds(30)));
    // When
    bench.pass(Bench.TTL.plusMillis(1));
    // Then
    assertThat(guardDeletedWith(held)).isEmpty();
    assertThat(guardDeletedWith(waits))
        .contains("delay-30000-" + AccountTag.NOBODY + "-" + waits.id());
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
  void rebuildKeepsALevelWhoseFirstAcquisitionIsGone() {
    // Given
    Asked second = createdAgain("two");
    StoreEvent.CreatedEntry entry = bench.created(second);
    bench.vanish(bench.created(first));
    // When
    bench.on(new StoreEvent.MirrorStale());
    bench.on(new StoreEvent.RebuildStarted(java.util.Set.of(entry.lock())));
    bench.on(
        new StoreEvent.QueueListed(
            entry.lock(),
            List.of(new StoreEvent.ListedEntry(entry.name(), Optional.empty(), 0)),
            List.of()));
    bench.on(new StoreEvent.MirrorCurrent());
    // Then
    assertThat(bench.told(second, Notice.Lost.class)).isEmpty();
    assertThat(bench.kernel.lock(entry.lock(), 0, bench.now).holders().get(0).requestId())
        .isEqualTo("two");
  }

  @Test
  void severalLocksSomeOfThemHeldQueueOnlyForTheOthers() {
    // When
    Asked both = bench.ask(lease, Wish.named("both").exclusive("a", "b").by("thread"));
    // Then
    assertThat(bench.planned(both).entries())
        .extracting(entry -> entry.beside().isPresent())
        .containsExactly(true, false);
    bench.createAll(both);
    assertThat(bench.granted(both).grants())
        .extracting(Notice.Grant::holdCount)
        .containsExactly(2, 1);
    // And the release of both deletes an entry of each
    bench.release(both);
    assertThat(bench.last(StoreEffect.DeleteEntries.class).get(0).entries())
        .extracting(EntryRef::lock)
        .containsExactly(new LockName("a"), new LockName("b"));
  }

  @Test
  void ownerIsGrantedAsSoonAsTheOtherLockIsFreeWhicheverOfItsLevelsIsLeft() {
    // Given: an owner's second level waits for another lock, and its first is given back meanwhile
    Asked holder = bench.alone(Wish.named("h").exclusive("b"));
    Asked both = bench.askAndCreate(lease, Wish.named("both").exclusive("a", "b").by("thread"));
    released(first);
    // When
    bench.release(holder);
    // Then
    assertThat(bench.granted(both).grants())
        .extracting(Notice.Grant::holdCount)
        .containsExactly(1, 1);
  }

  @Test
  void everyWaiterOfAnOwnerThatMayHoldIsGranted() {
    // Given: two requests of one owner wait behind one holder for what they may share
    Asked writer = bench.alone(Wish.named("w").write("r"));
    Asked one = bench.askAndCreate(lease, Wish.named("r1").read("r").by("thread"));
    Asked two = bench.askAndCreate(lease, Wish.named("r2").read("r").by("thread"));
    // When
    bench.release(writer);
    // Then
    assertThat(List.of(one, two)).allMatch(bench::wasGranted);
    Asked third = bench.askAndCreate(lease, Wish.named("r3").read("r").by("thread"));
    assertThat(bench.wasGranted(third)).isTrue();
  }

  @Test
  void levelWithALockDelayIsGrantedWhenItsEntryIsThere() {
    // Given: should it be lost, others must be able to tell that it was held
    Wish wish = Wish.named("two").exclusive("a").by("thread").delaying(Duration.ofSeconds(3));
    Asked second = bench.ask(lease, wish);
    // When
    boolean early = bench.wasGranted(second);
    bench.createAll(second);
    // Then
    assertThat(early).isFalse();
    assertThat(bench.granted(second).grants().get(0).holdCount()).isEqualTo(2);
  }

  @Test
  void levelBesideOneThatIsBeingCreatedIsGrantedWhenThatIsCreated() {
    // Given: the first is given back, so that only a level is left that is not created
    Asked inner = again("inner");
    bench.release(first);
    Asked third = again("third");
    boolean before = bench.wasGranted(third);
    // When
    bench.createAll(inner);
    // Then
    assertThat(before).isFalse();
    assertThat(bench.wasGranted(third)).isTrue();
  }

  @Test
  void levelThatIsRefusedBesideAnEntryTheMirrorHasNotShownIsNotLost() {
    // Given: the mirror is behind
    Asked second = again("two");
    StoreEvent.CreatedEntry named = bench.created(second);
    StoreEvent.CreatedEntry unseen =
        new StoreEvent.CreatedEntry(named.lock(), named.name(), bench.zxid(), 0);
    bench.answerCreated(second, unseen);
    bench.release(first);
    Asked third = again("three");
    // When
    bench.on(new StoreEvent.EntriesRefused(third.id(), "by chance"));
    // Then
    assertThat(bench.told(third, Notice.Lost.class)).isEmpty();
    bench.appear(unseen);
    StoreEffect.Barrier barrier = bench.all(StoreEffect.Barrier.class).get(0);
    bench.on(new StoreEvent.BarrierPassed(barrier.barrier()));
    assertThat(bench.told(third, Notice.Lost.class)).isEmpty();
  }
}
