package io.lockkeeper.server.coordinator.watch;

import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchHandle;
import io.lockkeeper.server.coordinator.api.WatchListener;
import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One watcher. What it cannot take now is kept back: the rest of the snapshot, by name, and one
 * coalesced change for each lock; where that would be too many, a gap and a new snapshot take their
 * place. On the watchers' thread only, but for the methods of the handle.
 */
final class Watch implements WatchHandle {

  /** How many locks may have changes kept back. */
  private static final int MAX_BACKLOG = 4_096;

  /** How many locks of a snapshot are read at once. */
  static final int PART_LOCKS = 64;

  private final WatchFilter filter;
  private final WatchListener listener;
  private final Source source;
  private final Deque<LockName> unread = new ArrayDeque<>();
  private final Deque<LockView> views = new ArrayDeque<>();
  private final NewestChanges backlog = new NewestChanges();

  /** Up to which change later parts of the snapshot show their locks: what comes late is older. */
  private final Map<LockName, Long> shown = new HashMap<>();

  private Optional<String> gap = Optional.empty();
  private boolean snapshotting;
  private boolean asking;
  private long questions;
  private long snapshotRevision;
  // Nothing is new to it before it has begun or gone on.
  private long knownNumber = Long.MAX_VALUE;

  /** Where snapshots come from: the event loop, which answers on the watchers' thread. */
  interface Source {
    /**
     * Asks for locks as they are when that is answered.
     *
     * @param names which locks; none: all that the filter wants and that are in use, of which the
     *     first {@link #PART_LOCKS} are read
     */
    void read(Watch watch, List<LockName> names, Consumer<Part> answer);

    /** Returns the watch to the watchers' thread for a {@link #pump}. On any thread. */
    void wake(Watch watch);

    /** Ends the watch. On any thread. */
    void end(Watch watch);
  }

  /**
   * Part of a snapshot.
   *
   * @param locks locks that were asked for
   * @param unread the names of those that were not read
   * @param revision the newest revision
   * @param number the number of the newest change
   */
  record Part(List<LockView> locks, List<LockName> unread, long revision, long number) {}

  Watch(WatchFilter filter, WatchListener listener, Source source) {
    this.filter = filter;
    this.listener = listener;
    this.source = source;
  }

  WatchFilter filter() {
    return filter;
  }

  @Override
  public void ready() {
    source.wake(this);
  }

  @Override
  public void close() {
    source.end(this);
  }

  /** Begins with a snapshot. */
  void begin() {
    unread.clear();
    views.clear();
    backlog.clear();
    shown.clear();
    snapshotting = true;
    // Until its first part comes, nothing of an older snapshot is sent, nor its end.
    knownNumber = Long.MAX_VALUE;
    ask(List.of());
  }

  /** Goes on where another watch ended, {@code missed} being what changed since. */
  void resume(List<WatchedChange> missed, long number) {
    if (snapshotting) {
      return; // It has begun again meanwhile, and its snapshot has what was missed.
    }
    knownNumber = 0;
    offerAll(missed);
    // Unless that was too many, and it begins.
    knownNumber = Math.max(knownNumber, number);
  }

  /** Begins again: events may be missing. */
  void restart(String reason) {
    gap = Optional.of(reason);
    begin();
  }

  /** Takes changes; returns how many of them it wants. */
  int offerAll(Collection<WatchedChange> changes) {
    int wanted = 0;
    for (WatchedChange change : changes) {
      if (isNew(change) && filter.matches(change.change().lock())) {
        wanted++;
        offer(change);
      }
    }
    if (!shown.isEmpty()) {
      source.wake(this);
    }
    return wanted;
  }

  private boolean isNew(WatchedChange change) {
    return change.number() > knownNumber
        && change.number() > shown.getOrDefault(change.change().lock(), 0L);
  }

  /** Everything was offered that had happened when the last part of the snapshot was shown. */
  void caughtUp() {
    shown.clear();
  }

  private void offer(WatchedChange change) {
    if (!snapshotting && backlog.isEmpty() && listener.isReady()) {
      listener.onChange(change);
      return;
    }
    backlog.add(change);
    if (backlog.size() > MAX_BACKLOG) {
      restart("the watcher was too slow: more than " + MAX_BACKLOG + " locks changed meanwhile");
    }
  }

  /** Hands over as much as the listener takes; returns about how much that was. */
  int pump() {
    if (gap.isPresent() && listener.isReady()) {
      listener.onGap(gap.get());
      gap = Optional.empty();
    }
    int told = gap.isPresent() || !snapshotting ? 0 : pumpSnapshot();
    while (!snapshotting && !backlog.isEmpty() && listener.isReady()) {
      listener.onChange(backlog.removeFirst());
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
      if (!unread.isEmpty()) {
        ask(nextNames());
      } else {
        snapshotting = false;
        // What changed since the snapshot began is still to come.
        listener.onSnapshotEnd(snapshotRevision);
      }
    }
    return told;
  }

  private List<LockName> nextNames() {
    List<LockName> names = new ArrayList<>(PART_LOCKS);
    while (names.size() < PART_LOCKS && !unread.isEmpty()) {
      names.add(unread.removeFirst());
    }
    return names;
  }

  private void ask(List<LockName> names) {
    asking = true;
    questions++;
    long question = questions;
    source.read(
        this,
        names,
        part -> {
          if (question == questions) {
            take(part, names.isEmpty());
          }
        });
  }

  private void take(Part part, boolean first) {
    asking = false;
    if (first) {
      // Those that are in use from the beginning: others may come faster than they are read.
      unread.addAll(part.unread());
      snapshotRevision = part.revision();
      knownNumber = part.number();
    } else {
      for (LockView view : part.locks()) {
        shown.put(view.lock(), part.number());
        backlog.remove(view.lock());
      }
    }
    views.addAll(part.locks());
    source.wake(this);
  }

  void refuse(RefusedException why) {
    listener.onRefused(why);
  }
}
