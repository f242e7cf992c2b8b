package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.core.LockChange;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.LockView;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * One watcher. What it cannot take now is kept back: the names of the snapshot that are still to
 * come, and one coalesced change for each lock; where that would be too many, a gap and a new
 * snapshot take their place. On the event loop only.
 */
final class Watch {

  /** How many locks may have changes kept back. */
  private static final int MAX_BACKLOG = 4_096;

  private final WatchFilter filter;
  private final WatchListener listener;
  private final Source source;
  private final Deque<LockName> snapshot = new ArrayDeque<>();
  private final Map<LockName, LockChange> backlog = new LinkedHashMap<>();
  private Optional<String> gap = Optional.empty();
  private boolean snapshotting;
  private long snapshotRevision;

  /** Where snapshots come from. */
  interface Source {
    /** Returns the names of the locks in use that the filter wants. */
    Iterable<LockName> names(WatchFilter filter);

    /** Returns one lock as it is now. */
    LockView view(LockName lock);

    /** Returns the newest revision. */
    long revision();
  }

  Watch(WatchFilter filter, WatchListener listener, Source source) {
    this.filter = filter;
    this.listener = listener;
    this.source = source;
  }

  WatchFilter filter() {
    return filter;
  }

  /** Begins with a snapshot. */
  void startSnapshot() {
    snapshot.clear();
    backlog.clear();
    source.names(filter).forEach(snapshot::add);
    snapshotting = true;
    snapshotRevision = source.revision();
    pump();
  }

  /** Begins again: events may be missing. */
  void restart(String reason) {
    gap = Optional.of(reason);
    startSnapshot();
  }

  /** Takes a change that the filter wants. */
  void offer(LockChange change) {
    if (!snapshotting && backlog.isEmpty() && listener.isReady()) {
      listener.onChange(change);
      return;
    }
    // Behind everything older: a watcher resumes from the last revision that it saw, and must have
    // missed nothing before.
    LockChange older = backlog.remove(change.lock());
    backlog.put(change.lock(), older == null ? change : coalesce(older, change));
    if (backlog.size() > MAX_BACKLOG) {
      restart("the watcher was too slow: more than " + MAX_BACKLOG + " locks changed meanwhile");
    } else {
      pump();
    }
  }

  private static LockChange coalesce(LockChange older, LockChange newer) {
    return new LockChange(
        newer.revision(),
        newer.lock(),
        LockChange.Cause.SEVERAL,
        Optional.empty(),
        newer.holders(),
        newer.queueLength(),
        older.coalesced() + newer.coalesced());
  }

  /** Hands over as much as the listener takes. */
  void pump() {
    if (gap.isPresent() && listener.isReady()) {
      listener.onGap(gap.get());
      gap = Optional.empty();
    }
    while (gap.isEmpty() && !snapshot.isEmpty() && listener.isReady()) {
      LockView view = source.view(snapshot.removeFirst());
      if (!view.holders().isEmpty() || view.queueLength() > 0) {
        listener.onSnapshot(view);
      }
    }
    if (snapshotting && gap.isEmpty() && snapshot.isEmpty() && listener.isReady()) {
      snapshotting = false;
      // What changed since the snapshot began is still to come.
      listener.onSnapshotEnd(snapshotRevision);
    }
    while (!snapshotting && !backlog.isEmpty() && listener.isReady()) {
      LockName first = backlog.keySet().iterator().next();
      Optional.ofNullable(backlog.remove(first)).ifPresent(listener::onChange);
    }
  }

  void refuse(RefusedException why) {
    listener.onRefused(why);
  }
}
