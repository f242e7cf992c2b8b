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
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Permits: several holders within a limit that may change while they hold. */
class PermitsTest {

  private static final LockName A = new LockName("a");
  private final Bench bench = Bench.ready();
  private int names;

  private Asked ask(int permits, int limit) {
    return bench.alone(Wish.named("p" + ++names).permits("a", permits, limit));
  }

  private Failure.Reason refused(int permits, int limit) {
    LeaseId lease = bench.lease();
    Asked asked = bench.ask(lease, Wish.named("p" + ++names).permits("a", permits, limit));
    return bench.refusals(asked.stream()).get(0);
  }

  /** Sets the limit, and lets ZooKeeper and the mirror follow. */
  private CallId configure(int limit) {
    CallId call = bench.call();
    bench.on(new ClientEvent.ConfigureLock(call, A, OptionalInt.of(limit)));
    StoreEffect.SetLimit effect = bench.last(StoreEffect.SetLimit.class).get(0);
    marker(limit, (int) effect.number());
    bench.on(new UpdateEvent.LimitAnswered(effect.number(), true));
    StoreEffect.Barrier barrier = bench.last(StoreEffect.Barrier.class).get(0);
    bench.on(new StoreEvent.BarrierPassed(barrier.barrier()));
    return call;
  }

  private void marker(int limit, int sequence) {
    String text = MarkerName.Limit.prefix(limit, AccountTag.NOBODY) + EntryName.suffix(sequence);
    bench.on(new StoreEvent.MarkerAppeared(A, MarkerName.parse(text).orElseThrow(), bench.zxid()));
  }

  @Test
  void lockDelayOfPermitsThatExceedAReducedLimitIsKeptWhenTheirRequestIsNotRepeated() {
    // Given: another coordinator granted them before the limit was reduced
    configure(3);
    Inheritance left = new Inheritance(bench);
    Wish wish = Wish.named("held").permits("a", 4, 4).delaying(Duration.ofSeconds(3));
    LeaseId lease = left.lease();
    left.entries(lease, wish);
    left.take();
    bench.attach(lease);
    // When
    bench.keepAliveFor(lease, Bench.TIMEOUT);
    // Then
    assertThat(bench.deletions().get(0).entries().get(0).guard()).isEmpty();
  }

  @Test
  void claimOfPermitsAboveAReducedLimitCountsOnlyBehindOtherClaims() {
    // Given: another coordinator granted 4 of 4 permits, and the limit was reduced
    configure(3);
    Inheritance left = new Inheritance(bench);
    LeaseId lease = left.lease();
    Wish first = Wish.named("first").permits("a", 3, 4);
    Wish second = Wish.named("second").permits("a", 1, 4);
    long firstToken = left.entries(lease, first).get(0);
    long secondToken = left.entries(lease, second).get(0);
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    bench.repeat(stream, lease, first);
    bench.repeat(stream, lease, second.holding(secondToken));
    bench.keepAliveFor(lease, Bench.TIMEOUT.multipliedBy(2));
    // Then: it is neither granted nor lost
    assertThat(bench.told("second")).hasOnlyElementsOfType(Notice.Queued.class);
    // When
    bench.repeat(stream, lease, first.holding(firstToken));
    bench.keepAliveFor(lease, Bench.TTL);
    // Then
    assertThat(bench.told("second")).last().isInstanceOf(Notice.Granted.class);
  }

  @Test
  void anotherLimitThanTheOneInForceIsRefused() {
    ask(1, 5);
    assertThat(refused(1, 6)).isEqualTo(Failure.Reason.WRONG_LIMIT);
  }

  @Test
  void requestMayLeaveTheLimitToTheLock() {
    // Given
    ask(1, 5);
    // When
    Asked asked = ask(4, PermitsKind.AS_CONFIGURED);
    // Then
    assertThat(bench.planned(asked).entries().get(0).mode())
        .isEqualTo(new PermitsKind.Permits(4, 5));
    assertThat(bench.wasGranted(asked)).isTrue();
  }

  @Test
  void requestThatLeavesTheLimitToALockWithoutOneIsRefused() {
    assertThat(refused(1, PermitsKind.AS_CONFIGURED)).isEqualTo(Failure.Reason.WRONG_LIMIT);
  }

  @Test
  void anotherKindOfLockIsRefused() {
    ask(1, 5);
    Asked mutex = bench.ask(bench.lease(), Wish.named("m").exclusive("a"));
    assertThat(bench.refusals(mutex.stream())).containsExactly(Failure.Reason.WRONG_KIND);
  }

  @Test
  void growingTheLimitAdmitsWaitersAtOnce() {
    // Given
    ask(5, 5);
    Asked second = ask(2, 5);
    Asked third = ask(2, 5);
    // When
    CallId call = configure(8);
    // Then
    assertThat(bench.answer(call)).isEqualTo(new Answer.LimitSet(5));
    assertThat(bench.wasGranted(second)).isTrue();
    assertThat(bench.wasGranted(third)).isFalse();
    assertThat(bench.kernel.lock(A, 10, bench.now).configuredLimit()).hasValue(8);
  }

  @Test
  void shrinkingTheLimitTakesNothingAwayAndWaitsForReleases() {
    // Given
    Asked first = ask(2, 5);
    Asked second = ask(3, 5);
    Asked third = ask(2, 5);
    // When
    configure(4);
    // Then: both hold, more than the limit allows
    assertThat(bench.kernel.lock(A, 10, bench.now).holders()).hasSize(2);
    assertThat(bench.told(first, Notice.Lost.class)).isEmpty();
    // And when
    bench.release(first);
    boolean whileThreeAreTaken = bench.wasGranted(third);
    bench.release(second);
    // Then
    assertThat(whileThreeAreTaken).isFalse();
    assertThat(bench.wasGranted(third)).isTrue();
  }

  @Test
  void waiterThatAsksForMoreThanTheNewLimitIsToldSo() {
    // Given
    ask(1, 5);
    Asked large = ask(5, 5);
    Asked behind = ask(2, 5);
    // When
    configure(3);
    // Then
    assertThat(bench.ending(large).reason()).isEqualTo(Notice.RefusalReason.LIMIT_TOO_SMALL);
    assertThat(bench.ending(large).message()).contains("'a'", "3");
    bench.deleteAll(large);
    assertThat(bench.wasGranted(behind)).isTrue();
  }

  @Test
  void limitThatShrinksWhileTheRequestIsOnItsWayIsToldWhenItArrives() {
    // Given: asked for while three were allowed
    configure(3);
    Asked asked = bench.ask(bench.lease(), Wish.named("late").permits("a", 3, 3));
    configure(2);
    Asked behind = bench.ask(bench.lease(), Wish.named("behind").permits("a", 2, 2));
    // When
    bench.createAll(asked);
    bench.createAll(behind);
    bench.deleteAll(asked);
    // Then: it does not stand at the head for ever
    assertThat(bench.ending(asked).reason()).isEqualTo(Notice.RefusalReason.LIMIT_TOO_SMALL);
    assertThat(bench.wasGranted(behind)).isTrue();
  }

  @Test
  void configuredLimitOutlivesTheQueueAndDecidesForWhoComesNext() {
    // Given
    configure(3);
    // Then
    assertThat(refused(1, 5)).isEqualTo(Failure.Reason.WRONG_LIMIT);
    assertThat(refused(4, 4)).isEqualTo(Failure.Reason.WRONG_LIMIT);
    assertThat(bench.wasGranted(ask(3, PermitsKind.AS_CONFIGURED))).isTrue();
    Asked mutex = bench.ask(bench.lease(), Wish.named("m").exclusive("a"));
    assertThat(bench.refusals(mutex.stream())).containsExactly(Failure.Reason.WRONG_KIND);
  }

  @Test
  void requestThatLeavesTheLimitToTheLockAndAsksForMoreIsToldSoAtOnce() {
    // Given
    configure(3);
    // When
    Asked large = bench.ask(bench.lease(), Wish.named("l").permits("a", 4, 0));
    Asked stream =
        bench.acquire(
            new LeaseId(9, 9),
            Wish.named("s").permits("a", 4, 0).command(java.util.Optional.empty()),
            bench.stream());
    // Then
    for (Asked asked : List.of(large, stream)) {
      assertThat(bench.ending(asked).reason()).isEqualTo(Notice.RefusalReason.LIMIT_TOO_SMALL);
      assertThat(bench.ending(asked).message()).contains("'a'", "3", "4");
    }
  }

  @Test
  void newestOfTwoMarkersCounts() {
    configure(3);
    marker(7, 99);
    assertThat(bench.kernel.lock(A, 0, bench.now).configuredLimit()).hasValue(7);
  }

  @Test
  void limitOfALockThatIsInUseAsAnotherKindIsNotSet() {
    // Given
    bench.alone(Wish.named("m").exclusive("a"));
    // When
    CallId call = bench.call();
    bench.on(new ClientEvent.ConfigureLock(call, A, OptionalInt.of(3)));
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.WRONG_KIND);
    assertThat(bench.last(StoreEffect.SetLimit.class)).isEmpty();
  }

  @Test
  void limitThatZooKeeperDoesNotConfirmIsSaidToBeUnknown() {
    // Given
    CallId call = bench.call();
    bench.on(new ClientEvent.ConfigureLock(call, A, OptionalInt.of(3)));
    long number = bench.last(StoreEffect.SetLimit.class).get(0).number();
    // When
    bench.on(new UpdateEvent.LimitAnswered(number, false));
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.UNAVAILABLE);
  }

  @Test
  void ownerThatHoldsPermitsTakesMoreAndIsToldWhenItWouldWaitForItself() {
    // Given
    LeaseId lease = bench.lease();
    bench.askAndCreate(lease, Wish.named("p1").permits("a", 2, 5).by("thread"));
    // When
    Asked more = bench.askAndCreate(lease, Wish.named("p2").permits("a", 2, 5).by("thread"));
    Asked tooMuch = bench.ask(lease, Wish.named("p3").permits("a", 2, 5).by("thread"));
    // Then: no reentry, permits add up
    assertThat(bench.granted(more).grants().get(0).holdCount()).isEqualTo(1);
    assertThat(bench.ending(tooMuch).reason()).isEqualTo(Notice.RefusalReason.WOULD_DEADLOCK);
  }
}
