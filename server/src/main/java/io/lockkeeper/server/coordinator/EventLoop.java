package io.lockkeeper.server.coordinator;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread that runs everything that is posted to it, in order, and a turn hook after each batch.
 *
 * <p>It notices when it has done nothing for longer than {@link #STALL_NANOS}: the process was
 * paused, and whatever was sent to it meanwhile has not been read.
 */
final class EventLoop {

  /** A pause that is longer than this is a stall, in nanoseconds. */
  static final long STALL_NANOS = 500_000_000L;

  private static final Logger LOG = LoggerFactory.getLogger(EventLoop.class);
  private static final long IDLE_TURN_NANOS = 100_000_000L;
  private static final int BATCH = 1_024;

  private final LinkedBlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
  private final Turns turns;
  private final LongSupplier clock;
  private final Thread thread;
  private volatile boolean stopping;
  private long markNanos;
  private final AtomicLong turnCount = new AtomicLong();

  /** What is done around each batch, on the loop's thread. */
  interface Turns {
    /** The process did nothing for {@code nanos}; comes before anything else that is due. */
    void onStalled(long nanos);

    /** A batch is done. */
    void onTurn();

    /** Returns when {@link #onTurn} must be called next at the latest, on the loop's clock. */
    long nextTurnNanos();
  }

  EventLoop(Turns turns, LongSupplier clock) {
    this.turns = turns;
    this.clock = clock;
    this.thread = new Thread(this::run, "lockkeeper-loop");
  }

  void start() {
    thread.start();
  }

  boolean isAlive() {
    return thread.isAlive();
  }

  /** Adds a task, whatever the length of the queue. */
  void post(Runnable task) {
    queue.add(task);
  }

  /** Returns how many tasks wait. */
  int backlog() {
    return queue.size();
  }

  /** Returns a number that rises while the loop is alive. */
  long turnCount() {
    return turnCount.get();
  }

  /** Ends the loop after what has been posted so far, and waits for that, bounded. */
  void stop(long waitMillis) throws InterruptedException {
    post(() -> stopping = true);
    if (Thread.currentThread() != thread) {
      thread.join(waitMillis);
    }
  }

  private void run() {
    List<Runnable> batch = new ArrayList<>(BATCH);
    markNanos = clock.getAsLong();
    while (!stopping) {
      try {
        await(batch);
        noticeStall();
        queue.drainTo(batch, BATCH);
        for (Runnable task : batch) {
          runSafely(task);
          noticeStall();
        }
        batch.clear();
        runSafely(turns::onTurn);
        noticeStall();
        turnCount.incrementAndGet();
      } catch (InterruptedException e) {
        stopping = true;
      }
    }
  }

  /** Much work in small pieces is no stall; one gap between two looks at the clock is. */
  private void noticeStall() {
    long now = clock.getAsLong();
    long gap = now - markNanos;
    markNanos = now;
    if (gap > STALL_NANOS) {
      runSafely(() -> turns.onStalled(gap));
    }
  }

  private void await(List<Runnable> batch) throws InterruptedException {
    long wait = Math.min(IDLE_TURN_NANOS, turns.nextTurnNanos() - clock.getAsLong());
    Runnable first = wait <= 0 ? queue.poll() : queue.poll(wait, TimeUnit.NANOSECONDS);
    if (first != null) {
      batch.add(first);
    }
  }

  private void runSafely(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException e) {
      // One bad event must not end the service of all others.
      LOG.atError().setCause(e).log("an event could not be handled");
    }
  }
}
