package io.lockkeeper.server.core.state;

import java.util.Comparator;
import java.util.OptionalLong;
import java.util.TreeSet;

/**
 * Deadlines on the monotonic clock. What is due is run by the core on a tick; nothing here knows
 * the time.
 */
public final class Timers {

  /**
   * A deadline that was set.
   *
   * @param atNanos when
   * @param number breaks ties
   * @param action what to do then
   */
  public record Timer(long atNanos, long number, Runnable action) {}

  private static final Comparator<Timer> SOONEST_FIRST =
      // Differences, because nanoTime may overflow.
      ((Comparator<Timer>) (a, b) -> Long.signum(a.atNanos - b.atNanos))
          .thenComparingLong(Timer::number);

  private final TreeSet<Timer> timers = new TreeSet<>(SOONEST_FIRST);
  private long numbers;

  /** Sets a deadline. */
  public Timer at(long atNanos, Runnable action) {
    Timer timer = new Timer(atNanos, numbers++, action);
    timers.add(timer);
    return timer;
  }

  /** Takes a deadline back. */
  public void cancel(Timer timer) {
    timers.remove(timer);
  }

  /** Returns when the next deadline is. */
  public OptionalLong next() {
    return timers.isEmpty() ? OptionalLong.empty() : OptionalLong.of(timers.first().atNanos);
  }

  /** Runs everything that is due. */
  public void runDue(long nowNanos) {
    while (!timers.isEmpty() && timers.first().atNanos - nowNanos <= 0) {
      timers.pollFirst().action.run();
    }
  }

  public int size() {
    return timers.size();
  }
}
