package io.lockkeeper.bench.load;

import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Recorder;

/** Counts what clients do; all methods may be called by any thread. */
public final class Tally {

  private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final int DIGITS = 3;

  private final LongAdder cycles = new LongAdder();
  private final Recorder acquire = new Recorder(1, LONGEST_NANOS, DIGITS);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final CountDownLatch over = new CountDownLatch(1);
  private final long quota;

  /** Makes a tally of which one can await {@code quota} cycles; 0: no end. */
  public Tally(long quota) {
    this.quota = quota;
  }

  /** Counts a lock that was granted. */
  public void acquired(long nanos) {
    acquire.recordValue(Math.min(nanos, LONGEST_NANOS));
  }

  /** Counts a release that has completed, and with it a cycle. */
  public void released() {
    cycles.increment();
    // Summed up now and then only: it is not free, and the rate counts, not the last few.
    if (quota > 0 && (System.nanoTime() & 63) == 0 && cycles.sum() >= quota) {
      over.countDown();
    }
  }

  /** Tells that a client cannot go on: the order has failed. */
  public void failed(Throwable cause) {
    failure.compareAndSet(null, cause);
    over.countDown();
  }

  /** Waits for so long, or until the quota is reached or a client has failed. */
  public void await(long millis) throws InterruptedException {
    boolean early = over.await(millis, TimeUnit.MILLISECONDS);
    if (early && failure.get() != null) {
      throw new IllegalStateException("a client cannot go on", failure.get());
    }
  }

  /** Returns the cycles so far. */
  public long cycles() {
    return cycles.sum();
  }

  /** Returns what ended the order, if anything did. */
  public Optional<Throwable> failure() {
    return Optional.ofNullable(failure.get());
  }

  /** Returns how long acquires took since this was last asked. */
  public Latency latency() {
    return Latency.of(acquire.getIntervalHistogram());
  }
}
