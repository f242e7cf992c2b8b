package io.lockkeeper.server.coordinator.watch;

import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The changes between two rounds of telling the watchers: all of them while they are few, and the
 * newest of each lock.
 */
public final class WatchWindow {

  /** How many locks a window may have; beyond that watchers begin again with a snapshot. */
  public static final int MAX_LOCKS = 65_536;

  private static final int MAX_EXACT = 1_024;

  private final List<WatchedChange> exact = new ArrayList<>();
  private final Map<LockName, WatchedChange> newest = new LinkedHashMap<>();
  private boolean overflown;
  private long count;

  void add(WatchedChange change) {
    count++;
    if (count <= MAX_EXACT) {
      exact.add(change);
    }
    if (overflown) {
      return;
    }
    LockName lock = change.change().lock();
    // Behind everything older: a watcher resumes from the last revision that it saw, and must have
    // missed nothing before.
    WatchedChange older = newest.remove(lock);
    newest.put(lock, older == null ? change : older.and(change));
    if (newest.size() > MAX_LOCKS) {
      overflown = true;
      newest.clear();
    }
  }

  boolean isEmpty() {
    return count == 0;
  }

  /** Returns whether more locks have changed than it can hold. */
  boolean isOverflown() {
    return overflown;
  }

  /** Returns all changes if they are few enough for so many watchers, else the newest per lock. */
  Collection<WatchedChange> forWatchers(int watchers) {
    return count * watchers <= MAX_EXACT ? exact : newest.values();
  }
}
