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
  private static final int FIRST_CYCLE_TRIES = 3_000;
  private static final long FIRST_CYCLE_MILLIS = 10;

  private final LongAdder cycles = new LongAdder();
  private final Recorder acquire = new Recorder(1, LONGEST_NANOS, DIGITS);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final CountDownLatch over = new CountDownLatch(1);
  private final long quota;
  private volatile long begun;
  private volatile boolean counting;

  /** Makes a tally of which one can await {@code quota} cycles; 0: no end. */
  public Tally(long quota) {
    this.quota = quota;
  }

  /** Forgets what was before: from here on it counts. */
  public void begin() {
    Latency unused = latency();
    begun = cycles.sum();
    counting = true;
  }

  /** Counts a lock that was granted. */
  public void acquired(long nanos) {
    acquire.recordValue(Math.min(nanos, LONGEST_NANOS));
  }

  /** Counts a release that has completed, and with it a cycle. */
  public void released() {
    cycles.increment();
    // Summed up now and then only: it is not free, and the rate counts, not the last few.
    if (counting && quota > 0 && (System.nanoTime() & 63) == 0 && cycles.sum() - begun >= quota) {
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

  /** Waits for the first cycle, or the first since {@link #begin}: half a minute at most. */
  public void awaitCycle() throws InterruptedException {
    for (int i = 0; i < FIRST_CYCLE_TRIES && cycles() == 0; i++) {
      await(FIRST_CYCLE_MILLIS);
    }
  }

  /** Returns the cycles since {@link #begin}. */
  public long cycles() {
    return cycles.sum() - begun;
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
