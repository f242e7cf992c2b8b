package io.lockkeeper.server.coordinator.serial;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs tasks one at a time, in the order in which they come, on whichever thread finds nobody at
 * work: handing a task to a thread that sleeps costs more than most tasks do. A thread that came
 * with one task runs at most {@link #STINT} of them; then the relief goes on, on a thread of its
 * own, so that nobody's sockets wait for everybody's work.
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
  static final int STINT = 256;

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
    void onTurn();

    /** Runs something that a task put off to the end of the turn. */
    void runLast(Runnable action);

    /**
     * Something of the above threw, or the baton itself could not go on. What comes after it is run
     * all the same, as far as that can be: it is for the runner to do nothing with it.
     */
    void onThrown(Throwable thrown);
  }

  /**
   * Makes a baton that whoever makes it holds: nothing runs before the first {@link #goOn}.
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
      work(STINT);
    }
  }

  /** Makes an empty turn if nobody is at work; says whether it did. Else there is a turn anyway. */
  public boolean tryTurn() {
    if (!unfinished.compareAndSet(0, 1)) {
      return false;
    }
    tasks.add(() -> {});
    work(STINT);
    return true;
  }

  /**
   * Runs {@code handIns}, which hands in several tasks, so that they make one turn if nobody is at
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
      work(STINT);
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

  private void work(int stint) {
    try {
      runTurns(stint);
    } catch (RuntimeException | Error e) {
      // Nobody is at work from now on, and nobody will be: the relief did not come, perhaps.
      runner.onThrown(e);
    }
  }

  private void runTurns(int stint) {
    int left = stint;
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
      runner.onTurn();
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
