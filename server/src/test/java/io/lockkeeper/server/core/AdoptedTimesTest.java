package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** How long what was adopted may wait, and be held. */
class AdoptedTimesTest {

  private static final Duration VOUCHED = Bench.TIMEOUT;
  private final Bench bench = Bench.ready();
  private final Inheritance left = new Inheritance(bench);

  private LeaseId waiterBehindAHolder(Duration wait) {
    LeaseId holder = left.lease();
    LeaseId waiter = left.lease();
    left.entries(holder, Wish.named("held").exclusive("a"));
    left.entries(waiter, Wish.named("waits").exclusive("a").waiting(wait));
    return waiter;
  }

  private void assertTimesOutAfter(Duration time) {
    bench.pass(time.minusNanos(1));
    assertThat(bench.told("waits", Notice.NotAcquired.class)).isEmpty();
    bench.pass(Duration.ofNanos(1));
    assertThat(bench.told("waits", Notice.NotAcquired.class))
        .extracting(Notice.NotAcquired::reason)
        .containsExactly(Notice.RefusalReason.TIMED_OUT);
  }

  @Test
  void clientThatRepeatsItsRequestSaysHowMuchOfItsWaitIsLeft() {
    // Given
    LeaseId waiter = waiterBehindAHolder(Duration.ofSeconds(10));
    left.take(true);
    StreamId stream = bench.attach(waiter);
    bench.pass(Duration.ofSeconds(3));
    // When
    bench.repeat(stream, waiter, Wish.named("waits").exclusive("a").waiting(Duration.ofSeconds(4)));
    // Then
    assertTimesOutAfter(Duration.ofSeconds(4));
    assertThat(bench.all(Effect.Tell.class).get(0).stream()).isEqualTo(stream);
  }

  @Test
  void waitOfWhichNobodySaysWhatIsLeftBeginsAnewAtTheAdoption() {
    // Given
    LeaseId waiter = waiterBehindAHolder(Duration.ofSeconds(10));
    left.take(true);
    bench.pass(Duration.ofSeconds(3));
    // When
    bench.repeat(bench.attach(waiter), waiter, Wish.named("waits").exclusive("a"));
    // Then
    assertTimesOutAfter(Duration.ofSeconds(7));
  }

  @Test
  void waitOfAnOwnerThatSharesALockEndsInItsTimeToo() {
    // Given: an owner holds one lock, and waits for it once more together with another
    Duration wait = Duration.ofSeconds(10);
    LeaseId owner = left.lease();
    Wish outer = Wish.named("outer").exclusive("a").by("t");
    Wish both = Wish.named("both").exclusive("a", "b").by("t").waiting(wait);
    left.entries(left.lease(), Wish.named("other").exclusive("b"));
    long token = left.entries(owner, outer).get(0);
    left.level(owner, both, outer);
    left.take();
    StreamId stream = bench.attach(owner);
    bench.repeat(stream, owner, both);
    bench.repeat(stream, owner, outer.holding(token));
    // When
    bench.keepAliveFor(owner, VOUCHED.minusNanos(1));
    assertThat(bench.told("both", Notice.NotAcquired.class)).isEmpty();
    bench.pass(Duration.ofNanos(1));
    // Then
    assertThat(bench.told("both", Notice.NotAcquired.class))
        .extracting(Notice.NotAcquired::reason)
        .containsExactly(Notice.RefusalReason.TIMED_OUT);
    assertThat(bench.told("outer", Notice.Lost.class)).isEmpty();
  }

  @Test
  void waitThatTheMirrorDoesNotShowEndsInItsTimeToo() {
    // Given: the mirror is away from before the adoption on
    Duration wait = Duration.ofSeconds(10);
    LeaseId waiter = waiterBehindAHolder(wait);
    bench.on(new StoreEvent.MirrorStale());
    left.take();
    bench.repeat(bench.attach(waiter), waiter, Wish.named("waits").exclusive("a").waiting(wait));
    // When
    bench.keepAliveFor(waiter, VOUCHED.minusNanos(1));
    assertThat(bench.told("waits", Notice.NotAcquired.class)).isEmpty();
    bench.pass(Duration.ofNanos(1));
    // Then
    assertThat(bench.told("waits", Notice.NotAcquired.class)).hasSize(1);
  }

  @Test
  void waitIsNotEndedByAClockWhileTheCoordinatorBeforeMayGrant() {
    // Given
    Duration wait = Duration.ofSeconds(10);
    LeaseId waiter = waiterBehindAHolder(wait);
    left.take();
    bench.repeat(bench.attach(waiter), waiter, Wish.named("waits").exclusive("a").waiting(wait));
    // When
    bench.keepAliveFor(waiter, VOUCHED.minusNanos(1));
    assertThat(bench.told("waits", Notice.NotAcquired.class)).isEmpty();
    // Then: when nobody else can
    bench.pass(Duration.ofNanos(1));
    assertThat(bench.told("waits", Notice.NotAcquired.class)).hasSize(1);
  }

  @Test
  void maxHoldCountsFromWhenNobodyElseCanHaveGrantedItLater() {
    // Given
    Duration most = Duration.ofSeconds(5);
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a").atMost(most));
    left.take();
    bench.attach(lease);
    // When
    bench.keepAliveFor(lease, VOUCHED.plus(most).minusNanos(1));
    assertThat(bench.told("held", Notice.Lost.class)).isEmpty();
    bench.keepAliveFor(lease, Duration.ofSeconds(1));
    // Then
    assertThat(bench.told("held", Notice.Lost.class))
        .extracting(Notice.Lost::reason)
        .containsExactly(Notice.LossReason.MAX_HOLD);
  }

  private void repeatHolding(LeaseId lease, long token, Duration left) {
    Wish held = Wish.named("held").exclusive("a").atMost(left).holding(token);
    bench.repeat(bench.attach(lease), lease, held);
  }

  @Test
  void clientThatComesBackSaysHowMuchOfItsMaxHoldIsLeft() {
    // Given
    LeaseId lease = left.lease();
    Wish held = Wish.named("held").exclusive("a").atMost(Duration.ofMinutes(2));
    long token = left.entries(lease, held).get(0);
    left.take();
    // When
    repeatHolding(lease, token, Duration.ofSeconds(50));
    // Then
    bench.keepAliveFor(lease, Duration.ofSeconds(50));
    assertThat(bench.told("held", Notice.Lost.class)).isEmpty();
    bench.keepAliveFor(lease, Duration.ofSeconds(2));
    assertThat(bench.told("held", Notice.Lost.class))
        .extracting(Notice.Lost::reason)
        .containsExactly(Notice.LossReason.MAX_HOLD);
  }

  @Test
  void maxHoldEndsNothingWhileTheCoordinatorBeforeMayVouchForIt() {
    // Given
    LeaseId lease = left.lease();
    Wish held = Wish.named("held").exclusive("a").atMost(Duration.ofMinutes(2));
    long token = left.entries(lease, held).get(0);
    left.take();
    // When
    repeatHolding(lease, token, Duration.ofSeconds(1));
    // Then
    bench.keepAliveFor(lease, VOUCHED.minusNanos(1));
    assertThat(bench.told("held", Notice.Lost.class)).isEmpty();
    bench.pass(Duration.ofNanos(1));
    assertThat(bench.told("held", Notice.Lost.class)).hasSize(1);
  }

  @Test
  void clientThatNoLongerWantsToWaitIsTakenAtItsWord() {
    // Given
    LeaseId waiter = waiterBehindAHolder(Duration.ofSeconds(10));
    left.take();
    bench.attach(waiter);
    // When
    bench.on(new ClientEvent.Release(bench.call(), waiter, "waits", 0));
    // Then
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).hasSize(1);
  }

  @Test
  void claimIsOpenWhileNobodyAsksForTheEntryAhead() {
    // Given: released at the coordinator before, and its client does not repeat that
    LeaseId lease = left.lease();
    LeaseId former = left.lease();
    left.entries(former, Wish.named("first").exclusive("a"));
    Wish next = Wish.named("next").exclusive("a");
    long token = left.entries(lease, next).get(0);
    left.take();
    bench.repeat(bench.attach(lease), lease, next.holding(token));
    bench.keepAliveFor(lease, VOUCHED.minusNanos(1));
    bench.on(new ClientEvent.KeepAlive(bench.call(), former));
    // When: its lease ends
    bench.keepAliveFor(lease, Bench.TTL);
    assertThat(bench.told("next", Notice.Lost.class)).isEmpty();
    bench.on(new StoreEvent.EntriesDeleted(bench.deletions().get(0).id()));
    // Then
    assertThat(bench.told("next")).last().isInstanceOf(Notice.Granted.class);
  }

  @Test
  void claimIsOpenWhileTheEntryAheadIsBeingDeleted() {
    // Given
    LeaseId lease = left.lease();
    LeaseId former = left.lease();
    left.entries(former, Wish.named("first").exclusive("a").delaying(Duration.ofSeconds(1)));
    Wish next = Wish.named("next").exclusive("a").delaying(Duration.ofSeconds(1));
    long token = left.entries(lease, next).get(0);
    left.take();
    bench.repeat(bench.attach(lease), lease, next.holding(token));
    bench.on(new ClientEvent.Release(bench.call(), former, "first", 0));
    // When
    bench.keepAliveFor(lease, VOUCHED.multipliedBy(2));
    assertThat(bench.told("next", Notice.Lost.class)).isEmpty();
    // Then
    StoreEffect.DeleteEntries deletion = bench.all(StoreEffect.DeleteEntries.class).get(0);
    bench.on(new StoreEvent.EntriesDeleted(deletion.id()));
    assertThat(bench.told("next")).last().isInstanceOf(Notice.Granted.class);
  }

  @Test
  void claimIsOpenUntilAPeerHasDeletedTheEntryAhead() {
    // Given
    LeaseId lease = left.lease();
    StoreEvent.CreatedEntry first = bench.takenElsewhere("a");
    Wish next = Wish.named("next").exclusive("a");
    long token = left.entries(lease, next).get(0);
    left.take();
    bench.repeat(bench.attach(lease), lease, next.holding(token));
    bench.keepAliveFor(lease, VOUCHED.multipliedBy(3));
    // When
    bench.vanish(first);
    // Then
    assertThat(bench.told("next")).last().isInstanceOf(Notice.Granted.class);
  }

  @Test
  void waitIsNotEndedDuringALockDelayThatMayHaveBegunAfterTheGrant() {
    // Given: two readers held the lock at the coordinator before, and one of them was lost
    LeaseId lease = left.lease();
    Duration delay = Duration.ofSeconds(3);
    Wish reader = Wish.named("held").read("a").waiting(Duration.ofSeconds(1)).delaying(delay);
    MarkerName.Guard guard =
        MarkerName.Guard.of(new UUID(0x99, 1), (int) delay.toMillis(), AccountTag.NOBODY);
    bench.on(new StoreEvent.MarkerAppeared(new LockName("a"), guard, bench.zxid()));
    left.entries(lease, reader);
    left.take();
    bench.keepAliveFor(lease, VOUCHED.plusSeconds(1));
    assertThat(bench.deletions()).isEmpty();
    // When
    bench.on(new StoreEvent.MarkerVanished(new LockName("a"), guard, bench.zxid()));
    bench.attach(lease);
    // Then
    assertThat(bench.told("held")).last().isInstanceOf(Notice.Granted.class);
  }

  @Test
  void maxHoldCountsFromTheGrantWhenTheAdopterWasPausedForLongerThanTheGrace() {
    // Given
    LeaseId lease = left.lease();
    left.entries(lease, Wish.named("held").exclusive("a").atMost(Duration.ofSeconds(5)));
    left.leftWith(new Promises(Map.of(lease.tag(), Duration.ofSeconds(1)), Map.of()));
    left.pauseFor(Duration.ofSeconds(20));
    left.take();
    // When
    bench.attach(lease);
    bench.keepAliveFor(lease, Duration.ofSeconds(5).minusNanos(1));
    // Then
    assertThat(bench.told("held", Notice.Lost.class)).isEmpty();
  }
}
