package io.lockkeeper.client.internal;

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
 * Tasks that are performed one at a time and in order, by threads that take turns. Who raises
 * {@link #pending} from zero performs, until it is zero again or he has done his part; then he
 * leaves the rest to the loop's thread. So tasks see what the tasks before them wrote.
 */
final class SerialExecutor {

  private static final Logger LOG = LoggerFactory.getLogger(SerialExecutor.class);

  private final Thread own;
  private final Runnable leave;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  // Only who performs touches it.
  private final Queue<Runnable> last = new ArrayDeque<>();
  private final AtomicInteger pending = new AtomicInteger();
  private final AtomicReference<Thread> performer = new AtomicReference<>();
  private final AtomicLong done = new AtomicLong();
  private volatile boolean refusing;
  private volatile boolean stopped;

  /**
   * Makes one.
   *
   * @param own the loop's thread, whose interrupts mean nothing
   * @param leave leaves what is there to that thread, which is to call {@link #perform}
   */
  SerialExecutor(Thread own, Runnable leave) {
    this.own = own;
    this.leave = leave;
  }

  /** Shows how far the work has come; none itself. */
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
   * Takes a task, and says so; performs it if nobody is at work, and what else there is.
   *
   * @param most how many tasks to perform, about; zero: none
   */
  boolean give(Runnable task, int most) {
    if (refusing) {
      return false;
    }
    tasks.add(task);
    if (refusing && tasks.remove(task)) {
      return false; // Nobody performs any more. Else it was there in time for drain().
    }
    if (pending.getAndIncrement() == 0) {
      if (most == 0) {
        leave.run();
      } else {
        perform(most);
      }
    }
    return true;
  }

  /** For the one who raised {@link #pending} from zero, or to whom that was left. */
  void perform(int most) {
    boolean finished = false;
    performer.setPlain(Thread.currentThread());
    try {
      finished = performed(most);
    } finally {
      // Also after an error that is none of a task's: of this thread's stack, for instance.
      if (!finished) {
        performer.setPlain(null);
        leave.run();
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
        if (task instanceof Mark) {
          performLast();
        }
        performOne(task);
        left--;
        if (left <= 0 && !tasks.isEmpty()) {
          performLast();
          return false;
        }
      } else if (!last.isEmpty()) {
        performLast();
      } else {
        performer.setPlain(null); // Before another thread may be the one.
        seen = pending.addAndGet(-seen);
        if (seen == 0) {
          return true;
        }
        performer.setPlain(Thread.currentThread());
      }
    }
    performer.setPlain(null);
    return true;
  }

  private void performLast() {
    for (Runnable action = last.poll(); action != null; action = last.poll()) {
      performOne(action);
    }
  }

  /** Performs {@code action} before whoever performs stops doing so; for a task. */
  void last(Runnable action) {
    last.add(action);
  }

  /** Performs a task now, whatever waits; for a task. */
  void performOne(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.atError().setCause(e).log("A task of the client's loop failed; the loop goes on");
    }
    if (!(task instanceof Mark)) {
      done.lazySet(done.get() + 1);
    }
    // A task may have left it set, by way of a callback.
    if (Thread.currentThread() == own && Thread.interrupted()) {
      LOG.atDebug().log("An interrupt of the client's loop was ignored");
    }
  }

  /** Returns whether the caller is the one who performs. */
  boolean isPerforming() {
    return performer.getPlain() == Thread.currentThread(); // Nobody else writes this thread there.
  }

  /** Returns whether no task waits. */
  boolean isEmpty() {
    return tasks.isEmpty();
  }

  /** Returns how many tasks have been performed. */
  long doneCount() {
    return done.get();
  }

  /** Takes no more tasks, and performs those that there are; for a task. */
  void drain() {
    refusing = true;
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      performOne(task);
    }
    performLast();
  }

  /** Ends the work after the task that is being performed. */
  void stop() {
    refusing = true;
    stopped = true;
  }
}
