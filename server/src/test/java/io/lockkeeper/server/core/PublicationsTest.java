package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Nobody is shown before it is known who it is. */
class PublicationsTest {

  private static final LockName A = new LockName("a");
  private static final UUID ELSEWHERE = new UUID(0x77, 1);

  private Bench bench = Bench.ready();

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
  void changeWaitsForItsHolderToBeReadHoweverLongThatTakes() {
    // Given
    StoreEvent.CreatedEntry holder = bench.foreign("a", ELSEWHERE, MutexKind.EXCLUSIVE);
    // When
    bench.pass(Duration.ofSeconds(30));
    assertThat(published()).isEmpty();
    read(holder, true);
    // Then
    assertThat(published())
        .singleElement()
        .satisfies(
            change ->
                assertThat(change.holders()).extracting(Contender::holder).containsExactly("peer"));
  }

  private CallId watch(String lock) {
    CallId call = bench.call();
    bench.on(new ClientEvent.WatchLocks(call, List.of(new LockName(lock))));
    return call;
  }

  private List<LockView> shown(CallId call) {
    return ((Answer.LocksShown) bench.answer(call)).locks();
  }

  @Test
  void snapshotShowsEveryHolderAndComesAfterTheChangesThatItContains() {
    // Given: a change that waits
    StoreEvent.CreatedEntry holder = bench.foreign("a", ELSEWHERE, MutexKind.EXCLUSIVE);
    // When
    CallId call = watch("a");
    bench.alone(Wish.named("own").exclusive("b"));
    bench.pass(Duration.ofSeconds(5));
    assertThat(bench.answers(call)).isEmpty();
    read(holder, true);
    // Then
    assertThat(shown(call).get(0).holders()).extracting(Contender::holder).containsExactly("peer");
    assertThat(
            bench.last(Effect.class).stream()
                .filter(e -> e instanceof Effect.Publish || e instanceof Effect.Reply)
                .map(Object::getClass)
                .toList())
        .startsWith(Effect.Publish.class, Effect.Reply.class)
        .endsWith(Effect.Publish.class);
  }

  @Test
  void snapshotShowsTheLockAsItWasBeforeTheChangesThatComeAfterIt() {
    // Given
    StoreEvent.CreatedEntry first = bench.foreign("a", ELSEWHERE, MutexKind.EXCLUSIVE);
    CallId call = watch("a");
    StoreEvent.CreatedEntry second = bench.foreign("a", new UUID(0x77, 2), MutexKind.EXCLUSIVE);
    // When
    read(first, true);
    bench.vanish(first);
    read(second, true);
    // Then
    assertThat(shown(call).get(0).holders())
        .extracting(Contender::entry)
        .containsExactly(first.name().text());
    assertThat(published())
        .last()
        .satisfies(
            change ->
                assertThat(change.holders())
                    .extracting(Contender::entry)
                    .containsExactly(second.name().text()));
  }

  @Test
  void snapshotReadsAllHoldersOfItsLocksHoweverMany() {
    // Given
    bench = Bench.unwatched();
    List<LockName> locks = List.of(A, new LockName("b"), new LockName("c"));
    List<StoreEvent.CreatedEntry> readers = new ArrayList<>();
    for (int i = 0; i < 2_700; i++) {
      String lock = locks.get(i % 3).value();
      readers.add(bench.foreign(lock, new UUID(0x77, i), ReadWriteKind.READ));
    }
    // When
    CallId call = bench.call();
    bench.on(new ClientEvent.WatchLocks(call, locks));
    readers.forEach(reader -> bench.read(reader, EntryDetails.foreign("peer", Optional.empty())));
    // Then
    assertThat(shown(call)).hasSize(3).allMatch(lock -> lock.holders().size() == 900);
  }

  @Test
  void moreChangesThanMayWaitAreAGapInTheirPlace() {
    // Given
    StoreEvent.CreatedEntry holder = bench.foreign("a", ELSEWHERE, MutexKind.EXCLUSIVE);
    CallId call = watch("a");
    // When
    for (int i = 0; i < 10_000; i++) {
      MarkerName limit =
          MarkerName.parse(MarkerName.Limit.prefix(5, AccountTag.NOBODY) + EntryName.suffix(i))
              .get();
      bench.on(new StoreEvent.MarkerAppeared(new LockName("b"), limit, bench.zxid()));
    }
    read(holder, true);
    // Then
    assertThat(bench.all(Effect.PublishGap.class)).hasSize(2); // the first is that of the start
    assertThat(bench.answers(call)).hasSize(1);
    assertThat(published()).hasSizeLessThan(10).allMatch(c -> c.lock().value().equals("b"));
  }

  @Test
  void entriesOfLocksThatNobodyWatchesAreNotRead() {
    // Given
    bench = Bench.unwatched();
    bench.watch(Set.of(new LockName("b")), "");
    // When
    bench.foreign("a", ELSEWHERE, MutexKind.EXCLUSIVE);
    // Then
    assertThat(bench.all(StoreEffect.ReadDetails.class)).isEmpty();
    assertThat(published()).singleElement().matches(LockChange::isUndescribed);
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
