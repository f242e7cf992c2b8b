package io.lockkeeper.client.internal;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Shows how far a loop has come; no work. It is reached when what was given before is done, and
 * what that left for the last as well.
 */
final class Mark implements Runnable {

  private static final long LOOK_MILLIS = 20;

  private final Loop loop;
  private final CountDownLatch reached = new CountDownLatch(1);
  private boolean passed;

  Mark(Loop loop) {
    this.loop = loop;
  }

  @Override
  public void run() {
    if (passed) {
      reached.countDown();
    } else {
      passed = true;
      loop.doLast(this);
    }
  }

  /** Waits until the loop has come here, or has ended; throws if that takes too long. */
  void awaitReached(BooleanSupplier loopHasEnded, long endNanos) {
    try {
      while (!loopHasEnded.getAsBoolean() && !reached.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        if (endNanos - System.nanoTime() < 0) {
          throw new IllegalStateException("the loop is busy and comes to no end");
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the loop", e);
    }
  }
}
