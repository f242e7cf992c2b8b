package io.lockkeeper.client.internal.loop;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks one at a time and in order, on threads that take turns: the thread that raises {@link
 * #pending} from zero runs tasks until it is zero again or enough have run, and then leaves the
 * rest to the loop's thread. So each task sees what the tasks before it wrote.
 */
final class SerialExecutor {

  private static final Logger LOG = LoggerFactory.getLogger(SerialExecutor.class);

  private final Thread own;
  private final Runnable leaveToOwnThread;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  // Only the running thread touches it.
  private final Queue<Runnable> deferred = new ArrayDeque<>();
  private final AtomicInteger pending = new AtomicInteger();
  private final AtomicReference<Thread> runner = new AtomicReference<>();
  private final AtomicLong completed = new AtomicLong();
  private volatile boolean refusing;
  private volatile boolean stopped;

  /**
   * Makes one without tasks.
   *
   * @param own the loop's thread, whose interrupts are ignored
   * @param leaveToOwnThread leaves the tasks to that thread, which then calls {@link #runTasks}
   */
  SerialExecutor(Thread own, Runnable leaveToOwnThread) {
    this.own = own;
    this.leaveToOwnThread = leaveToOwnThread;
  }

  /** A marker that shows which tasks have run; it is not counted as one. */
  static final class Mark implements Runnable {
    private final CountDownLatch reached = new CountDownLatch(1);

    CountDownLatch reached() {
      return reached;
    }

    @Override
    public void run() {
      reached.countDown();
    }
  }

  /**
   * Adds a task and returns whether it was accepted; if no thread is running tasks, this one does.
   *
   * @param most how many tasks to run, about; zero: none
   */
  boolean submit(Runnable task, int most) {
    if (refusing) {
      return false;
    }
    tasks.add(task);
    if (refusing && tasks.remove(task)) {
      return false; // No thread runs it any more. Otherwise it was there in time for drain().
    }
    if (pending.getAndIncrement() == 0) {
      if (most == 0) {
        leaveToOwnThread.run();
      } else {
        runTasks(most);
      }
    }
    return true;
  }

  /** For the thread that raised {@link #pending} from zero, or to which the tasks were left. */
  void runTasks(int most) {
    boolean finished = false;
    runner.setPlain(Thread.currentThread());
    try {
      finished = ranAll(most);
    } finally {
      // Also after an error outside of tasks: a stack overflow of this thread, for instance.
      if (!finished) {
        runner.setPlain(null);
        leaveToOwnThread.run();
      }
    }
  }

  /** Runs about {@code most} tasks; returns false if some may be left. */
  private boolean ranAll(int most) {
    int left = most;
    int seen = pending.get();
    while (!stopped) {
      Runnable task = tasks.poll();
      if (task != null) {
        if (task instanceof Mark) {
          runDeferred();
        }
        run(task);
        left--;
        if (left <= 0 && !tasks.isEmpty()) {
          runDeferred();
          return false;
        }
      } else if (!deferred.isEmpty()) {
        runDeferred();
      } else {
        runner.setPlain(null); // Before another thread may become the runner.
        seen = pending.addAndGet(-seen);
        if (seen == 0) {
          return true;
        }
        runner.setPlain(Thread.currentThread());
      }
    }
    runner.setPlain(null);
    return true;
  }

  private void runDeferred() {
    for (Runnable action = deferred.poll(); action != null; action = deferred.poll()) {
      run(action);
    }
  }

  /** Runs {@code action} after the tasks of this turn. For tasks only. */
  void defer(Runnable action) {
    deferred.add(action);
  }

  /** Runs a task at once, before those that wait. For tasks only. */
  void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.atError().setCause(e).log("A task of the client's loop failed; the loop goes on");
    }
    if (!(task instanceof Mark)) {
      completed.lazySet(completed.get() + 1);
    }
    // A task may have left it set, through a callback.
    if (Thread.currentThread() == own && Thread.interrupted()) {
      LOG.atDebug().log("An interrupt of the client's loop was ignored");
    }
  }

  /** Returns whether the caller is running as a task. */
  boolean isCurrentThread() {
    return runner.getPlain() == Thread.currentThread(); // Nobody else writes this thread there.
  }

  /** Returns whether no task waits and none is being performed. */
  boolean isIdle() {
    return pending.get() == 0;
  }

  /** Returns how many tasks have been performed. */
  long completedCount() {
    return completed.get();
  }

  /** Accepts no more tasks and runs those that there are. For tasks only. */
  void drain() {
    refusing = true;
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      run(task);
    }
    runDeferred();
  }

  /** Stops after the current task. */
  void stop() {
    refusing = true;
    stopped = true;
  }
}
