package io.lockkeeper.client.internal;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does one thing after another, in the order in which they were given, now or at a reading of its
 * clock. It has a thread of its own, but, as far as {@link Helpers} says, whoever gives it
 * something while it is idle does that himself: to wake another thread often costs more than the
 * work. What it is given after {@link #drain} or {@link #stop} is dropped. A task that throws is
 * logged and does not stop the loop.
 *
 * <p>Who raises {@link #pending} from zero performs, until it is zero again or he has done his
 * part; then the loop's own thread goes on. So tasks see what the tasks before them wrote.
 */
public final class Loop implements Executor, SteppedClock.Waiter {

  private static final Logger LOG = LoggerFactory.getLogger(Loop.class);
  private static final long FOREIGN_CLOCK_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long SETTLE_SECONDS = 30;
  private static final long SETTLE_LOOK_MILLIS = 20;

  private final LongSupplier clock;
  private final boolean systemClock;
  private final Helpers helpers;
  private final Thread thread;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final AtomicInteger pending = new AtomicInteger();
  private final AtomicReference<Thread> performer = new AtomicReference<>();
  private final AtomicBoolean leftToThread = new AtomicBoolean();
  private final AtomicBoolean firing = new AtomicBoolean();
  private final AtomicLong done = new AtomicLong();
  private final Timers timers = new Timers();
  private final Runnable fire = this::fire;
  private volatile boolean refusing;
  private volatile boolean stopped;

  private Loop(String name, LongSupplier clock, boolean systemClock, Helpers helpers) {
    this.clock = clock;
    this.systemClock = systemClock;
    this.helpers = helpers;
    this.thread = new Thread(this::run, name);
    this.thread.setDaemon(true);
  }

  /** Starts a loop on the system's monotonic clock. */
  public static Loop onSystemClock(String threadName, Helpers helpers) {
    return started(new Loop(threadName, System::nanoTime, true, helpers));
  }

  /** Starts one on another clock; if not a {@link SteppedClock}, it is looked at every 10 ms. */
  public static Loop on(LongSupplier clock, String threadName, Helpers helpers) {
    return started(new Loop(threadName, clock, false, helpers));
  }

  /** Starts one that nobody helps. */
  public static Loop on(LongSupplier clock, String threadName) {
    return on(clock, threadName, Helpers.NOBODY);
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

  /** Returns whether the caller is what the loop is doing now. */
  public boolean isCurrentThread() {
    return performer.getPlain() == Thread.currentThread(); // Nobody else writes this thread there.
  }

  @Override
  public void execute(Runnable task) {
    boolean unused = give(task, helpers.guestTasks());
  }

  /** Like {@link #execute}, but says whether the loop took the task. */
  public boolean executeIfRunning(Runnable task) {
    return give(task, helpers.guestTasks());
  }

  /** Like {@link #execute}, for a thread that brings what came over a connection. */
  public void receive(Runnable task) {
    boolean unused = give(task, helpers.carrierTasks());
  }

  private boolean give(Runnable task, int most) {
    if (refusing) {
      return false;
    }
    tasks.add(task);
    if (refusing && tasks.remove(task)) {
      return false; // Nobody performs any more. Else it was there in time for drain().
    }
    if (pending.getAndIncrement() == 0) {
      if (most == 0) {
        leaveToThread();
      } else {
        perform(most);
      }
    }
    return true;
  }

  /** For the one who raised {@link #pending} from zero, or to whom that was left. */
  private void perform(int most) {
    boolean finished = false;
    performer.setPlain(Thread.currentThread());
    try {
      finished = performed(most);
    } finally {
      // Also after an error that is none of a task's: of this thread's stack, for instance.
      if (!finished) {
        performer.setPlain(null);
        leaveToThread();
      }
    }
  }

  /** Performs {@code most} tasks or so; returns false if some may be left. */
  private boolean performed(int most) {
    int left = most;
    int seen = pending.get();
    while (!stopped) {
      Runnable task = tasks.poll();
      if (task != null) {
        perform(task);
        left--;
        if (left <= 0 && !tasks.isEmpty()) {
          return false;
        }
      } else {
        performer.setPlain(null); // Before another thread may be the one.
        seen = pending.addAndGet(-seen);
        if (seen == 0) {
          return true;
        }
        performer.setPlain(Thread.currentThread());
      }
    }
    return true;
  }

  private void perform(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.atError().setCause(e).log("A task of the client's loop failed; the loop goes on");
    }
    if (!(task instanceof Mark)) {
      done.lazySet(done.get() + 1);
    }
    // A callback may have left it set; only stop() ends this thread.
    if (Thread.currentThread() == thread && Thread.interrupted()) {
      LOG.atDebug().log("An interrupt of the client's loop was ignored");
    }
  }

  private void leaveToThread() {
    leftToThread.set(true);
    LockSupport.unpark(thread);
  }

  private void run() {
    while (!stopped) {
      long idleNanos = idleNanos();
      if (idleNanos <= 0 && firing.compareAndSet(false, true)) {
        boolean unused = give(fire, Helpers.MANY);
      } else if (leftToThread.compareAndSet(true, false)) {
        perform(Helpers.MANY); // No more, so that what is due has its turn.
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
    int most = timers.size();
    Optional<Timer> due = timers.pollDue(nanos());
    for (int i = 0; i < most && due.isPresent(); i++) {
      perform(due.get().task);
      due = timers.pollDue(nanos());
    }
    firing.set(false);
    LockSupport.unpark(thread);
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
    refusing = true;
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      perform(task);
    }
  }

  /** Ends the loop after the task that it is at. Idempotent. */
  public void stop() {
    if (clock instanceof SteppedClock stepped) {
      stepped.detach(this);
    }
    refusing = true;
    stopped = true;
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
      Mark mark = new Mark();
      if (!executeIfRunning(mark)) {
        return;
      }
      awaitReached(mark, endNanos);
    } while (!stopped && (isTimerDue() || !tasks.isEmpty()));
  }

  private void awaitReached(Mark mark, long endNanos) {
    try {
      while (!stopped && !mark.reached.await(SETTLE_LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
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
    return done.get();
  }

  /** Shows how far the loop has come; no work. */
  private static final class Mark implements Runnable {
    private final CountDownLatch reached = new CountDownLatch(1);

    @Override
    public void run() {
      reached.countDown();
    }
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
