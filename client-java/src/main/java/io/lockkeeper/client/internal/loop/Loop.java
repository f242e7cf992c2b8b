package io.lockkeeper.client.internal.loop;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An event loop: runs tasks one at a time and in order, and timers by its clock. It has a thread of
 * its own, but callers run tasks themselves while it is idle, as far as {@link CallerRuns} says:
 * waking another thread often costs more than the task. Tasks that are submitted after {@link
 * #drain} or {@link #stop} are dropped. A task that throws is logged and does not stop the loop.
 */
public final class Loop implements Executor, SteppedClock.Waiter {

  private static final Logger LOG = LoggerFactory.getLogger(Loop.class);
  private static final Duration LONGEST = Duration.ofDays(365);
  private static final long FOREIGN_CLOCK_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long SETTLE_SECONDS = 30;
  private static final long SETTLE_LOOK_MILLIS = 20;

  private final LongSupplier clock;
  private final boolean systemClock;
  private final CallerRuns callerRuns;
  private final Thread thread;
  private final SerialExecutor tasks;
  private final AtomicBoolean leftToThread = new AtomicBoolean();
  private final AtomicBoolean firing = new AtomicBoolean();
  private final TimerQueue timers = new TimerQueue();
  private final Runnable fire = this::fire;
  private volatile boolean stopped;

  private Loop(String name, LongSupplier clock, boolean systemClock, CallerRuns callerRuns) {
    this.clock = clock;
    this.systemClock = systemClock;
    this.callerRuns = callerRuns;
    this.thread = new Thread(this::run, name);
    this.thread.setDaemon(true);
    this.tasks = new SerialExecutor(thread, this::leaveToThread);
  }

  /** Starts a loop on the system's monotonic clock. */
  public static Loop onSystemClock(String threadName, CallerRuns callerRuns) {
    return started(new Loop(threadName, System::nanoTime, true, callerRuns));
  }

  /** Starts one whose own thread runs all tasks. */
  public static Loop onSystemClock(String threadName) {
    return onSystemClock(threadName, CallerRuns.NEVER);
  }

  /** Starts one on another clock; unless it is a {@link SteppedClock}, it is polled every 10 ms. */
  public static Loop on(LongSupplier clock, String threadName, CallerRuns callerRuns) {
    return started(new Loop(threadName, clock, false, callerRuns));
  }

  /** Starts one whose own thread runs all tasks. */
  public static Loop on(LongSupplier clock, String threadName) {
    return on(clock, threadName, CallerRuns.NEVER);
  }

  private static Loop started(Loop loop) {
    if (loop.clock instanceof SteppedClock stepped) {
      stepped.attach(loop);
    }
    loop.thread.start();
    return loop;
  }

  /** Returns the reading of the loop's clock, in nanoseconds; only differences mean something. */
  public long nanos() {
    return clock.getAsLong();
  }

  /** Returns a duration in the unit of the clock: a year at most, so that sums do not overflow. */
  public static long toNanos(Duration duration) {
    return duration.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : duration.toNanos();
  }

  /** Returns whether the caller is running as a task of the loop. */
  public boolean isCurrentThread() {
    return tasks.isCurrentThread();
  }

  @Override
  public void execute(Runnable task) {
    boolean unused = tasks.submit(task, callerRuns.callerTasks());
  }

  /** Like {@link #execute}, but returns whether the loop accepted the task. */
  public boolean executeIfRunning(Runnable task) {
    return tasks.submit(task, callerRuns.callerTasks());
  }

  /**
   * Like {@link #executeIfRunning}, but a caller that is no task of the loop leaves it to the
   * loop's thread, if callers are not to run whatever a task may lead to.
   */
  public boolean executeApart(Runnable task) {
    int most = callerRuns == CallerRuns.ALWAYS ? CallerRuns.MANY : 0;
    return tasks.submit(task, most);
  }

  /** Like {@link #execute}, for a thread that has received something over a connection. */
  public void executeReceived(Runnable task) {
    boolean unused = tasks.submit(task, callerRuns.receiverTasks());
  }

  /**
   * Runs {@code action} when the loop has run all its tasks, or a batch of them: for work that can
   * be done once for many tasks. For tasks of the loop only.
   */
  public void executeAfterBatch(Runnable action) {
    tasks.defer(action);
  }

  private void leaveToThread() {
    leftToThread.set(true);
    LockSupport.unpark(thread);
  }

  private void run() {
    while (!stopped) {
      long idleNanos = idleNanos();
      if (idleNanos <= 0 && firing.compareAndSet(false, true)) {
        boolean unused = tasks.submit(fire, CallerRuns.MANY);
      } else if (leftToThread.compareAndSet(true, false)) {
        tasks.runTasks(CallerRuns.MANY); // No more, so that timers that are due get their turn.
      } else if (idleNanos > 0) {
        LockSupport.parkNanos(this, idleNanos);
      } else {
        LockSupport.park(this); // Another thread will run what is due.
      }
      if (Thread.interrupted()) {
        LOG.atDebug().log("An interrupt of the client's loop was ignored");
      }
    }
  }

  /** Returns how long no timer is due; the longest time if there is none. */
  private long idleNanos() {
    OptionalLong due = timers.nextDueNanos();
    if (due.isEmpty()) {
      return Long.MAX_VALUE;
    }
    long left = due.getAsLong() - nanos();
    return systemClock || left <= 0 ? left : FOREIGN_CLOCK_LOOK_NANOS;
  }

  /**
   * Runs the timers that are due now; what becomes due by that waits until other tasks have run.
   */
  private void fire() {
    int left = timers.size();
    while (left > 0 && ranDueTimer()) {
      left--;
    }
    firing.set(false);
    LockSupport.unpark(thread);
  }

  /** Runs the earliest timer that is due; returns false if none is. */
  private boolean ranDueTimer() {
    Optional<Timer> due = timers.pollDue(nanos());
    due.ifPresent(timer -> tasks.run(timer.task));
    return due.isPresent();
  }

  /**
   * Runs {@code task} after {@code delayNanos}, or as soon as possible if that is not above zero.
   */
  public Timer schedule(long delayNanos, Runnable task) {
    Timer timer = new Timer(this, nanos() + Math.max(0, delayNanos), task);
    if (!stopped && timers.add(timer)) {
      LockSupport.unpark(thread);
    }
    return timer;
  }

  /** Accepts no more tasks and runs those that it has. For a task of the loop, before it stops. */
  public void drain() {
    tasks.drain();
  }

  /** Ends the loop after the current task. Idempotent. */
  public void stop() {
    if (clock instanceof SteppedClock stepped) {
      stepped.detach(this);
    }
    stopped = true;
    tasks.stop();
    timers.clear();
    LockSupport.unpark(thread);
  }

  /**
   * Waits until the thread has ended, for {@code limit} at most; in a task of the loop, not at all.
   */
  public void awaitEnd(Duration limit) throws InterruptedException {
    if (!isCurrentThread()) {
      thread.join(Math.max(1, limit.toMillis()));
    }
  }

  @Override
  public OptionalLong nextDueNanos() {
    return timers.nextDueNanos();
  }

  @Override
  public void settle() {
    if (isCurrentThread()) {
      return;
    }
    long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_SECONDS);
    while (!stopped && (isTimerDue() || !tasks.isIdle())) {
      if (isTimerDue() && firing.compareAndSet(false, true)) {
        execute(fire);
      }
      SerialExecutor.Mark mark = new SerialExecutor.Mark();
      if (!executeIfRunning(mark)) {
        return;
      }
      awaitReached(mark, endNanos);
    }
  }

  private void awaitReached(SerialExecutor.Mark mark, long endNanos) {
    try {
      while (!stopped && !mark.reached().await(SETTLE_LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        if (endNanos - System.nanoTime() < 0) {
          throw new IllegalStateException("the loop was busy for " + SETTLE_SECONDS + " s");
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the loop", e);
    }
  }

  private boolean isTimerDue() {
    OptionalLong due = timers.nextDueNanos();
    return due.isPresent() && due.getAsLong() - nanos() <= 0;
  }

  @Override
  public long workCount() {
    return tasks.completedCount();
  }

  /** A task that runs later. */
  public static final class Timer {
    private final Loop loop;
    private final Runnable task;
    final long dueNanos;
    long number;

    private Timer(Loop loop, long dueNanos, Runnable task) {
      this.loop = loop;
      this.dueNanos = dueNanos;
      this.task = task;
    }

    /** Cancels it, unless it has run or is running. */
    public void cancel() {
      loop.timers.remove(this);
    }
  }
}
