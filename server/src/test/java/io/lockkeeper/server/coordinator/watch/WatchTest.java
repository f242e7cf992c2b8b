package io.lockkeeper.server.coordinator.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchListener;
import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class WatchTest {

  private static final LockName A = new LockName("a");
  private static final WatchFilter ALL = new WatchFilter(Set.of(), "");

  private final Recorder recorder = new Recorder();
  private long revision = 7;
  private long number;
  private final Watch watch = new Watch(ALL, recorder, new AtOnce());

  /** Answers at once what the mirror has: one lock with a waiter. */
  private class AtOnce implements Watch.Source {
    @Override
    public void read(Watch asking, List<LockName> names, Consumer<Watch.Part> answer) {
      answer.accept(part());
    }

    @Override
    public void wake(Watch woken) {
      woken.pump();
    }

    @Override
    public void end(Watch ended) {
      throw new AssertionError("nobody ends a watch here");
    }
  }

  private Watch.Part part() {
    return new Watch.Part(List.of(view(A)), List.of(), revision, number);
  }

  private static LockView view(LockName lock) {
    return new LockView(
        lock, List.of(), 1, List.of(), 5, OptionalInt.empty(), Optional.empty(), Optional.empty());
  }

  private static final class Recorder implements WatchListener {
    final List<String> heard = new ArrayList<>();
    final List<Long> revisions = new ArrayList<>();
    boolean ready = true;

    @Override
    public boolean isReady() {
      return ready;
    }

    @Override
    public void onSnapshot(LockView lock) {
      heard.add("snapshot " + lock.lock());
    }

    @Override
    public void onSnapshotEnd(long revision) {
      heard.add("end " + revision);
    }

    @Override
    public void onChange(WatchedChange watched) {
      LockChange change = watched.change();
      revisions.add(change.revision());
      heard.add(change.cause() + " " + change.lock() + " x" + change.coalesced());
    }

    @Override
    public void onGap(String reason) {
      heard.add("gap");
    }

    @Override
    public void onRefused(RefusedException why) {
      heard.add("refused " + why.failure().reason());
    }
  }

  private static LockChange change(LockName lock, long revision) {
    return new LockChange(
        revision, lock, LockChange.Cause.GRANTED, Optional.empty(), List.of(), 0, 1);
  }

  private void start() {
    watch.begin();
  }

  private void offer(LockChange change) {
    watch.offerAll(List.of(new WatchedChange(change, change.revision() + 1)));
  }

  @Test
  void snapshotComesFirstAndThenEveryChange() {
    // Given
    start();
    // When
    offer(change(A, 8));
    offer(change(A, 9));
    // Then
    assertThat(recorder.heard)
        .containsExactly("snapshot a", "end 7", "GRANTED a x1", "GRANTED a x1");
  }

  @Test
  void changesForASlowWatcherAreCoalescedPerLockAndItIsToldHowMany() {
    // Given
    start();
    recorder.heard.clear();
    recorder.ready = false;
    // When
    for (int revision = 8; revision < 11; revision++) {
      offer(change(A, revision));
    }
    recorder.ready = true;
    watch.pump();
    // Then
    assertThat(recorder.heard).containsExactly("SEVERAL a x3");
  }

  @Test
  void watcherThatIsFarTooSlowGetsAGapAndANewSnapshotAndCostsBoundedMemory() {
    // Given
    start();
    recorder.heard.clear();
    recorder.ready = false;
    // When
    for (int i = 0; i < 5_000; i++) {
      offer(change(new LockName("l" + i), i));
    }
    recorder.ready = true;
    watch.pump();
    // Then
    assertThat(recorder.heard).hasSizeLessThan(4_100).startsWith("gap", "snapshot a", "end 7");
  }

  @Test
  void changesDuringTheSnapshotComeAfterItsEnd() {
    // Given
    recorder.ready = false;
    start();
    offer(change(A, 8));
    // When
    recorder.ready = true;
    watch.pump();
    // Then
    assertThat(recorder.heard).containsExactly("snapshot a", "end 7", "GRANTED a x1");
  }

  @Test
  void coalescedChangesKeepTheOrderOfTheirRevisionsSoThatAResumeMissesNothing() {
    // Given
    LockName b = new LockName("b");
    start();
    recorder.revisions.clear();
    recorder.ready = false;
    // When
    offer(change(A, 10));
    offer(change(b, 20));
    offer(change(A, 50));
    recorder.ready = true;
    watch.pump();
    // Then
    assertThat(recorder.revisions).containsExactly(20L, 50L);
  }

  @Test
  void endOfASnapshotPromisesNoMoreThanWasKnownWhenItBegan() {
    // Given
    recorder.ready = false;
    start();
    // When
    revision = 9;
    offer(change(A, 9));
    recorder.ready = true;
    watch.pump();
    // Then
    assertThat(recorder.heard).containsExactly("snapshot a", "end 7", "GRANTED a x1");
  }

  @Test
  void historyGivesWhatWasMissedOrSaysThatItCannot() {
    // Given
    WatchHistory history = new WatchHistory();
    for (int revision = 1; revision <= 10_000; revision++) {
      history.add(change(A, revision));
    }
    // When
    Optional<List<LockChange>> recent = history.since(9_999);
    Optional<List<LockChange>> old = history.since(10_000 - 8_192);
    // Then
    assertThat(recent.orElseThrow())
        .extracting(LockChange::revision)
        .containsExactly(9_999L, 10_000L);
    assertThat(old).isEmpty();
  }

  @Test
  void historyAfterAGapDoesNotJoinOnToWhatWasBefore() {
    // Given
    WatchHistory history = new WatchHistory();
    history.add(change(A, 5));
    // When
    history.clear(9);
    // Then
    history.add(change(A, 9));
    assertThat(history.since(5)).isEmpty();
    assertThat(history.since(9)).isEmpty();
    history.add(change(A, 12));
    assertThat(history.since(10)).isEmpty();
    assertThat(history.since(12)).isPresent();
  }

  @Test
  void partOfASnapshotThatWasBegunAgainIsNotTold() {
    // Given
    List<Consumer<Watch.Part>> answers = new ArrayList<>();
    Watch asking =
        new Watch(
            ALL,
            recorder,
            new AtOnce() {
              @Override
              public void read(Watch asked, List<LockName> names, Consumer<Watch.Part> answer) {
                answers.add(answer);
              }
            });
    asking.begin();
    asking.restart("something was missed");
    // When
    answers.get(0).accept(part());
    List<String> early = List.copyOf(recorder.heard);
    answers.get(1).accept(part());
    // Then
    assertThat(early).isEmpty();
    assertThat(recorder.heard).containsExactly("gap", "snapshot a", "end 7");
  }

  @Test
  void changesThatTheSnapshotShowsAreNotToldAgain() {
    // Given
    number = 20;
    start();
    recorder.heard.clear();
    // When
    watch.offerAll(
        List.of(new WatchedChange(change(A, 6), 20), new WatchedChange(change(A, 8), 21)));
    // Then
    assertThat(recorder.revisions).containsExactly(8L);
  }

  @Test
  void changesThatALaterPartOfTheSnapshotShowsAreNotToldAfterIt() {
    // Given: two parts, and changes of the second one's lock before and after it is shown
    LockName late = new LockName("late");
    List<Consumer<Watch.Part>> answers = new ArrayList<>();
    Watch asking =
        new Watch(
            ALL,
            recorder,
            new AtOnce() {
              @Override
              public void read(Watch asked, List<LockName> names, Consumer<Watch.Part> answer) {
                answers.add(answer);
              }
            });
    asking.begin();
    answers.get(0).accept(new Watch.Part(List.of(view(A)), List.of(late), 7, 10));
    asking.offerAll(List.of(new WatchedChange(change(late, 8), 11)));
    // When
    answers.get(1).accept(new Watch.Part(List.of(view(late)), List.of(), 9, 12));
    asking.offerAll(
        List.of(
            new WatchedChange(change(late, 9), 12),
            new WatchedChange(change(A, 9), 12),
            new WatchedChange(change(late, 10), 13)));
    asking.caughtUp();
    asking.offerAll(List.of(new WatchedChange(change(late, 11), 14)));
    // Then
    assertThat(recorder.heard)
        .containsExactly(
            "snapshot a",
            "snapshot late",
            "end 7",
            "GRANTED a x1",
            "GRANTED late x1",
            "GRANTED late x1");
    assertThat(recorder.revisions).containsExactly(9L, 10L, 11L);
  }

  @Test
  void roundOfFewChangesForFewWatchersTellsThemAll() {
    // Given
    WatchRounds rounds = new WatchRounds();
    rounds.add(watch);
    start();
    recorder.heard.clear();
    // When
    rounds.changed(numbered(A, 500));
    rounds.slice(1_000);
    // Then
    assertThat(recorder.heard).hasSize(500);
    assertThat(rounds.hasWork()).isFalse();
  }

  @Test
  void roundOfManyChangesTellsTheNewestOfEachLock() {
    // Given
    WatchRounds rounds = new WatchRounds();
    rounds.add(watch);
    start();
    recorder.heard.clear();
    // When
    rounds.changed(numbered(A, 5_000));
    rounds.changed(numbered(new LockName("b"), 3));
    rounds.slice(1_000);
    // Then
    assertThat(recorder.heard).containsExactly("SEVERAL a x5000", "SEVERAL b x3");
  }

  @Test
  void sliceEndsWhenItHasDoneItsShareAndTheNextGoesOn() {
    // Given
    WatchRounds rounds = new WatchRounds();
    Recorder second = new Recorder();
    Watch other = new Watch(ALL, second, new AtOnce());
    rounds.add(watch);
    rounds.add(other);
    start();
    other.begin();
    recorder.heard.clear();
    second.heard.clear();
    rounds.changed(numbered(A, 10));
    // When
    rounds.slice(5);
    List<String> atFirst = List.copyOf(second.heard);
    rounds.slice(5);
    // Then
    assertThat(recorder.heard).hasSize(10);
    assertThat(atFirst).isEmpty();
    assertThat(second.heard).hasSize(10);
  }

  @Test
  void moreLocksThanAWindowHoldsMakeWatchersBeginAgain() {
    // Given
    WatchRounds rounds = new WatchRounds();
    rounds.add(watch);
    start();
    recorder.heard.clear();
    // When
    for (int i = 0; i <= WatchRounds.MAX_LOCKS; i++) {
      rounds.changed(numbered(new LockName("l" + i), 1));
    }
    rounds.slice(1_000);
    rounds.wake(watch);
    rounds.slice(1_000);
    // Then
    assertThat(recorder.heard).containsExactly("gap", "snapshot a", "end 7");
  }

  private static List<WatchedChange> numbered(LockName lock, int count) {
    List<WatchedChange> changes = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      changes.add(new WatchedChange(change(lock, 7 + i), i));
    }
    return changes;
  }
}
