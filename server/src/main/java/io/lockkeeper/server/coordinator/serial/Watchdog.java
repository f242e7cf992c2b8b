package io.lockkeeper.server.coordinator.serial;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Ends the process when its event loop hangs while its ZooKeeper threads keep the sessions alive:
 * locks that nobody serves would otherwise be held for ever. Counts its own checks and not the
 * time, so that a pause of the whole process does not look like a hang.
 */
public final class Watchdog {

  private final LongSupplier progress;
  private final Runnable onHang;
  private final int patience;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private long last = Long.MIN_VALUE;
  private int unchanged;

  /**
   * Makes a watchdog.
   *
   * @param progress changes while the loop is alive
   * @param patience how many checks in a row without progress are a hang
   * @param onHang what to do then
   */
  public Watchdog(LongSupplier progress, int patience, Runnable onHang) {
    this.progress = progress;
    this.patience = patience;
    this.onHang = onHang;
  }

  /** Checks every {@code periodMillis} on a thread of its own. */
  public void start(long periodMillis) {
    Thread thread = new Thread(() -> watch(periodMillis), "lockkeeper-watchdog");
    thread.setDaemon(true);
    thread.start();
  }

  private void watch(long periodMillis) {
    try {
      while (!stopped.await(periodMillis, TimeUnit.MILLISECONDS)) {
        check();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Looks once. */
  public void check() {
    long now = progress.getAsLong();
    unchanged = now == last ? unchanged + 1 : 0;
    last = now;
    if (unchanged == patience) {
      onHang.run();
    }
  }

  public void stop() {
    stopped.countDown();
  }
}
