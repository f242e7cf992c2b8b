package io.lockkeeper.client.internal.lease;

import java.util.concurrent.TimeUnit;

/**
 * Until when a lease may be relied upon, by the client's own monotonic clock: the sending of the
 * last acknowledged keep-alive plus what the server promised, less a margin. It never moves back:
 * an acknowledgment that is late, repeated or out of order neither extends it past its own sending
 * plus promise, nor shortens it. One thread extends it, any thread may read it.
 */
public final class Validity {

  /** Two percent of the promise, for clocks of unequal rate. */
  private static final long RATE_DIVISOR = 50;

  /** For the time between reading the clock and acting on it. */
  private static final long CONSTANT_MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private volatile long untilNanos;

  public Validity(long sentAtNanos, long validForNanos) {
    untilNanos = deadline(sentAtNanos, validForNanos);
  }

  private static long deadline(long sentAtNanos, long validForNanos) {
    long promised = Math.max(0, validForNanos);
    return sentAtNanos + promised - promised / RATE_DIVISOR - CONSTANT_MARGIN_NANOS;
  }

  /** Extends it by a promise of {@code validForNanos} for a request sent at {@code sentAtNanos}. */
  public void extend(long sentAtNanos, long validForNanos) {
    long candidate = deadline(sentAtNanos, validForNanos);
    if (candidate - untilNanos > 0) {
      untilNanos = candidate;
    }
  }

  /** Returns the deadline as a reading of the clock. */
  public long untilNanos() {
    return untilNanos;
  }

  /** Returns how much is left at {@code nowNanos}; zero or below: nothing. */
  public long remainingNanos(long nowNanos) {
    return untilNanos - nowNanos;
  }
}
