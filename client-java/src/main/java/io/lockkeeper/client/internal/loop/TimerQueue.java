package io.lockkeeper.client.internal.loop;

import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;

/**
 * The timers of a loop, the earliest first; of two that are due at the same time, the one that was
 * added first. For any thread.
 */
final class TimerQueue {

  /** By the difference of two readings of the clock, since a reading may wrap around. */
  private static final Comparator<Loop.Timer> EARLIEST_FIRST =
      (one, other) ->
          one.dueNanos == other.dueNanos
              ? Long.compare(one.number, other.number)
              : Long.signum(one.dueNanos - other.dueNanos);

  private final TreeSet<Loop.Timer> timers = new TreeSet<>(EARLIEST_FIRST);
  private long added;

  /** Adds a timer and returns whether it is the earliest now. */
  synchronized boolean add(Loop.Timer timer) {
    timer.number = ++added;
    timers.add(timer);
    return timers.first() == timer;
  }

  /** Removes a timer, if it is there. */
  synchronized void remove(Loop.Timer timer) {
    timers.remove(timer);
  }

  /** Removes and returns the earliest timer that is due at {@code nowNanos}. */
  synchronized Optional<Loop.Timer> pollDue(long nowNanos) {
    if (timers.isEmpty() || timers.first().dueNanos - nowNanos > 0) {
      return Optional.empty();
    }
    return Optional.ofNullable(timers.pollFirst());
  }

  synchronized int size() {
    return timers.size();
  }

  /** Returns when the earliest is due. */
  synchronized OptionalLong nextDueNanos() {
    return timers.isEmpty() ? OptionalLong.empty() : OptionalLong.of(timers.first().dueNanos);
  }

  synchronized void clear() {
    timers.clear();
  }
}
