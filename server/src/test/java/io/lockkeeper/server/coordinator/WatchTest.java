package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.LockChange;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.LockView;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WatchTest {

  private static final LockName A = new LockName("a");
  private static final WatchFilter ALL = new WatchFilter(Set.of(), "");

  private final Recorder recorder = new Recorder();
  private long revision = 7;
  private final Watch.Source source =
      new Watch.Source() {
        @Override
        public Iterable<LockName> names(WatchFilter filter) {
          return List.of(A);
        }

        @Override
        public LockView view(LockName lock) {
          return new LockView(
              lock, List.of(), 1, List.of(), 5, OptionalInt.empty(), Optional.empty());
        }

        @Override
        public long revision() {
          return revision;
        }
      };
  private final Watch watch = new Watch(ALL, recorder, source);

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
    public void onChange(LockChange change) {
      revisions.add(change.revision());
      heard.add(change.cause() + " " + change.lock() + " x" + change.coalesced());
    }

    @Override
    public void onGap(String reason) {
      heard.add("gap");
    }

    @Override
    public void onRefused(RefusedException why) {
      heard.add("refused " + why.failure().kind());
    }
  }

  private static LockChange change(LockName lock, long revision) {
    return new LockChange(
        revision, lock, LockChange.Cause.GRANTED, Optional.empty(), List.of(), 0, 1);
  }

  @Test
  void snapshotComesFirstAndThenEveryChange() {
    // Given
    watch.startSnapshot();
    // When
    watch.offer(change(A, 8));
    watch.offer(change(A, 9));
    // Then
    assertThat(recorder.heard)
        .containsExactly("snapshot a", "end 7", "GRANTED a x1", "GRANTED a x1");
  }

  @Test
  void changesForASlowWatcherAreCoalescedPerLockAndItIsToldHowMany() {
    // Given
    watch.startSnapshot();
    recorder.heard.clear();
    recorder.ready = false;
    // When
    for (int revision = 8; revision < 11; revision++) {
      watch.offer(change(A, revision));
    }
    recorder.ready = true;
    watch.pump();
    // Then
    assertThat(recorder.heard).containsExactly("SEVERAL a x3");
  }

  @Test
  void watcherThatIsFarTooSlowGetsAGapAndANewSnapshotAndCostsBoundedMemory() {
    // Given
    watch.startSnapshot();
    recorder.heard.clear();
    recorder.ready = false;
    // When
    for (int i = 0; i < 5_000; i++) {
      watch.offer(change(new LockName("l" + i), i));
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
    watch.startSnapshot();
    watch.offer(change(A, 8));
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
    watch.startSnapshot();
    recorder.revisions.clear();
    recorder.ready = false;
    // When
    watch.offer(change(A, 10));
    watch.offer(change(b, 20));
    watch.offer(change(A, 50));
    recorder.ready = true;
    watch.pump();
    // Then
    assertThat(recorder.revisions).containsExactly(20L, 50L);
  }

  @Test
  void endOfASnapshotPromisesNoMoreThanWasKnownWhenItBegan() {
    // Given
    recorder.ready = false;
    watch.startSnapshot();
    // When
    revision = 9;
    watch.offer(change(A, 9));
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
  void watchBeyondTheCapIsRefused() {
    // Given
    WatchHub hub = new WatchHub(0);
    // When
    hub.start(watch, 0, true);
    // Then
    assertThat(recorder.heard).containsExactly("refused TOO_MANY");
  }

  @Test
  void changesAreWantedOnlyWhileSomebodyWatchesOrMayComeBack() {
    // Given
    WatchHub hub = new WatchHub(1);
    List<Boolean> wanted = new ArrayList<>();
    hub.listen(wanted::add);
    pass(hub, WatchHub.TICKS_KEPT - 1);
    assertThat(wanted).isEmpty();
    // When
    hub.tick();
    hub.start(watch, 0, true);
    pass(hub, WatchHub.TICKS_KEPT);
    // Then
    assertThat(wanted).containsExactly(false, true);
  }

  @Test
  void watcherThatComesBackWhenChangesWereNotToldIsToldOfAGap() {
    // Given
    WatchHub hub = new WatchHub(1);
    hub.connect(source);
    hub.publish(change(A, 5));
    pass(hub, WatchHub.TICKS_KEPT);
    // When
    hub.start(watch, 5, true);
    hub.publish(change(A, 8));
    // Then
    assertThat(recorder.heard).containsExactly("gap", "snapshot a", "end 7", "GRANTED a x1");
  }

  private static void pass(WatchHub hub, int ticks) {
    for (int tick = 0; tick < ticks; tick++) {
      hub.tick();
    }
  }
}
