package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.simulation.Wish;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Nobody is shown before it is known who it is. */
class PublicationsTest {

  private static final LockName A = new LockName("a");
  private static final UUID ELSEWHERE = new UUID(0x77, 1);

  private final Bench bench = Bench.ready();

  private List<LockChange> published() {
    return bench.all(Effect.Publish.class).stream().map(Effect.Publish::change).toList();
  }

  private void read(StoreEvent.CreatedEntry entry, boolean there) {
    EntryDetails details =
        new EntryDetails(
            "77", "r", "", "peer", Map.of(), false, true, Optional.empty(), Optional.empty());
    StoreEvent.ReadEntry read =
        new StoreEvent.ReadEntry(details, entry.czxid(), 0, Optional.empty());
    bench.on(
        new StoreEvent.DetailsRead(
            A, entry.name().text(), there ? Optional.of(read) : Optional.empty()));
  }

  @Test
  void holderElsewhereIsToldOnceItsTokenIsKnownAndNothingOvertakesIt() {
    // Given
    StoreEvent.CreatedEntry holder = bench.foreign("a", ELSEWHERE, MutexKind.EXCLUSIVE);
    bench.alone(Wish.named("own").exclusive("b"));
    assertThat(published()).isEmpty();
    // When
    read(holder, true);
    // Then
    assertThat(published().get(0).cause()).isEqualTo(LockChange.Cause.GRANTED);
    assertThat(published().get(0).lock()).isEqualTo(A);
    assertThat(published().get(0).holders()).extracting(Contender::holder).containsExactly("peer");
    assertThat(published())
        .allSatisfy(
            change -> assertThat(change.holders()).allMatch(shown -> shown.token().isPresent()));
    assertThat(published()).extracting(LockChange::lock).contains(new LockName("b"));
  }

  @Test
  void holderThatIsGoneBeforeItCouldBeReadIsToldAsSeveralChanges() {
    // Given
    StoreEvent.CreatedEntry holder = bench.foreign("a", ELSEWHERE, MutexKind.EXCLUSIVE);
    bench.vanish(holder);
    // When
    read(holder, false);
    // Then
    assertThat(published())
        .isNotEmpty()
        .allSatisfy(
            change -> {
              assertThat(change.cause()).isEqualTo(LockChange.Cause.SEVERAL);
              assertThat(change.isUndescribed()).isFalse();
              assertThat(change.contender()).isEmpty();
              assertThat(change.holders()).isEmpty();
            });
  }

  @Test
  void holderThatIsNeverReadIsWaitedForNoLongerThanTwoSeconds() {
    // Given
    bench.foreign("a", ELSEWHERE, MutexKind.EXCLUSIVE);
    // When
    bench.pass(java.time.Duration.ofSeconds(3));
    // Then
    assertThat(published()).isNotEmpty().allMatch(change -> change.holders().isEmpty());
  }

  @Test
  void waiterIsToldWhoHoldsElsewhereOnceThatIsKnown() {
    // Given
    StoreEvent.CreatedEntry holder = bench.foreign("a", ELSEWHERE, MutexKind.EXCLUSIVE);
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    assertThat(bench.told(waiter, Notice.Queued.class).get(0).places().get(0).holders()).isEmpty();
    // When
    read(holder, true);
    // Then
    assertThat(bench.told(waiter, Notice.Position.class).get(0).places().get(0).holders())
        .singleElement()
        .satisfies(shown -> assertThat(shown.token()).isPresent());
  }
}
