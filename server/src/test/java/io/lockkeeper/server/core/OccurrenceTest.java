package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.LifecycleEvent;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Occurrence;
import io.lockkeeper.server.core.api.QueueExtremes;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What those hear who count and measure. */
class OccurrenceTest {

  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final Bench bench = Bench.ready();
  private final LeaseId lease = bench.lease(Duration.ofHours(1));
  private final LeaseId other = bench.lease(Duration.ofHours(1));

  private List<Occurrence> occurrences(Asked asked) {
    return bench.all(Effect.Count.class).stream()
        .map(Effect.Count::occurrence)
        .filter(occurrence -> occurrence.id().equals(asked.id()))
        .toList();
  }

  private Occurrence last(Asked asked) {
    List<Occurrence> all = occurrences(asked);
    return all.get(all.size() - 1);
  }

  private Asked onItsStream() {
    StreamId stream = new StreamId(77);
    Asked asked =
        bench.acquire(
            new LeaseId(77, 7), Wish.named("s").exclusive("a").command(Optional.empty()), stream);
    bench.createAll(asked);
    return asked;
  }

  @Test
  void waitEndsWithTheGrantAndTheHoldBeginsWithIt() {
    // Given
    Asked holder = bench.askAndCreate(lease, Wish.named("h").exclusive("a"));
    Asked waiter = bench.askAndCreate(other, Wish.named("w").exclusive("a"));
    // When
    bench.pass(MINUTE);
    bench.release(holder);
    bench.pass(MINUTE.multipliedBy(2));
    bench.deleteAll(holder);
    // Then: its hold ended when it was given back, not when that was certain
    assertThat(last(holder).notice()).isInstanceOf(Notice.Released.class);
    assertThat(last(holder).end()).isEqualTo(HoldEnd.RELEASED);
    assertThat(last(holder).heldNanos()).hasValue(MINUTE.toNanos());
    assertThat(last(waiter).notice()).isInstanceOf(Notice.Granted.class);
    assertThat(last(waiter).waitedNanos()).hasValue(MINUTE.toNanos());
    assertThat(last(waiter).handOffNanos()).hasValue(0);
  }

  @Test
  void handOffTakesUntilTheDeletionIsCertainWhereTheHolderWasLost() {
    // Given
    Asked holder = bench.askAndCreate(lease, Wish.named("h").exclusive("a"));
    Asked waiter = bench.askAndCreate(other, Wish.named("w").exclusive("a"));
    // When
    bench.on(new ClientEvent.CloseLease(bench.call(), lease));
    bench.pass(Duration.ofSeconds(3));
    bench.deleteAll(holder);
    // Then
    assertThat(last(waiter).handOffNanos()).hasValue(Duration.ofSeconds(3).toNanos());
  }

  @Test
  void lockThatWasFreeWhenItWasAskedForIsNotHandedOff() {
    // Given
    Asked before = bench.askAndCreate(lease, Wish.named("h").exclusive("a"));
    bench.release(before);
    bench.deleteAll(before);
    bench.pass(MINUTE);
    // When
    Asked after = bench.askAndCreate(other, Wish.named("w").exclusive("a"));
    // Then
    assertThat(last(after).notice()).isInstanceOf(Notice.Granted.class);
    assertThat(last(after).handOffNanos()).isEmpty();
  }

  @Test
  void holderThatCancelsGivesUpAndOneThatBreaksOffLoses() {
    // Given
    Asked cancelled = onItsStream();
    // When
    bench.on(new ClientEvent.StreamClosed(cancelled.stream(), true));
    bench.deleteAll(cancelled);
    // Then
    assertThat(last(cancelled).notice()).isInstanceOf(Notice.Released.class);
    assertThat(last(cancelled).end()).isEqualTo(HoldEnd.CANCELLED);
  }

  @Test
  void holderWhoseStreamBreaksHasLost() {
    // Given
    Asked broken = onItsStream();
    // When
    bench.on(new ClientEvent.StreamClosed(broken.stream(), false));
    // Then
    assertThat(last(broken).notice())
        .isEqualTo(new Notice.Lost(Notice.LossReason.STREAM_BROKEN, ""));
  }

  @Test
  void holderWhoseStreamEndsBecauseTheCoordinatorLeavesIsNotOneThatBrokeOff() {
    // Given
    Asked held = onItsStream();
    // When
    bench.on(new LifecycleEvent.Draining());
    bench.on(new ClientEvent.StreamClosed(held.stream(), false));
    // Then
    assertThat(bench.told(held, Notice.Lost.class))
        .containsExactly(new Notice.Lost(Notice.LossReason.COORDINATOR_LEFT, ""));
    assertThat(occurrences(held))
        .extracting(Occurrence::notice)
        .filteredOn(Notice.Lost.class::isInstance)
        .containsExactly(new Notice.Lost(Notice.LossReason.COORDINATOR_LEFT, ""));
  }

  @Test
  void nobodyKnowsForHowLongItWaitedThatAnotherCoordinatorServed() {
    // Given
    Inheritance left = new Inheritance(bench);
    left.entries(left.lease(), Wish.named("held").exclusive("b"));
    // When
    left.take();
    bench.attach(left.lease());
    // Then
    assertThat(bench.all(Effect.Count.class))
        .extracting(Effect.Count::occurrence)
        .allSatisfy(occurrence -> assertThat(occurrence.waitedNanos()).isEmpty());
  }

  @Test
  void extremesAreThoseOfAllQueues() {
    // Given
    bench.askAndCreate(lease, Wish.named("h").exclusive("a"));
    bench.pass(MINUTE);
    bench.takenElsewhere("a");
    bench.takenElsewhere("a");
    bench.askAndCreate(lease, Wish.named("i").exclusive("b"));
    // When
    bench.pass(MINUTE);
    // Then
    assertThat(bench.kernel.lookAtQueues(bench.now))
        .contains(new QueueExtremes(3, 2 * MINUTE.toNanos(), MINUTE.toNanos()));
  }
}
