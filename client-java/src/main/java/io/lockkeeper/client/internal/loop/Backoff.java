package io.lockkeeper.client.internal.loop;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** Exponential backoff with jitter: how long to wait before the next attempt. */
public final class Backoff {

  private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final int MAX_DOUBLINGS = 6;
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final int RETRY_FAILURES = 5;

  private final RandomGenerator random;

  public Backoff(RandomGenerator random) {
    this.random = random;
  }

  /** Returns the wait after so many failures in a row: zero after none, 2 s at most. */
  public long nanosAfter(int failures) {
    if (failures == 0) {
      return 0;
    }
    long full = Math.min(MAX_NANOS, FIRST_NANOS << Math.min(failures - 1, MAX_DOUBLINGS));
    return full / 2 + random.nextLong(full / 2 + 1);
  }

  /** Returns the wait between attempts while a server says that it cannot serve: 400 to 800 ms. */
  public long retryNanos() {
    return nanosAfter(RETRY_FAILURES);
  }

  /**
   * Returns up to a quarter more than {@code nanos}, so that clients that were told the same do not
   * all come at once.
   */
  public long withJitter(long nanos) {
    return nanos + random.nextLong(nanos / 4 + 1);
  }
}
