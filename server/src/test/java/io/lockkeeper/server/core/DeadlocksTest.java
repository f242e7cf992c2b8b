package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Cycles of waits: the youngest is refused, and told why. */
class DeadlocksTest {

  private final Bench bench = Bench.ready();
  private final LeaseId one = bench.lease();
  private final LeaseId two = bench.lease();
  private final LeaseId three = bench.lease();

  private Asked ask(LeaseId lease, String requestId, String... locks) {
    return bench.askAndCreate(lease, Wish.named(requestId).exclusive(locks));
  }

  @Test
  void youngestOfACycleIsRefusedWithTheCycleSpelledOut() {
    // Given
    ask(one, "one-a", "a");
    ask(two, "two-b", "b");
    Asked older = ask(one, "one-b", "b");
    // When
    Asked younger = ask(two, "two-a", "a");
    // Then
    assertThat(bench.ending(younger).reason()).isEqualTo(Notice.RefusalReason.WOULD_DEADLOCK);
    assertThat(bench.ending(younger).cycle().toString())
        .contains(one.tag(), two.tag(), "lock=a", "lock=b", "'two-a'", "'one-b'");
    assertThat(bench.told(older, Notice.NotAcquired.class)).isEmpty();
  }

  @Test
  void cycleOfThreeIsFound() {
    ask(one, "one-a", "a");
    ask(two, "two-b", "b");
    ask(three, "three-c", "c");
    ask(one, "one-b", "b");
    ask(two, "two-c", "c");
    Asked last = ask(three, "three-a", "a");
    assertThat(bench.ending(last).reason()).isEqualTo(Notice.RefusalReason.WOULD_DEADLOCK);
    assertThat(bench.ending(last).cycle().toString()).contains(one.tag(), two.tag(), three.tag());
  }

  @Test
  void cycleThroughAWaiterThatCannotBeOvertakenIsFound() {
    // Given: two holds b and waits for a, behind three, who waits for a as well
    ask(two, "two-b", "b");
    ask(one, "one-a", "a");
    Asked waits = ask(three, "three-a", "a");
    ask(two, "two-a", "a");
    // When: three's lease waits for b, which two gives back only after a
    Asked last = ask(three, "three-b", "b");
    // Then
    assertThat(bench.ending(last).reason()).isEqualTo(Notice.RefusalReason.WOULD_DEADLOCK);
    assertThat(bench.told(waits, Notice.NotAcquired.class)).isEmpty();
  }

  @Test
  void cycleThroughSeveralLocksInOneRequestIsFound() {
    // Given: one holds b; two has a already and waits for b
    ask(one, "one-b", "b");
    ask(two, "two-ab", "a", "b");
    // When
    Asked last = ask(one, "one-a", "a");
    // Then
    assertThat(bench.ending(last).reason()).isEqualTo(Notice.RefusalReason.WOULD_DEADLOCK);
  }

  @Test
  void waitWithoutACycleWaits() {
    ask(one, "one-a", "a");
    ask(one, "one-b", "b");
    Asked waiter = ask(two, "two-b", "b");
    Asked more = ask(two, "two-a", "a");
    assertThat(bench.told(waiter, Notice.NotAcquired.class)).isEmpty();
    assertThat(bench.told(more, Notice.NotAcquired.class)).isEmpty();
  }

  @Test
  void readersDoNotWaitForOneAnother() {
    // Given
    bench.askAndCreate(one, Wish.named("one-a").read("a"));
    bench.askAndCreate(two, Wish.named("two-a").read("a"));
    ask(two, "two-b", "b");
    // When
    Asked last = ask(one, "one-b", "b");
    // Then
    assertThat(bench.told(last, Notice.NotAcquired.class)).isEmpty();
  }

  @Test
  void permitsThatFitBesideAHolderDoNotWaitForThatHolder() {
    // Given: two holders of two permits each, of four; a third could take one's place alone
    bench.askAndCreate(one, Wish.named("one-a").permits("a", 2, 4));
    bench.askAndCreate(three, Wish.named("three-a").permits("a", 2, 4));
    ask(two, "two-b", "b");
    ask(one, "one-b", "b");
    // When
    Asked last = bench.askAndCreate(two, Wish.named("two-a").permits("a", 2, 4));
    // Then: three may release
    assertThat(bench.told(last, Notice.NotAcquired.class)).isEmpty();
  }

  @Test
  void ownersOfOneLeaseAreActorsOfTheirOwn() {
    // Given
    bench.askAndCreate(one, Wish.named("1").exclusive("a").by("x"));
    bench.askAndCreate(two, Wish.named("2").exclusive("b").by("y"));
    bench.askAndCreate(one, Wish.named("3").exclusive("b").by("other"));
    // When
    Asked last = bench.askAndCreate(two, Wish.named("4").exclusive("a").by("y"));
    // Then: x, who holds a, waits for nothing
    assertThat(bench.told(last, Notice.NotAcquired.class)).isEmpty();
    // And the cycle of owners inside one lease is one
    bench.askAndCreate(one, Wish.named("5").exclusive("c").by("p"));
    bench.askAndCreate(one, Wish.named("6").exclusive("d").by("q"));
    bench.askAndCreate(one, Wish.named("7").exclusive("d").by("p"));
    Asked inside = bench.askAndCreate(one, Wish.named("8").exclusive("c").by("q"));
    assertThat(bench.ending(inside).cycle().toString()).contains("owner 'p'", "owner 'q'");
  }

  @Test
  void leaseThatWaitsForItselfWithoutOwnersMayBeTwoThreads() {
    ask(one, "1", "a");
    Asked second = ask(one, "2", "a");
    assertThat(bench.told(second, Notice.NotAcquired.class)).isEmpty();
  }

  @Test
  void tasksWithoutAnOwnerThatContendForOneLockMakeNoCycle() {
    // Given: two processes of many tasks each, and one hot lock
    ask(one, "one-1", "a");
    ask(two, "two-1", "a");
    // When
    Asked more = ask(one, "one-2", "a");
    Asked other = ask(two, "two-2", "a");
    // Then
    assertThat(bench.told(more, Notice.NotAcquired.class)).isEmpty();
    assertThat(bench.told(other, Notice.NotAcquired.class)).isEmpty();
  }

  @Test
  void taskWithoutAnOwnerBehindAnotherOfItsLeaseIsNoReasonForThirdsToBeRefused() {
    // Given: one holds a and waits for it once more behind two
    ask(one, "one-1", "a");
    ask(three, "three-b", "b");
    ask(two, "two-1", "a");
    ask(one, "one-2", "a");
    // When: two waits for b, and three for a
    Asked second = ask(two, "two-b", "b");
    Asked third = ask(three, "three-a", "a");
    // Then: three is behind two in a, and two behind three in b
    assertThat(bench.told(second, Notice.NotAcquired.class)).isEmpty();
    assertThat(bench.ending(third).reason()).isEqualTo(Notice.RefusalReason.WOULD_DEADLOCK);
    assertThat(bench.ending(third).cycle().toString()).doesNotContain("'one-2'");
  }

  @Test
  void ownerThatHoldsAPermitAndWaitsForAnotherBehindWhoNeedsItIsInACycle() {
    // Given
    bench.askAndCreate(one, Wish.named("1").permits("a", 1, 2).by("x"));
    bench.askAndCreate(two, Wish.named("2").permits("a", 2, 2).by("y"));
    // When
    Asked more = bench.askAndCreate(one, Wish.named("3").permits("a", 1, 2).by("x"));
    // Then
    assertThat(bench.ending(more).reason()).isEqualTo(Notice.RefusalReason.WOULD_DEADLOCK);
  }

  @Test
  void whatAnOptedOutRequestHoldsMakesNoCycleEither() {
    // Given: a task of one holds a and has opted out; two holds b and waits for a
    bench.askAndCreate(one, Wish.named("one-a").exclusive("a").unsearched());
    ask(two, "two-b", "b");
    ask(two, "two-a", "a");
    // When: another task of one waits for b
    Asked last = ask(one, "one-b", "b");
    // Then
    assertThat(bench.told(last, Notice.NotAcquired.class)).isEmpty();
  }

  @Test
  void requestThatOptsOutIsNotRefusedNorLookedAt() {
    // Given
    ask(one, "one-a", "a");
    ask(two, "two-b", "b");
    Asked older = bench.askAndCreate(one, Wish.named("one-b").exclusive("b").unsearched());
    // When
    Asked younger = ask(two, "two-a", "a");
    // Then
    assertThat(bench.told(younger, Notice.NotAcquired.class)).isEmpty();
    assertThat(bench.told(older, Notice.NotAcquired.class)).isEmpty();
  }

  @Test
  void cycleThroughAnotherCoordinatorIsFoundOnceItsEntriesAreRead() {
    // Given: a lease elsewhere holds b and waits for a, which one holds
    long elsewhere = 0xE15E_0000_0000L;
    ask(one, "one-a", "a");
    StoreEvent.CreatedEntry holds = bench.foreign("b", new UUID(elsewhere, 1), MutexKind.EXCLUSIVE);
    StoreEvent.CreatedEntry waits = bench.foreign("a", new UUID(elsewhere, 2), MutexKind.EXCLUSIVE);
    // When
    Asked last = ask(one, "one-b", "b");
    // Then: not before it is known who is who
    assertThat(bench.told(last, Notice.NotAcquired.class)).isEmpty();
    describe(holds, "same");
    describe(waits, "same");
    assertThat(bench.ending(last).reason()).isEqualTo(Notice.RefusalReason.WOULD_DEADLOCK);
    assertThat(bench.ending(last).cycle().toString()).contains("elsewhere");
  }

  @Test
  void ownersElsewhereThatAreNotTheSameMakeNoCycle() {
    // Given
    long elsewhere = 0xE15E_0000_0000L;
    ask(one, "one-a", "a");
    StoreEvent.CreatedEntry holds = bench.foreign("b", new UUID(elsewhere, 1), MutexKind.EXCLUSIVE);
    StoreEvent.CreatedEntry waits = bench.foreign("a", new UUID(elsewhere, 2), MutexKind.EXCLUSIVE);
    Asked last = ask(one, "one-b", "b");
    // When
    describe(holds, "this");
    describe(waits, "that");
    // Then
    assertThat(bench.told(last, Notice.NotAcquired.class)).isEmpty();
  }

  private void describe(StoreEvent.CreatedEntry entry, String owner) {
    EntryDetails details =
        new EntryDetails(
            "e15e",
            "r",
            owner,
            "elsewhere",
            Map.of(),
            false,
            false,
            Optional.empty(),
            Optional.empty());
    StoreEvent.ReadEntry read =
        new StoreEvent.ReadEntry(details, entry.czxid(), 0, Optional.empty());
    bench.on(new StoreEvent.DetailsRead(entry.lock(), entry.name().text(), Optional.of(read)));
  }

  @Test
  void refusedWaiterLeavesTheQueueAndTheOthersGoOn() {
    // Given
    ask(one, "one-a", "a");
    Asked holder = ask(two, "two-b", "b");
    Asked older = ask(one, "one-b", "b");
    Asked younger = ask(two, "two-a", "a");
    // When
    bench.deleteAll(younger);
    bench.release(holder);
    // Then
    assertThat(bench.wasGranted(older)).isTrue();
    assertThat(List.of(younger)).noneMatch(bench::wasGranted);
  }

  @Test
  void cycleIsFoundThoughTheCreationOfItsOlderWaitIsAnsweredLater() {
    // Given
    ask(one, "one-a", "a");
    ask(two, "two-b", "b");
    Asked older = bench.ask(two, Wish.named("two-a").exclusive("a"));
    StoreEvent.CreatedEntry created = bench.entryOf(older);
    bench.appear(created);
    Asked younger = ask(one, "one-b", "b");
    // When
    bench.answerCreated(older, created);
    bench.pass(Duration.ofSeconds(2));
    // Then
    assertThat(bench.ending(younger).reason()).isEqualTo(Notice.RefusalReason.WOULD_DEADLOCK);
    assertThat(bench.told(older, Notice.NotAcquired.class)).isEmpty();
  }
}
