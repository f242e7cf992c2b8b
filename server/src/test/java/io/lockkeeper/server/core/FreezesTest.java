package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.FreezeView;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** While a prefix is frozen nobody new is granted a lock under it. */
class FreezesTest {

  private static final Duration LONG = Duration.ofHours(1);
  private final Bench bench = Bench.ready();

  private void frozen(String prefix) {
    frozen(new Freeze(prefix, "migration", "ops", Optional.empty()));
  }

  private void frozen(Freeze freeze) {
    bench.on(new FreezeEvent.Appeared(freeze.prefix()));
    bench.on(new FreezeEvent.Read(freeze, bench.zxid()));
  }

  private void thawed(String prefix) {
    bench.on(new FreezeEvent.Vanished(prefix));
  }

  private Asked alone(String name, String lock) {
    return bench.askAndCreate(bench.lease(LONG), Wish.named(name).exclusive(lock));
  }

  private LockView view(String lock) {
    return bench.kernel.lock(new LockName(lock), 10, bench.now);
  }

  private void rebuilt(StoreEvent... listed) {
    bench.on(new StoreEvent.MirrorStale());
    for (StoreEvent event : listed) {
      bench.on(event);
    }
    bench.on(new StoreEvent.MirrorCurrent());
  }

  @ParameterizedTest
  @CsvSource({
    "'', a, true",
    "a, a, true",
    "a, ab/c, true",
    "a/, a/b, true",
    "a/, a, false",
    "a/, ab, false",
    "b, a, false",
    "a/b, a/c, false",
    "a/b, a/b/c, true"
  })
  void whatBeginsWithThePrefixIsFrozenAndNothingElse(String prefix, String lock, boolean frozen) {
    // Given: others that sort around it
    frozen("a/bb");
    frozen("0");
    frozen(prefix);
    // When
    Asked asked = alone("x", lock);
    // Then
    assertThat(bench.wasGranted(asked)).isEqualTo(!frozen);
    assertThat(view(lock).frozen().isPresent()).isEqualTo(frozen);
  }

  @Test
  void waiterIsToldWhyAndIsGrantedWhenThePrefixThaws() {
    // Given
    frozen("a");
    Asked asked = alone("x", "a/1");
    Notice.Place place = bench.told(asked, Notice.Queued.class).get(0).places().get(0);
    assertThat(place.frozen().map(FreezeView::freeze).map(Freeze::reason)).contains("migration");
    assertThat(place.ahead()).isZero();
    // When
    thawed("a");
    // Then
    assertThat(bench.wasGranted(asked)).isTrue();
    assertThat(view("a/1").frozen()).isEmpty();
  }

  @Test
  void holderKeepsTheLockAndTheNextIsNotGrantedAheadOfTheCommitNorAfter() {
    // Given
    Asked holder = alone("h", "a");
    Asked waiter = alone("w", "a");
    // When
    frozen("a");
    // Then
    assertThat(view("a").holders()).hasSize(1);
    Notice.Position told = bench.told(waiter, Notice.Position.class).get(0);
    assertThat(told.places().get(0).frozen().orElseThrow().freeze().reason())
        .isEqualTo("migration");
    // When
    bench.release(holder);
    bench.deleteAll(holder);
    // Then
    assertThat(bench.wasGranted(waiter)).isFalse();
    assertThat(view("a").queueLength()).isEqualTo(1);
    // When
    thawed("a");
    // Then
    assertThat(bench.wasGranted(waiter)).isTrue();
  }

  @Test
  void ownerThatHoldsMayHoldItOnceMore() {
    // Given
    LeaseId lease = bench.lease(LONG);
    bench.askAndCreate(lease, Wish.named("one").by("o").exclusive("a"));
    frozen("a");
    // When
    Asked again = bench.askAndCreate(lease, Wish.named("two").by("o").exclusive("a"));
    // Then
    assertThat(bench.granted(again).grants().get(0).holdCount()).isEqualTo(2);
  }

  @Test
  void severalLocksWaitWhileOneOfThemIsFrozen() {
    // Given
    frozen("b");
    // When
    Asked both = bench.alone(Wish.named("x").exclusive("a").exclusive("b"));
    // Then
    assertThat(bench.wasGranted(both)).isFalse();
    thawed("b");
    assertThat(bench.wasGranted(both)).isTrue();
  }

  @Test
  void lockThatIsUnderTwoFreezesThawsWithTheSecond() {
    // Given
    frozen("a");
    frozen("a/b");
    Asked asked = alone("x", "a/b/c");
    Asked other = alone("y", "a/c");
    // When
    thawed("a");
    // Then
    assertThat(bench.wasGranted(asked)).isFalse();
    assertThat(bench.wasGranted(other)).isTrue();
    assertThat(view("a/b/c").frozen().map(FreezeView::freeze).map(Freeze::prefix)).contains("a/b");
    thawed("a/b");
    assertThat(bench.wasGranted(asked)).isTrue();
  }

  @Test
  void requestThatMayNotWaitIsTimedOutWithTheReason() {
    // Given
    frozen("a");
    // When
    Asked asked = bench.acquire("a", Optional.of(Duration.ZERO));
    bench.create(asked);
    // Then
    assertThat(bench.ending(asked).reason()).isEqualTo(Notice.RefusalReason.TIMED_OUT);
    assertThat(bench.ending(asked).message()).isEqualTo("lock 'a' is frozen: migration");
  }

  @Test
  void waitTimeoutGoesOnAndNamesTheFreeze() {
    // Given
    frozen("a");
    Asked asked = bench.acquire("a", Optional.of(Duration.ofSeconds(3)));
    bench.create(asked);
    // When
    bench.pass(Duration.ofSeconds(3));
    // Then
    assertThat(bench.ending(asked).message())
        .isEqualTo("not granted within the wait timeout: lock 'a' is frozen: migration");
  }

  @Test
  void freezeThatWasNotReadYetFreezes() {
    // When
    bench.on(new FreezeEvent.Appeared("a"));
    Asked asked = alone("x", "a");
    // Then
    assertThat(bench.wasGranted(asked)).isFalse();
    assertThat(view("a").frozen().orElseThrow().freeze().reason()).isEqualTo("(not read yet)");
  }

  @Test
  void freezeThawsByItselfWhenItIsSeenToBeGoneAndNotBefore() {
    // Given
    frozen(new Freeze("a", "", "ops", Optional.of(Duration.ofSeconds(30))));
    Asked asked = alone("x", "a");
    assertThat(view("a").frozen().flatMap(FreezeView::thawsInNanos))
        .contains(Duration.ofSeconds(30).toNanos());
    // When
    bench.pass(Duration.ofSeconds(29));
    assertThat(bench.all(StoreEffect.Thaw.class)).isEmpty();
    bench.pass(Duration.ofSeconds(1));
    // Then
    assertThat(bench.all(StoreEffect.Thaw.class)).hasSize(1);
    assertThat(bench.wasGranted(asked)).isFalse();
    // And it is tried again until it works
    bench.pass(Duration.ofSeconds(6));
    assertThat(bench.all(StoreEffect.Thaw.class)).hasSize(2);
    thawed("a");
    assertThat(bench.wasGranted(asked)).isTrue();
    bench.pass(Duration.ofMinutes(1));
    assertThat(bench.all(StoreEffect.Thaw.class)).hasSize(2);
  }

  @Test
  void freezingAgainReplacesReasonAndDuration() {
    // Given
    Freeze first = new Freeze("a", "one", "ops", Optional.of(Duration.ofSeconds(30)));
    frozen(first);
    bench.pass(Duration.ofSeconds(20));
    // When
    long written = bench.zxid();
    bench.on(
        new FreezeEvent.Read(
            new Freeze("a", "two", "ops", Optional.of(Duration.ofSeconds(30))), written));
    bench.pass(Duration.ofSeconds(20));
    // Then
    assertThat(bench.all(StoreEffect.Thaw.class)).isEmpty();
    assertThat(view("a").frozen().orElseThrow().freeze().reason()).isEqualTo("two");
    bench.pass(Duration.ofSeconds(10));
    assertThat(bench.all(StoreEffect.Thaw.class))
        .containsExactly(new StoreEffect.Thaw("a", written));
  }

  @Test
  void outageNeitherStopsTheClockOfAFreezeNorBeginsItAnew() {
    // Given
    Freeze freeze = new Freeze("a", "", "ops", Optional.of(Duration.ofSeconds(30)));
    bench.on(new FreezeEvent.Appeared("a"));
    FreezeEvent.Read read = new FreezeEvent.Read(freeze, bench.zxid());
    bench.on(read);
    bench.pass(Duration.ofSeconds(20));
    // When
    rebuilt(new FreezeEvent.Listed(Set.of("a")), read, new StoreEvent.RebuildStarted(Set.of()));
    bench.pass(Duration.ofSeconds(10));
    // Then
    assertThat(bench.all(StoreEffect.Thaw.class)).hasSize(1);
  }

  @Test
  void freezeThatWasTakenBackInAnOutageIsGoneAfterIt() {
    // Given
    frozen("a");
    Asked asked = alone("x", "a");
    StoreEvent.CreatedEntry entry = bench.created(asked);
    // When
    rebuilt(
        new FreezeEvent.Listed(Set.of()),
        new StoreEvent.RebuildStarted(Set.of(asked.lock())),
        listed(entry));
    // Then
    assertThat(bench.wasGranted(asked)).isTrue();
  }

  @Test
  void freezeThatCameInAnOutageHoldsBackWhoeverIsFirstByThen() {
    // Given
    Asked holder = alone("h", "a");
    Asked waiter = alone("w", "a");
    // When: the holder goes and the prefix is frozen, both unseen
    rebuilt(
        new FreezeEvent.Listed(Set.of("a")),
        new StoreEvent.RebuildStarted(Set.of(waiter.lock())),
        listed(bench.created(waiter)));
    bench.on(
        new FreezeEvent.Read(new Freeze("a", "unseen", "ops", Optional.empty()), bench.zxid()));
    // Then
    assertThat(bench.told(holder)).isNotEmpty();
    assertThat(bench.wasGranted(waiter)).isFalse();
    List<Notice.Position> told = bench.told(waiter, Notice.Position.class);
    assertThat(told.get(told.size() - 1).places().get(0).frozen().orElseThrow().freeze().reason())
        .isEqualTo("unseen");
    // When
    thawed("a");
    // Then
    assertThat(bench.wasGranted(waiter)).isTrue();
  }

  @Test
  void coordinatorThatBeginsInAFreezeTakesWhoIsFirstForTheHolder() {
    // Given: it cannot know whether it was granted before
    StoreEvent.CreatedEntry first = bench.takenElsewhere("a");
    bench.vanish(first);
    // When
    rebuilt(
        new FreezeEvent.Listed(Set.of("a")),
        new StoreEvent.RebuildStarted(Set.of(first.lock())),
        listed(first));
    Asked behind = alone("x", "a");
    // Then
    assertThat(bench.kernel.core.mirror.queue(first.lock()).orElseThrow().holders()).hasSize(1);
    assertThat(bench.wasGranted(behind)).isFalse();
  }

  private static StoreEvent listed(StoreEvent.CreatedEntry entry) {
    return new StoreEvent.QueueListed(
        entry.lock(),
        List.of(new StoreEvent.ListedEntry(entry.name(), Optional.empty(), 0)),
        List.of());
  }

  /** Whether it was granted before, only its client can say. */
  @ParameterizedTest
  @ValueSource(ints = {0, 10})
  void holderThatWasAdoptedInAFreezeIsEndedByNoClockBeforeItsClientHasCome(int waitSeconds) {
    // Given
    Inheritance left = new Inheritance(bench);
    LeaseId lease = left.lease();
    Duration wait = Duration.ofSeconds(waitSeconds);
    left.entries(lease, Wish.named("held").exclusive("a").waiting(wait));
    frozen("a");
    left.take();
    // When
    bench.keepAliveFor(lease, Bench.TIMEOUT.plusSeconds(60));
    // Then
    assertThat(bench.deletions()).isEmpty();
    assertThat(bench.counts().acquisitions()).isEqualTo(1);
    assertThat(bench.counts().held()).isZero();
    // When
    thawed("a");
    // Then
    assertThat(bench.counts().held()).isEqualTo(1);
  }

  @Test
  void holderThatWasAdoptedInAFreezeHasItsLockWhenItNamesItsToken() {
    // Given
    Inheritance left = new Inheritance(bench);
    LeaseId lease = left.lease();
    long token = left.entries(lease, Wish.named("held").exclusive("a")).get(0);
    frozen("a");
    left.take();
    // When
    bench.repeat(bench.attach(lease), lease, Wish.named("held").exclusive("a").holding(token));
    // Then
    assertThat(bench.told("held", Notice.Granted.class).get(0).grants().get(0).token().value())
        .isEqualTo(token);
  }

  @Test
  void freezeIsAnsweredWhenThisCoordinatorHasSeenIt() {
    // Given
    CallId call = bench.call();
    Freeze freeze = new Freeze("a", "why", "ops", Optional.empty());
    // When
    bench.on(new ClientEvent.Freeze(call, freeze));
    StoreEffect.SetFreeze wanted = bench.all(StoreEffect.SetFreeze.class).get(0);
    bench.on(new FreezeEvent.Answered(wanted.number(), FreezeEvent.Outcome.DONE));
    // Then
    assertThat(wanted.freeze()).isEqualTo(freeze);
    assertThat(bench.answers(call)).isEmpty();
    long barrier = bench.all(StoreEffect.Barrier.class).get(0).barrier();
    bench.on(new StoreEvent.BarrierPassed(barrier));
    assertThat(bench.answer(call)).isEqualTo(new Answer.FreezeChanged());
  }

  @ParameterizedTest
  @CsvSource({"NOT_FROZEN, NOT_FROZEN", "FAILED, UNAVAILABLE"})
  void unfreezeThatFailsSaysWhy(FreezeEvent.Outcome outcome, Failure.Reason reason) {
    // Given
    CallId call = bench.call();
    bench.on(new ClientEvent.Unfreeze(call, "a"));
    // When
    long number = bench.all(StoreEffect.RemoveFreeze.class).get(0).number();
    bench.on(new FreezeEvent.Answered(number, outcome));
    // Then
    assertThat(bench.failure(call)).isEqualTo(reason);
  }

  @Test
  void moreThanAThousandPrefixesAreRefusedButForThoseThatAreFrozen() {
    // Given
    for (int i = 0; i < 1_000; i++) {
      frozen("p" + i);
    }
    // When
    CallId another = bench.call();
    bench.on(new ClientEvent.Freeze(another, Freeze.unread("q", "")));
    CallId again = bench.call();
    bench.on(new ClientEvent.Freeze(again, Freeze.unread("p7", "")));
    // Then
    assertThat(bench.failure(another)).isEqualTo(Failure.Reason.TOO_MANY);
    assertThat(bench.all(StoreEffect.SetFreeze.class)).hasSize(1);
    assertThat(bench.kernel.frozen(bench.now)).hasSize(1_000);
  }

  @Test
  void prefixesThatAreBeingFrozenCountAsFrozen() {
    // Given
    for (int i = 0; i < 1_000; i++) {
      bench.on(new ClientEvent.Freeze(bench.call(), Freeze.unread("p" + i, "")));
    }
    // When
    CallId another = bench.call();
    bench.on(new ClientEvent.Freeze(another, Freeze.unread("q", "")));
    // Then
    assertThat(bench.failure(another)).isEqualTo(Failure.Reason.TOO_MANY);
  }

  @Test
  void freezeWithoutContactToZooKeeperIsRefused() {
    // Given
    bench.on(new StoreEvent.MirrorStale());
    CallId call = bench.call();
    // When
    bench.on(new ClientEvent.Freeze(call, Freeze.unread("a", "")));
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.UNAVAILABLE);
  }
}
