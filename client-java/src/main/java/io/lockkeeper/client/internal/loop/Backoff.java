package io.lockkeeper.client.internal.loop;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** Exponential backoff with jitter: how long to wait before the next attempt. */
public final class Backoff {

  private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final int MAX_DOUBLINGS = 6;
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final int RETRY_FAILURES = 5;
  private static final long LONGEST_NANOS = TimeUnit.DAYS.toNanos(1);

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

  /**
   * Returns the wait before a server that has refused something is asked for it again: as long as
   * it says, but not at once; 400 to 800 ms if it does not say how long.
   */
  public long retryNanos(OptionalLong askedNanos) {
    return askedNanos.isPresent()
        ? Math.max(nanosAfter(1), withJitter(askedNanos.getAsLong()))
        : nanosAfter(RETRY_FAILURES);
  }

  /**
   * Returns up to a quarter more than {@code nanos}, of a day at most, so that clients that were
   * told the same do not all come at once.
   */
  public long withJitter(long nanos) {
    long asked = Math.max(0, Math.min(LONGEST_NANOS, nanos));
    return asked + random.nextLong(asked / 4 + 1);
  }
}
