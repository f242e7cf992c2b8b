package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Several locks in one request: all of them or none. */
class SeveralLocksTest {

  private final Bench bench = Bench.ready();

  @Test
  void allAreEnqueuedTogetherAndGrantedInTheOrderOfTheRequest() {
    // When
    Asked asked = bench.alone(Wish.named("r").exclusive("c", "a", "b"));
    // Then
    assertThat(bench.all(StoreEffect.CreateEntries.class)).hasSize(1);
    assertThat(bench.granted(asked).grants())
        .extracting(grant -> grant.lock().value())
        .containsExactly("c", "a", "b");
  }

  @Test
  void noneIsHeldWhileOneIsTaken() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("b"));
    // When
    Asked asked = bench.alone(Wish.named("r").exclusive("a", "b"));
    // Then
    assertThat(bench.wasGranted(asked)).isFalse();
    assertThat(bench.told(asked, Notice.Queued.class).get(0).places())
        .extracting(place -> place.lock().value())
        .containsExactly("b");
    bench.release(holder);
    assertThat(bench.granted(asked).grants()).hasSize(2);
  }

  @Test
  void timeoutWhileOneIsTakenLeavesEveryQueue() {
    // Given
    bench.alone(Wish.named("h").exclusive("b"));
    Asked asked = bench.alone(Wish.named("r").exclusive("a", "b").waiting(Duration.ofSeconds(1)));
    // When
    bench.pass(Duration.ofSeconds(2));
    // Then
    assertThat(bench.ending(asked).reason()).isEqualTo(Notice.RefusalReason.TIMED_OUT);
    assertThat(bench.all(StoreEffect.DeleteEntries.class).get(0).entries()).hasSize(2);
    // And the lock that was free is free again
    bench.deleteAll(asked);
    assertThat(bench.wasGranted(bench.alone(Wish.named("n").exclusive("a")))).isTrue();
  }

  @Test
  void lossOfOneLosesAll() {
    // Given
    Asked asked = bench.ask(bench.lease(), Wish.named("r").exclusive("a", "b"));
    var entries = bench.createAll(asked);
    // When
    bench.vanish(entries.get(1));
    // Then
    assertThat(bench.told(asked, Notice.Lost.class)).hasSize(1);
    assertThat(bench.last(StoreEffect.DeleteEntries.class).get(0).entries()).hasSize(2);
  }

  @Test
  void oneLockOfAnotherKindRefusesTheWholeRequest() {
    // Given
    bench.alone(Wish.named("h").read("b"));
    // When
    Asked asked = bench.ask(bench.lease(), Wish.named("r").exclusive("a", "b"));
    // Then
    assertThat(bench.refusals(asked.stream())).containsExactly(Failure.Reason.WRONG_KIND);
    assertThat(bench.last(StoreEffect.CreateEntries.class)).isEmpty();
  }
}
