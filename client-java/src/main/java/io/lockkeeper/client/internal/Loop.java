package io.lockkeeper.client.internal;

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
 * Does one thing after another, in the order in which they were given, now or at a reading of its
 * clock. It has a thread of its own, but, as far as {@link CallerRuns} says, whoever gives it
 * something while it is idle does that himself: to wake another thread often costs more than the
 * work. What it is given after {@link #drain} or {@link #stop} is dropped. A task that throws is
 * logged and does not stop the loop.
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
  private final SerialExecutor work;
  private final AtomicBoolean leftToThread = new AtomicBoolean();
  private final AtomicBoolean firing = new AtomicBoolean();
  private final Timers timers = new Timers();
  private final Runnable fire = this::fire;
  private volatile boolean stopped;

  private Loop(String name, LongSupplier clock, boolean systemClock, CallerRuns callerRuns) {
    this.clock = clock;
    this.systemClock = systemClock;
    this.callerRuns = callerRuns;
    this.thread = new Thread(this::run, name);
    this.thread.setDaemon(true);
    this.work = new SerialExecutor(thread, this::leaveToThread);
  }

  /** Starts a loop on the system's monotonic clock. */
  public static Loop onSystemClock(String threadName, CallerRuns callerRuns) {
    return started(new Loop(threadName, System::nanoTime, true, callerRuns));
  }

  /** Starts one that nobody helps. */
  public static Loop onSystemClock(String threadName) {
    return onSystemClock(threadName, CallerRuns.NEVER);
  }

  /** Starts one on another clock; if not a {@link SteppedClock}, it is looked at every 10 ms. */
  public static Loop on(LongSupplier clock, String threadName, CallerRuns callerRuns) {
    return started(new Loop(threadName, clock, false, callerRuns));
  }

  /** Starts one that nobody helps. */
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

  /** Returns whether the caller is what the loop is doing now. */
  public boolean isCurrentThread() {
    return work.isPerforming();
  }

  @Override
  public void execute(Runnable task) {
    boolean unused = work.give(task, callerRuns.callerTasks());
  }

  /** Like {@link #execute}, but says whether the loop took the task. */
  public boolean executeIfRunning(Runnable task) {
    return work.give(task, callerRuns.callerTasks());
  }

  /** Like {@link #execute}, for a thread that brings what came over a connection. */
  public void receive(Runnable task) {
    boolean unused = work.give(task, callerRuns.receiverTasks());
  }

  /**
   * Does {@code action} when the loop has come to the end of what it was given, or of a good part
   * of that: for what costs the same once as many times. For what the loop does only.
   */
  public void doLast(Runnable action) {
    work.last(action);
  }

  private void leaveToThread() {
    leftToThread.set(true);
    LockSupport.unpark(thread);
  }

  private void run() {
    while (!stopped) {
      long idleNanos = idleNanos();
      if (idleNanos <= 0 && firing.compareAndSet(false, true)) {
        boolean unused = work.give(fire, CallerRuns.MANY);
      } else if (leftToThread.compareAndSet(true, false)) {
        work.perform(CallerRuns.MANY); // No more, so that what is due has its turn.
      } else if (idleNanos > 0) {
        LockSupport.parkNanos(this, idleNanos);
      } else {
        LockSupport.park(this); // Another thread will do what is due.
      }
      if (Thread.interrupted()) {
        LOG.atDebug().log("An interrupt of the client's loop was ignored");
      }
    }
  }

  /** How long nothing is due: for ever, if only a new timer can change that. */
  private long idleNanos() {
    OptionalLong due = timers.nextDueNanos();
    if (due.isEmpty()) {
      return Long.MAX_VALUE;
    }
    long left = due.getAsLong() - nanos();
    return systemClock || left <= 0 ? left : FOREIGN_CLOCK_LOOK_NANOS;
  }

  /** Does what is due, and what has become due by that when other tasks have had their turn. */
  private void fire() {
    int left = timers.size();
    while (left > 0 && performedDue()) {
      left--;
    }
    firing.set(false);
    LockSupport.unpark(thread);
  }

  /** Does the earliest that is due; returns false if nothing is. */
  private boolean performedDue() {
    Optional<Timer> due = timers.pollDue(nanos());
    due.ifPresent(timer -> work.performOne(timer.task));
    return due.isPresent();
  }

  /** Does {@code task} when {@code delayNanos} have passed; at once if that is not above zero. */
  public Timer schedule(long delayNanos, Runnable task) {
    Timer timer = new Timer(this, nanos() + Math.max(0, delayNanos), task);
    if (!stopped && timers.add(timer)) {
      LockSupport.unpark(thread);
    }
    return timer;
  }

  /** Takes no more tasks, and does those that it has. For a task, before the end. */
  public void drain() {
    work.drain();
  }

  /** Ends the loop after the task that it is at. Idempotent. */
  public void stop() {
    if (clock instanceof SteppedClock stepped) {
      stepped.detach(this);
    }
    stopped = true;
    work.stop();
    timers.clear();
    LockSupport.unpark(thread);
  }

  /** Waits until the thread has ended, for {@code limit} at most. Not for what the loop does. */
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
    do {
      if (isTimerDue() && firing.compareAndSet(false, true)) {
        execute(fire);
      }
      SerialExecutor.Mark mark = new SerialExecutor.Mark();
      if (!executeIfRunning(mark)) {
        return;
      }
      awaitReached(mark, endNanos);
    } while (!stopped && (isTimerDue() || !work.isEmpty()));
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
    return work.doneCount();
  }

  /** Something to be done later. */
  public static final class Timer {
    private final Loop loop;
    private final Runnable task;
    final long dueNanos;
    long number;
    int place = -1;

    private Timer(Loop loop, long dueNanos, Runnable task) {
      this.loop = loop;
      this.dueNanos = dueNanos;
      this.task = task;
    }

    boolean isBefore(Timer other) {
      return dueNanos == other.dueNanos ? number < other.number : dueNanos - other.dueNanos < 0;
    }

    /** Takes it back, if it is not done or being done. */
    public void cancel() {
      loop.timers.remove(this);
    }
  }
}
