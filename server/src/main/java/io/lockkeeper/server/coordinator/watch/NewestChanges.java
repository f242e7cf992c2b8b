package io.lockkeeper.server.coordinator.watch;

import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.lock.LockName;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** Changes that are coalesced: one for each lock, which says how many it stands for. */
final class NewestChanges {

  private final Map<LockName, WatchedChange> changes = new LinkedHashMap<>();

  void add(WatchedChange change) {
    LockName lock = change.change().lock();
    // Behind everything older: a watcher resumes from the last revision that it saw, and must have
    // missed nothing before.
    WatchedChange older = changes.remove(lock);
    changes.put(lock, older == null ? change : older.and(change));
  }

  boolean isEmpty() {
    return changes.isEmpty();
  }

  /** Returns how many locks have changed. */
  int size() {
    return changes.size();
  }

  /** Returns the changes in the order of their revisions. */
  Collection<WatchedChange> all() {
    return changes.values();
  }

  /** Removes the first of the changes, of which there must be one. */
  WatchedChange removeFirst() {
    WatchedChange first = changes.values().iterator().next();
    changes.remove(first.change().lock());
    return first;
  }

  /** Removes what has happened to a lock, if anything has. */
  void remove(LockName lock) {
    changes.remove(lock);
  }

  void clear() {
    changes.clear();
  }
}
