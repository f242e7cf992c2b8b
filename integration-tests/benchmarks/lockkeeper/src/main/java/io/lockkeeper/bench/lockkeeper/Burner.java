package io.lockkeeper.bench.lockkeeper;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes as much of the processors as an attack did, and does nothing with it: what others lose to
 * that, they lose to the machine that they share with the attacker.
 */
final class Burner implements Attack {

  private static final long SLICE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final int threads = Runtime.getRuntime().availableProcessors();
  private final double share;
  private volatile boolean stopped;

  /** Will take so many cores, spread over all that there are. */
  Burner(double cores) {
    share = Math.min(1, cores / threads);
  }

  @Override
  public void begin() {
    for (int i = 0; i < threads; i++) {
      new Thread(this::burn, "burner-" + i).start();
    }
  }

  @Override
  public void end() {
    stopped = true;
  }

  private void burn() {
    long startNanos = System.nanoTime();
    long burntBefore = THREADS.getCurrentThreadCpuTime();
    while (!stopped) {
      double due = (System.nanoTime() - startNanos) * share;
      if (THREADS.getCurrentThreadCpuTime() - burntBefore < due) {
        long end = System.nanoTime() + SLICE_NANOS;
        while (System.nanoTime() < end) {
          Thread.onSpinWait();
        }
      } else {
        LockSupport.parkNanos(SLICE_NANOS);
      }
    }
  }
}
