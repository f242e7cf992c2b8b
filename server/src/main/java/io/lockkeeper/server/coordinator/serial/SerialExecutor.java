package io.lockkeeper.server.coordinator.serial;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs tasks one at a time, in the order in which they come, on whichever thread finds nobody at
 * work: handing a task to a thread that sleeps costs more than most tasks do. A thread that came
 * with one task runs at most {@link #MAX_TASKS_PER_BORROW} of them; then the relief goes on, on a
 * thread of its own, so that nobody's sockets wait for everybody's work.
 *
 * <p>What one task does is seen by all later ones, whatever threads they run on. A task that is
 * handed in by a task runs after it, not inside it. Tasks must not block. The queue has no cap of
 * its own: whoever hands in what strangers ask for looks at {@link #backlog} first.
 *
 * <p>Whatever is thrown ends up at {@link Runner#onThrown}, and never at whoever brought a task: a
 * library whose callback that is would swallow it.
 */
public final class SerialExecutor {

  /** How many tasks a borrowed thread runs at most before it is relieved. */
  static final int MAX_TASKS_PER_BORROW = 256;

  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final AtomicInteger unfinished = new AtomicInteger();
  private final Runner runner;
  private final Runnable relief;
  private final Batch batch = new Batch();

  /** Runs what is handed in; only ever called by one thread at a time. */
  public interface Runner {
    /** Runs a task. */
    void run(Runnable task);

    /** The tasks of a {@link Batch} have been run, and its end follows. */
    void onBatchEnd();

    /** Runs something that a task put off to the end of the batch. */
    void runLast(Runnable action);

    /**
     * Something of the above threw, or the executor itself could not go on. What comes after it is
     * run all the same, as far as that can be: it is for the runner to do nothing with it.
     */
    void onThrown(Throwable thrown);
  }

  /**
   * Makes a executor that whoever makes it holds: nothing runs before the first {@link #goOn}.
   *
   * @param relief makes some other thread call {@link #goOn}, soon
   */
  public SerialExecutor(Runner runner, Runnable relief) {
    this.runner = runner;
    this.relief = relief;
    tasks.add(() -> {});
    unfinished.set(1);
  }

  /** Hands in a task, and runs it now if nobody is at work. */
  public void pass(Runnable task) {
    tasks.add(task);
    if (unfinished.getAndIncrement() == 0) {
      work(MAX_TASKS_PER_BORROW);
    }
  }

  /**
   * Makes an empty batch if nobody is at work; says whether it did. Else there is a batch anyway.
   */
  public boolean tryBatch() {
    if (!unfinished.compareAndSet(0, 1)) {
      return false;
    }
    tasks.add(() -> {});
    work(MAX_TASKS_PER_BORROW);
    return true;
  }

  /**
   * Runs {@code handIns}, which hands in several tasks, so that they make one batch if nobody is at
   * work now.
   */
  public void together(Runnable handIns) {
    if (!unfinished.compareAndSet(0, 1)) {
      handIns.run();
      return;
    }
    try {
      tasks.add(() -> {});
      handIns.run();
    } finally {
      work(MAX_TASKS_PER_BORROW);
    }
  }

  /**
   * Begins, or goes on where a thread was relieved. Called once for each time that relief was asked
   * for.
   */
  public void goOn() {
    work(Integer.MAX_VALUE);
  }

  /** Returns how many tasks are not finished. */
  public int backlog() {
    return unfinished.get();
  }

  private void work(int most) {
    try {
      runBatches(most);
    } catch (RuntimeException | Error e) {
      // Nobody is at work from now on, and nobody will be: the relief did not come, perhaps.
      runner.onThrown(e);
    }
  }

  private void runBatches(int most) {
    int left = most;
    int finished;
    do {
      if (left <= 0) {
        relief.run();
        return;
      }
      int count = Math.min(unfinished.get(), left);
      batch.run(() -> runTasks(count), this::runLast);
      finished = count;
      left -= count;
    } while (unfinished.addAndGet(-finished) != 0);
  }

  private void runTasks(int count) {
    for (int i = 0; i < count; i++) {
      try {
        runner.run(tasks.remove());
      } catch (RuntimeException | Error e) {
        runner.onThrown(e);
      }
    }
    try {
      runner.onBatchEnd();
    } catch (RuntimeException | Error e) {
      runner.onThrown(e);
    }
  }

  private void runLast(Runnable action) {
    try {
      runner.runLast(action);
    } catch (RuntimeException | Error e) {
      runner.onThrown(e);
    }
  }
}
