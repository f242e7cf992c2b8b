package io.lockkeeper.server.testing;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.EnumMap;
import java.util.Map;

/** The time and the bytes that each phase of some work took on the thread that did it. */
public final class PhaseCosts<P extends Enum<P>> {

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final Map<P, Cost> costs;

  private static final class Cost {
    private long nanos;
    private long bytes;
  }

  /** Makes a table of nothing yet. */
  public PhaseCosts(Class<P> phases) {
    costs = new EnumMap<>(phases);
  }

  /** Does work and adds what it took. */
  public void measure(P phase, Runnable work) {
    long self = Thread.currentThread().getId();
    long bytes = THREADS.getThreadAllocatedBytes(self);
    long start = System.nanoTime();
    work.run();
    long end = System.nanoTime();
    Cost cost = costs.computeIfAbsent(phase, p -> new Cost());
    cost.nanos += end - start;
    cost.bytes += THREADS.getThreadAllocatedBytes(self) - bytes;
  }

  /** Forgets what was measured. */
  public void clear() {
    costs.clear();
  }

  /** Prints each phase and their sum, divided by {@code count}. */
  public void print(double count) {
    Cost all = new Cost();
    costs.forEach(
        (phase, cost) -> {
          print(phase.name(), cost, count);
          all.nanos += cost.nanos;
          all.bytes += cost.bytes;
        });
    print("TOGETHER", all, count);
  }

  private static void print(String name, Cost cost, double count) {
    System.out.printf("%-10s %7.0f ns %7.0f bytes%n", name, cost.nanos / count, cost.bytes / count);
  }
}
