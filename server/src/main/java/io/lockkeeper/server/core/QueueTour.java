package io.lockkeeper.server.core;

import io.lockkeeper.server.core.api.QueueExtremes;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.LockQueue;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;

/**
 * Looks at all queues, some at a time: a million of them in one go would keep everybody waiting.
 */
final class QueueTour {

  private final int queuesAtOnce;
  private Optional<LockName> next = Optional.empty();
  private QueueExtremes soFar = QueueExtremes.NONE;

  QueueTour(int queuesAtOnce) {
    this.queuesAtOnce = queuesAtOnce;
  }

  /** Looks at some more; returns the extremes of all, if those were the last. */
  Optional<QueueExtremes> goOn(NavigableMap<LockName, LockQueue> queues, long nowNanos) {
    int looked = 0;
    for (Map.Entry<LockName, LockQueue> queue :
        next.map(first -> queues.tailMap(first, true)).orElse(queues).entrySet()) {
      if (looked == queuesAtOnce) {
        next = Optional.of(queue.getKey());
        return Optional.empty();
      }
      looked++;
      lookAt(queue.getValue(), nowNanos);
    }
    QueueExtremes all = soFar;
    next = Optional.empty();
    soFar = QueueExtremes.NONE;
    return Optional.of(all);
  }

  private void lookAt(LockQueue queue, long nowNanos) {
    long oldestHold = soFar.oldestHoldNanos();
    long oldestWait = soFar.oldestWaitNanos();
    for (Entry holder : queue.holders()) {
      oldestHold = Math.max(oldestHold, nowNanos - holder.heldSinceNanos());
    }
    for (Entry waiter : queue.waiting() > 0 ? queue.waiters(1) : List.<Entry>of()) {
      oldestWait = Math.max(oldestWait, nowNanos - waiter.seenAtNanos());
    }
    if (queue.size() > soFar.longestQueue()
        || oldestHold > soFar.oldestHoldNanos()
        || oldestWait > soFar.oldestWaitNanos()) {
      soFar =
          new QueueExtremes(Math.max(soFar.longestQueue(), queue.size()), oldestHold, oldestWait);
    }
  }
}
