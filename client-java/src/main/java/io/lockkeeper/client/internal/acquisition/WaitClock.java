package io.lockkeeper.client.internal.acquisition;

import io.lockkeeper.client.internal.loop.Loop;
import java.time.Duration;
import java.util.Optional;

/**
 * How long a request has waited since it was made, wherever it was asked, and may wait.
 *
 * @param loop by whose clock
 * @param sinceNanos when it was made
 * @param limit how long it waits at most; empty: as long as it takes
 */
public record WaitClock(Loop loop, long sinceNanos, Optional<Duration> limit) {

  /** Makes that of a request that is made now. */
  static WaitClock start(Loop loop, Optional<Duration> limit) {
    return new WaitClock(loop, loop.nanos(), limit);
  }

  /** Returns for how long it has waited. */
  public long waitedNanos() {
    return loop.nanos() - sinceNanos;
  }

  /** Returns for how long it still may wait: below zero when that is over, if it has a limit. */
  public long leftNanos() {
    return limit.map(most -> Loop.toNanos(most) - waitedNanos()).orElse(Long.MAX_VALUE);
  }

  /** Returns whether its limit ended {@code graceNanos} ago, or earlier. */
  public boolean isOver(long graceNanos) {
    return leftNanos() <= -graceNanos;
  }
}
