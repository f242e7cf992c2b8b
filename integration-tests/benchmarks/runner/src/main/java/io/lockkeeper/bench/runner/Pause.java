package io.lockkeeper.bench.runner;

import java.util.concurrent.TimeUnit;

/** Waits while something is measured, or comes to rest. */
final class Pause {

  private Pause() {}

  /** Waits so long. */
  static void millis(long millis) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(millis);
  }
}
