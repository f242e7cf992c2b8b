package io.lockkeeper.server.coordinator.serial;

import io.lockkeeper.server.coordinator.api.CoordinatorClock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Runs everything that is posted to it one at a time and in order, and a hook after each batch: on
 * the thread that posts where nobody is at work, as {@link SerialExecutor} has it, and otherwise on
 * a thread of its own, which also sees to it that batches come when they are due.
 *
 * <p>It notices when it has done nothing for longer than {@link #STALL_NANOS}: the process was
 * paused, and whatever was sent to it meanwhile has not been read. And it notices when the wall
 * clock has gone on by more than that without the loop's: the machine was suspended.
 *
 * <p>It stops at the first exception or error: a task that throws leaves what it changes half
 * changed, and nobody can tell what else is wrong. What may fail alone is contained by whoever
 * calls it, see {@link Listeners}.
 */
public final class EventLoop {

  /** A pause that is longer than this is a stall, in nanoseconds. */
  static final long STALL_NANOS = 500_000_000L;

  private static final long IDLE_BATCH_NANOS = 100_000_000L;
  private static final long BUSY_NANOS = 1_000_000L;

  private final BatchListener listener;
  private final CoordinatorClock clock;
  private final Thread thread;
  private final SerialExecutor executor;
  private final AtomicBoolean relieving = new AtomicBoolean();
  private final AtomicLong batchCount = new AtomicLong();
  private final AtomicBoolean failed = new AtomicBoolean();
  private volatile boolean stopping;
  // Stopped or failed.
  private volatile boolean over;
  private volatile long wakeAtNanos;
  private volatile long nextBatchNanos;
  // Touched by whoever has the executor.
  private long markNanos;
  private long wallAheadNanos;
  private boolean failureTold;

  /** What is done around each batch, by whoever runs it. */
  public interface BatchListener {
    /** The process did nothing for {@code nanos}; comes before anything else that is due. */
    void onStalled(long nanos);

    /**
     * The wall clock has gone {@code nanos} further than the loop's: the machine was suspended, or
     * the wall clock was set. Comes before anything else, too.
     */
    void onClockStopped(long nanos);

    /**
     * A batch is done.
     *
     * @param nowNanos the time when a stall was last looked for: whoever took it anew might find
     *     something due of which one that began meanwhile has kept it from hearing
     */
    void onBatchEnd(long nowNanos);

    /** Returns when {@link #onBatchEnd} must be called next at the latest, on the loop's clock. */
    long nextBatchNanos();

    /**
     * The loop has failed, and nothing runs on it any more. Called once, on whatever thread it
     * failed on, and before anything else: the process should end here.
     *
     * @param cause what was thrown
     */
    void onFailed(Throwable cause);

    /**
     * The process lives although the loop has failed: whoever waits for something waits in vain.
     */
    void onAbandoned();
  }

  public EventLoop(BatchListener listener, CoordinatorClock clock) {
    this.listener = listener;
    this.clock = clock;
    this.thread = new Thread(this::attend, "lockkeeper-loop");
    this.executor = new SerialExecutor(new Batches(), this::relieve);
  }

  /** A task whose poster waits for something that comes of it. */
  public interface Awaited extends Runnable {
    /** The task will not be run, because the loop has failed or was stopped. */
    void onDropped();
  }

  private final class Batches implements SerialExecutor.Runner {
    @Override
    public void run(Runnable task) {
      if (over) {
        drop(task);
      } else {
        noticeStall();
        task.run();
      }
    }

    @Override
    public void onBatchEnd() {
      if (!over) {
        endBatch();
      } else {
        // Only stopping is still to come, and that wakes the thread.
        nextBatchNanos = clock.nanos() + IDLE_BATCH_NANOS;
      }
    }

    @Override
    public void runLast(Runnable action) {
      // Once the loop has failed, what earlier tasks of the batch put off is not done either: it is
      // as if the process had ended before it.
      if (!failed.get()) {
        action.run();
      }
    }

    @Override
    public void onThrown(Throwable thrown) {
      fail(thrown);
    }

    private void endBatch() {
      noticeStall();
      listener.onBatchEnd(markNanos);
      noticeStall();
      batchCount.incrementAndGet();
      nextBatchNanos = listener.nextBatchNanos();
      // Its own thread looks before it parks; a permit would only let it run in circles.
      if (nextBatchNanos - wakeAtNanos < 0 && Thread.currentThread() != thread) {
        clock.unpark(thread);
      }
    }
  }

  public void start() {
    thread.start();
  }

  public boolean isAlive() {
    return thread.isAlive();
  }

  /** Adds a task, whatever the length of the queue, and may run it before it returns. */
  public void post(Runnable task) {
    executor.pass(task);
  }

  /** Runs {@code posts}, which posts several tasks, and makes one batch of them if it can. */
  public void together(Runnable posts) {
    executor.together(posts);
  }

  /** Returns how many tasks wait. */
  public int backlog() {
    return executor.backlog();
  }

  /** Returns a number that rises while the loop is alive. */
  public long batchCount() {
    return batchCount.get();
  }

  /**
   * Says that the state which the tasks share is in doubt, here or in what they use: no task runs
   * from now on, nor what was put off to the end of a batch. May be called on any thread; the first
   * time counts.
   */
  public void fail(Throwable cause) {
    if (failed.compareAndSet(false, true)) {
      over = true;
      listener.onFailed(cause);
      // Whatever comes first, tells those who wait.
      post(() -> {});
    }
  }

  /** Returns whether the loop has failed. */
  public boolean hasFailed() {
    return failed.get();
  }

  /** Ends the loop after what has been posted so far, and waits for that, bounded. */
  public void stop(long waitMillis) throws InterruptedException {
    post(new StopTask());
    if (Thread.currentThread() != thread) {
      thread.join(waitMillis);
    }
  }

  private final class StopTask implements Awaited {
    @Override
    public void run() {
      over = true;
      stopping = true;
      clock.unpark(thread);
    }

    @Override
    public void onDropped() {
      run();
    }
  }

  /** Without its own thread nothing would come when it is due: that fails as a task does. */
  private void attend() {
    try {
      keepTurning();
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private void keepTurning() {
    markNanos = clock.nanos();
    wallAheadNanos = wallAhead();
    nextBatchNanos = markNanos;
    executor.goOn();
    while (!stopping) {
      if (relieving.getAndSet(false)) {
        executor.goOn();
        continue;
      }
      awaitBatch();
      if (!stopping && !executor.tryBatch()) {
        // Whoever is at work ends with a batch, and says when the next is due.
        clock.park(this, BUSY_NANOS);
      }
    }
  }

  private void awaitBatch() {
    long now = clock.nanos();
    // Written before the next batch is read: whoever moves it forward after that sees the mark.
    wakeAtNanos = now + IDLE_BATCH_NANOS;
    long wait = Math.min(IDLE_BATCH_NANOS, nextBatchNanos - now);
    // Nobody need wake it for a batch that it wakes for by itself.
    wakeAtNanos = now + wait;
    if (wait > 0 && !relieving.get()) {
      clock.park(this, wait);
    }
    if (Thread.interrupted()) {
      over = true;
      stopping = true;
    }
  }

  private void relieve() {
    relieving.set(true);
    clock.unpark(thread);
  }

  /** Much work in small pieces is no stall; one gap between two looks at the clock is. */
  private void noticeStall() {
    long gap = passed();
    while (gap > STALL_NANOS) {
      listener.onStalled(gap);
      gap = passed();
    }
    noticeStoppedClock();
  }

  /** Much of it in small pieces counts, too: nothing gives that time back. */
  private void noticeStoppedClock() {
    long uncounted = wallAhead() - wallAheadNanos;
    if (uncounted > STALL_NANOS) {
      listener.onClockStopped(uncounted);
    }
    if (uncounted > STALL_NANOS || uncounted < 0) {
      wallAheadNanos += uncounted;
    }
  }

  private long wallAhead() {
    return TimeUnit.MILLISECONDS.toNanos(clock.wallMillis()) - markNanos;
  }

  private long passed() {
    long before = markNanos;
    markNanos = clock.nanos();
    return markNanos - before;
  }

  private void drop(Runnable task) {
    if (failed.get() && !failureTold) {
      failureTold = true;
      listener.onAbandoned();
    }
    if (task instanceof Awaited awaited) {
      Listeners.tell(awaited::onDropped);
    }
  }
}
