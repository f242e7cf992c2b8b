package io.lockkeeper.server.core.simulation;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * Runs the simulation with one seed after the other on all cores until its time or its range is
 * over, or it is stopped: {@code Soak MINUTES} or {@code Soak FIRST-LAST}. Says of each seed that
 * failed which rule was broken, and in its last line how many did; exits with 1 if any did.
 */
public final class Soak {

  /** Some rules name all that waits for each other. */
  private static final int MAX_TOLD = 100_000;

  private final long last;
  private final long endNanos;
  private final AtomicLong next;
  private final AtomicLong done = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();

  private Soak(long first, long last, Optional<Duration> time) {
    this.last = last;
    this.next = new AtomicLong(first);
    this.endNanos = System.nanoTime() + time.orElse(Duration.ofDays(365)).toNanos();
  }

  /** Runs what the arguments say. */
  public static void main(String[] arguments) throws InterruptedException {
    String wanted = arguments.length == 0 ? "10" : arguments[0];
    int dash = wanted.indexOf('-');
    Soak soak =
        dash > 0
            ? new Soak(
                Long.parseLong(wanted.substring(0, dash)),
                Long.parseLong(wanted.substring(dash + 1)),
                Optional.empty())
            : new Soak(
                // Never the same twice: whoever runs it again wants to see something new.
                1_000_000L + Math.floorMod(System.nanoTime(), 1_000_000_000L),
                Long.MAX_VALUE,
                Optional.of(Duration.ofMinutes(Long.parseLong(wanted))));
    System.exit(soak.run() == 0 ? 0 : 1);
  }

  private long run() throws InterruptedException {
    Runtime.getRuntime().addShutdownHook(new Thread(this::sayHowItWent));
    Thread[] workers =
        IntStream.range(0, Runtime.getRuntime().availableProcessors())
            .mapToObj(i -> new Thread(this::work, "soak-" + i))
            .toArray(Thread[]::new);
    for (Thread worker : workers) {
      worker.start();
    }
    for (Thread worker : workers) {
      worker.join();
    }
    return failed.get();
  }

  private void sayHowItWent() {
    System.out.printf("soak: %d seeds, %d failed%n", done.get(), failed.get());
  }

  private void work() {
    for (long seed = next.getAndIncrement();
        seed <= last && System.nanoTime() - endNanos < 0;
        seed = next.getAndIncrement()) {
      try {
        Sim.run(seed, Set.of());
      } catch (AssertionError broken) {
        failed.incrementAndGet();
        String rule = String.valueOf(broken.getMessage());
        System.out.println(rule.substring(0, Math.min(rule.length(), MAX_TOLD)));
      }
      done.incrementAndGet();
    }
  }
}
