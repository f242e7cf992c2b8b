package io.lockkeeper.server.rpc.forward;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * Tells whether this process itself was at a standstill, or had so much to do that answers lay
 * about unheard. What others have not answered meanwhile says nothing about them.
 */
final class StallDetector {

  private static final long STALL_NANOS = 750_000_000L;

  private final LongSupplier clock;
  private final AtomicBoolean beating = new AtomicBoolean();
  private volatile long lastBeatNanos;
  private volatile long lastStallNanos;

  StallDetector() {
    this(System::nanoTime);
  }

  StallDetector(LongSupplier clock) {
    this.clock = clock;
    lastBeatNanos = clock.getAsLong();
    lastStallNanos = lastBeatNanos - STALL_NANOS;
  }

  /**
   * Beats as soon as {@code threads} come to it. To be called some times in a second, with the
   * threads that hear what others answer.
   */
  void beatOn(Executor threads) {
    // One at a time: beats that queue up would come evenly however late they are.
    if (beating.compareAndSet(false, true)) {
      threads.execute(this::beat);
    }
  }

  private void beat() {
    long now = clock.getAsLong();
    if (now - lastBeatNanos > STALL_NANOS) {
      lastStallNanos = now;
    }
    lastBeatNanos = now;
    beating.set(false);
  }

  /** Returns whether the process has run, and was not behind, all the time since then. */
  boolean isSteadySince(long nanos) {
    return clock.getAsLong() - lastBeatNanos <= STALL_NANOS && lastStallNanos - nanos < 0;
  }
}
