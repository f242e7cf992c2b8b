package io.lockkeeper.client.internal;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread that does one thing after another, now or at a reading of its clock. What it is given
 * after {@link #drain} or {@link #stop} is dropped. A task that throws is logged and does not stop
 * the loop.
 */
public final class Loop implements Executor, SteppedClock.Waiter {

  private static final Logger LOG = LoggerFactory.getLogger(Loop.class);
  private static final long FOREIGN_CLOCK_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long SETTLE_SECONDS = 30;

  private final LongSupplier clock;
  private final boolean systemClock;
  private final Thread thread;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Condition idle = lock.newCondition();
  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private final TreeSet<Timer> timers = new TreeSet<>();
  private long timersMade;
  private long done;
  private boolean busy = true;
  private boolean refusing;
  private boolean stopped;

  private Loop(String name, LongSupplier clock, boolean systemClock) {
    this.clock = clock;
    this.systemClock = systemClock;
    this.thread = new Thread(this::run, name);
    this.thread.setDaemon(true);
  }

  /** Starts a loop on the system's monotonic clock. */
  public static Loop onSystemClock(String threadName) {
    return started(new Loop(threadName, System::nanoTime, true));
  }

  /** Starts one on another clock; if not a {@link SteppedClock}, it is looked at every 10 ms. */
  public static Loop on(LongSupplier clock, String threadName) {
    return started(new Loop(threadName, clock, false));
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

  /** Returns whether the caller is the loop's thread. */
  public boolean isCurrentThread() {
    return Thread.currentThread() == thread;
  }

  @Override
  public void execute(Runnable task) {
    executeIfRunning(task);
  }

  /** Like {@link #execute}, but says whether the loop took the task. */
  public boolean executeIfRunning(Runnable task) {
    lock.lock();
    try {
      if (!refusing) {
        tasks.add(task);
        changed.signal();
      }
      return !refusing;
    } finally {
      lock.unlock();
    }
  }

  /** Does {@code task} when {@code delayNanos} have passed; at once if that is not above zero. */
  public Timer schedule(long delayNanos, Runnable task) {
    lock.lock();
    try {
      Timer timer = new Timer(this, nanos() + Math.max(0, delayNanos), timersMade++, task);
      if (!stopped) {
        timers.add(timer);
        changed.signal();
      }
      return timer;
    } finally {
      lock.unlock();
    }
  }

  /** Takes no more tasks, and does those that it has. For the loop's thread, before the end. */
  public void drain() {
    for (Optional<Runnable> next = last(); next.isPresent(); next = last()) {
      perform(next.get());
    }
  }

  private Optional<Runnable> last() {
    return locked(
        () -> {
          refusing = true;
          return Optional.ofNullable(tasks.poll());
        });
  }

  /** Ends the loop after the task that it is at. Idempotent. */
  public void stop() {
    if (clock instanceof SteppedClock stepped) {
      stepped.detach(this);
    }
    lock.lock();
    try {
      refusing = true;
      stopped = true;
      tasks.clear();
      timers.clear();
      changed.signal();
      idle.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the thread has ended, for {@code limit} at most. Not for the thread itself. */
  public void awaitEnd(Duration limit) throws InterruptedException {
    if (!isCurrentThread()) {
      thread.join(Math.max(1, limit.toMillis()));
    }
  }

  private void run() {
    for (Optional<Runnable> next = take(); next.isPresent(); next = take()) {
      perform(next.get());
    }
  }

  private static void perform(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.atError().setCause(e).log("A task of the client's loop failed; the loop goes on");
    }
    // A callback may have left it set; only stop() ends this thread.
    if (Thread.interrupted()) {
      LOG.atDebug().log("An interrupt of the client's loop was ignored");
    }
  }

  private Optional<Runnable> take() {
    lock.lock();
    try {
      while (!stopped) {
        Optional<Runnable> next = due();
        if (next.isPresent()) {
          busy = true;
          done++;
          return next;
        }
        busy = false;
        idle.signalAll();
        long left = changed.awaitNanos(idleNanos());
        LOG.atTrace().addKeyValue("leftNanos", left).log("The loop wakes");
      }
      return Optional.empty();
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody else has this thread: only stop() ends it", e);
    } finally {
      lock.unlock();
    }
  }

  private Optional<Runnable> due() {
    Runnable task = tasks.poll();
    if (task != null) {
      return Optional.of(task);
    }
    if (!timers.isEmpty() && timers.first().dueNanos - nanos() <= 0) {
      return Optional.of(timers.pollFirst().task);
    }
    return Optional.empty();
  }

  /** How long nothing is due: for ever, if only a new task can change that. */
  private long idleNanos() {
    if (timers.isEmpty()) {
      return Long.MAX_VALUE;
    }
    return systemClock ? timers.first().dueNanos - nanos() : FOREIGN_CLOCK_LOOK_NANOS;
  }

  @Override
  public OptionalLong nextDueNanos() {
    return locked(
        () -> timers.isEmpty() ? OptionalLong.empty() : OptionalLong.of(timers.first().dueNanos));
  }

  @Override
  public void settle() {
    if (isCurrentThread()) {
      return;
    }
    lock.lock();
    try {
      changed.signal();
      long left = TimeUnit.SECONDS.toNanos(SETTLE_SECONDS);
      while (!stopped && (busy || !tasks.isEmpty() || isTimerDue())) {
        if (left <= 0) {
          throw new IllegalStateException("the loop was busy for " + SETTLE_SECONDS + " s");
        }
        left = idle.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the loop", e);
    } finally {
      lock.unlock();
    }
  }

  private boolean isTimerDue() {
    return !timers.isEmpty() && timers.first().dueNanos - nanos() <= 0;
  }

  @Override
  public long workCount() {
    return locked(() -> done);
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }

  private void cancel(Timer timer) {
    boolean unused = locked(() -> timers.remove(timer));
  }

  /** Something to be done later. */
  public static final class Timer implements Comparable<Timer> {
    private final Loop loop;
    private final long dueNanos;
    private final long number;
    private final Runnable task;

    private Timer(Loop loop, long dueNanos, long number, Runnable task) {
      this.loop = loop;
      this.dueNanos = dueNanos;
      this.number = number;
      this.task = task;
    }

    /** Takes it back, if it is not done or being done. */
    public void cancel() {
      loop.cancel(this);
    }

    @Override
    public int compareTo(Timer other) {
      int byTime = Long.compare(dueNanos - other.dueNanos, 0);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }

    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    public int hashCode() {
      return Long.hashCode(number);
    }
  }
}
