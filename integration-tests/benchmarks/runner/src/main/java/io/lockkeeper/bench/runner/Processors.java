package io.lockkeeper.bench.runner;

import java.util.Arrays;
import java.util.Collections;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * How fast the processors are. They share the last of their caches, the memory, and perhaps their
 * cores with whatever else runs on the host: a system that goes through much memory for each
 * request may be three times slower on one day than on another, beside one that is as fast as ever.
 *
 * @param sorts how often in a millisecond one processor sorts a few thousand numbers while the
 *     others have nothing to do
 * @param atOnce how many times as much all of them do together: at best, how many there are
 * @param readNanos how many nanoseconds a read takes somewhere in four megabytes, when the next one
 *     cannot begin before it
 */
record Processors(double sorts, double atOnce, double readNanos) {

  private static final long WINDOW_NANOS = 500_000_000L;
  private static final int NUMBERS = 4_096;
  private static final int STRIDE = 16; // A line of the cache.
  private static final int LINES = (4 << 20) / (STRIDE * Integer.BYTES);

  /** Measures them, for some two seconds. */
  static Processors measure() throws InterruptedException {
    int all = Runtime.getRuntime().availableProcessors();
    ExecutorService threads = Executors.newFixedThreadPool(all);
    try {
      double unusedSinceCompiling = sorts(threads, 1) + read();
      double alone = sorts(threads, 1);
      return new Processors(alone, sorts(threads, all) / alone, read());
    } finally {
      threads.shutdownNow();
    }
  }

  private static double sorts(ExecutorService threads, int count) throws InterruptedException {
    double sum = 0;
    try {
      Callable<Double> sorting = Processors::sort;
      for (Future<Double> each : threads.invokeAll(Collections.nCopies(count, sorting))) {
        sum += each.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("numbers could not be sorted", e);
    }
    return sum;
  }

  private static double sort() {
    int[] numbers = new Random(1).ints(NUMBERS).toArray();
    return 1e6 / nanosOf(() -> Arrays.sort(numbers.clone()));
  }

  private static double read() {
    int[] next = oneRound();
    return nanosOf(() -> goRound(next)) / LINES;
  }

  private static double nanosOf(Runnable work) {
    long start = System.nanoTime();
    long end = start;
    long done = 0;
    while (end - start < WINDOW_NANOS) {
      work.run();
      done++;
      end = System.nanoTime();
    }
    return (double) (end - start) / done;
  }

  private static void goRound(int[] next) {
    int at = 0;
    do {
      at = next[at];
    } while (at != 0);
  }

  /** Returns where to read next, so that all lines are read once a round, in no order. */
  private static int[] oneRound() {
    int[] next = new int[LINES * STRIDE];
    int[] order = new int[LINES];
    Random random = new Random(1);
    for (int i = 0; i < LINES; i++) {
      int other = random.nextInt(i + 1);
      order[i] = order[other];
      order[other] = i;
    }
    for (int i = 0; i < LINES; i++) {
      next[order[i] * STRIDE] = order[(i + 1) % LINES] * STRIDE;
    }
    return next;
  }
}
