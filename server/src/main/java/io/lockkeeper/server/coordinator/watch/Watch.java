package io.lockkeeper.server.coordinator.watch;

import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchListener;
import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One watcher. What it cannot take now is kept back: the names of the snapshot that are still to
 * come, and one coalesced change for each lock; where that would be too many, a gap and a new
 * snapshot take their place. On the watchers' thread only.
 */
public final class Watch {

  /** How many locks may have changes kept back. */
  private static final int MAX_BACKLOG = 4_096;

  private static final int VIEWS_AT_ONCE = 64;

  private final WatchFilter filter;
  private final WatchListener listener;
  private final Source source;
  private final Deque<LockName> snapshot = new ArrayDeque<>();
  private final Deque<LockView> views = new ArrayDeque<>();
  private final Map<LockName, WatchedChange> backlog = new LinkedHashMap<>();
  private Optional<String> gap = Optional.empty();
  private boolean snapshotting;
  private boolean asking;
  private long beginnings;
  private long snapshotRevision;
  // Nothing is new to it before it has begun or gone on.
  private long knownNumber = Long.MAX_VALUE;

  /** Where snapshots come from: the event loop, which answers on the watchers' thread. */
  public interface Source {
    /** Asks for a beginning: {@link #begin} follows. */
    void restart(Watch watch);

    /** Asks for locks as they are when that is answered. */
    void views(List<LockName> locks, Consumer<List<LockView>> answer);

    /** Returns the watch to the watchers' thread for a {@link #pump}. */
    void wake(Watch watch);
  }

  /**
   * What a snapshot begins with.
   *
   * @param names the locks in use that the filter wants
   * @param revision the newest revision
   * @param number the number of the newest change
   */
  public record Beginning(List<LockName> names, long revision, long number) {}

  public Watch(WatchFilter filter, WatchListener listener, Source source) {
    this.filter = filter;
    this.listener = listener;
    this.source = source;
  }

  WatchFilter filter() {
    return filter;
  }

  /** Begins with a snapshot. */
  public void begin(Beginning beginning) {
    beginnings++;
    asking = false;
    snapshot.clear();
    views.clear();
    backlog.clear();
    snapshot.addAll(beginning.names());
    snapshotting = true;
    snapshotRevision = beginning.revision();
    knownNumber = beginning.number();
    pump();
  }

  /** Goes on where another watch ended, {@code missed} being what changed since. */
  void resume(List<WatchedChange> missed, long number) {
    missed.forEach(this::offer);
    knownNumber = number;
  }

  /** Begins again: events may be missing. */
  void restart(String reason) {
    gap = Optional.of(reason);
    snapshot.clear();
    views.clear();
    backlog.clear();
    snapshotting = true;
    // Until the beginning comes, nothing of the old snapshot is sent, nor its end.
    asking = true;
    beginnings++;
    source.restart(this);
  }

  /** Takes changes; returns how many of them it wants. */
  public int offerAll(Collection<WatchedChange> changes) {
    int wanted = 0;
    for (WatchedChange change : changes) {
      if (change.number() > knownNumber && filter.matches(change.change().lock())) {
        wanted++;
        offer(change);
      }
    }
    return wanted;
  }

  private void offer(WatchedChange change) {
    if (!snapshotting && backlog.isEmpty() && listener.isReady()) {
      listener.onChange(change);
      return;
    }
    // Behind everything older, see WatchWindow.
    LockName lock = change.change().lock();
    WatchedChange older = backlog.remove(lock);
    backlog.put(lock, older == null ? change : older.and(change));
    if (backlog.size() > MAX_BACKLOG) {
      restart("the watcher was too slow: more than " + MAX_BACKLOG + " locks changed meanwhile");
    }
  }

  /** Hands over as much as the listener takes; returns about how much that was. */
  public int pump() {
    if (gap.isPresent() && listener.isReady()) {
      listener.onGap(gap.get());
      gap = Optional.empty();
    }
    int told = gap.isPresent() || !snapshotting ? 0 : pumpSnapshot();
    while (!snapshotting && !backlog.isEmpty() && listener.isReady()) {
      LockName first = backlog.keySet().iterator().next();
      Optional.ofNullable(backlog.remove(first)).ifPresent(listener::onChange);
      told++;
    }
    return told;
  }

  private int pumpSnapshot() {
    int told = 0;
    while (!views.isEmpty() && listener.isReady()) {
      LockView view = views.removeFirst();
      if (!view.holders().isEmpty() || view.queueLength() > 0) {
        listener.onSnapshot(view);
        told++;
      }
    }
    if (views.isEmpty() && !asking && listener.isReady()) {
      if (snapshot.isEmpty()) {
        snapshotting = false;
        // What changed since the snapshot began is still to come.
        listener.onSnapshotEnd(snapshotRevision);
      } else {
        askForViews();
      }
    }
    return told;
  }

  private void askForViews() {
    List<LockName> next = new ArrayList<>();
    while (next.size() < VIEWS_AT_ONCE && !snapshot.isEmpty()) {
      next.add(snapshot.removeFirst());
    }
    asking = true;
    long beginning = beginnings;
    source.views(
        next,
        found -> {
          if (beginning == beginnings) {
            asking = false;
            views.addAll(found);
            source.wake(this);
          }
        });
  }

  void refuse(RefusedException why) {
    listener.onRefused(why);
  }
}
