package io.lockkeeper.server.coordinator.watch;

import io.lockkeeper.server.core.api.LockChange;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** The newest changes, for watchers that come back. On the event loop only. */
final class WatchHistory {

  private static final int KEPT = 8_192;

  private final Deque<LockChange> changes = new ArrayDeque<>();
  private long completeFrom = Long.MAX_VALUE;
  private long floor;

  /** Keeps a change, and forgets the oldest one if there are too many. */
  void add(LockChange change) {
    if (change.revision() > floor) {
      completeFrom = Math.min(completeFrom, change.revision());
    }
    changes.addLast(change);
    if (changes.size() > KEPT) {
      // Changes of one transaction share a revision: what is left of the evicted one's is not
      // complete.
      completeFrom = changes.removeFirst().revision() + 1;
    }
  }

  /**
   * Forgets everything, because changes may have been missed: what comes next does not join on to
   * {@code revision}, the newest that was seen before, nor to anything that a peer may have seen
   * meanwhile.
   */
  void clear(long revision) {
    changes.clear();
    completeFrom = Long.MAX_VALUE;
    floor = revision;
  }

  /**
   * Returns the changes from {@code revision} on, or empty if some may be missing. The changes of
   * that very revision come again, since the watcher may have seen only some of them.
   */
  Optional<List<LockChange>> since(long revision) {
    if (revision < completeFrom) {
      return Optional.empty();
    }
    return Optional.of(changes.stream().filter(c -> c.revision() >= revision).toList());
  }
}
