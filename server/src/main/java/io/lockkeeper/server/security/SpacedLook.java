package io.lockkeeper.server.security;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Looks at a file whose content is taken when two looks in a row have found it. So that one that is
 * being written is not taken by half, a look that comes too soon after the last one waits, whoever
 * made that: the timer, or somebody who wants the file read at once. For any thread that may wait.
 */
public final class SpacedLook implements Runnable {

  static final Duration PAUSE = Duration.ofMillis(200);

  private final Runnable look;
  private final LongSupplier nanoClock;
  private final LongConsumer waiting;
  private long lookedAtNanos;

  /** Makes one that has not looked yet. */
  public SpacedLook(Runnable look) {
    this(look, System::nanoTime, LockSupport::parkNanos);
  }

  /**
   * Makes one that has not looked yet.
   *
   * @param waiting waits for so many nanoseconds, or less
   */
  SpacedLook(Runnable look, LongSupplier nanoClock, LongConsumer waiting) {
    this.look = look;
    this.nanoClock = nanoClock;
    this.waiting = waiting;
    this.lookedAtNanos = nanoClock.getAsLong() - PAUSE.toNanos();
  }

  /** Looks, unless the thread is interrupted while it waits. */
  @Override
  public synchronized void run() {
    for (long left = left(); left > 0; left = left()) {
      if (Thread.currentThread().isInterrupted()) {
        return;
      }
      waiting.accept(left);
    }
    try {
      look.run();
    } finally {
      lookedAtNanos = nanoClock.getAsLong();
    }
  }

  private long left() {
    return PAUSE.toNanos() - (nanoClock.getAsLong() - lookedAtNanos);
  }
}
