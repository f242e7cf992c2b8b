package io.lockkeeper.server.coordinator.serial;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a {@link SerialExecutor} runs in one go: the tasks that were there when it began. What each
 * of them would do at the same cost for all of them together (write to a socket, send a
 * transaction, wake somebody) is put off to the end of the batch, and done once.
 */
public final class Batch {

  private static final ThreadLocal<Batch> CURRENT = new ThreadLocal<>();

  private final List<Runnable> last = new ArrayList<>();

  Batch() {}

  /**
   * Runs {@code action} at the end of the batch that this thread is in, after what was put off
   * before, or at once if it is in none.
   */
  public static void atEnd(Runnable action) {
    Batch batch = CURRENT.get();
    if (batch == null) {
      action.run();
    } else {
      batch.last.add(action);
    }
  }

  /**
   * Runs {@code tasks}, and then has {@code runner} run each thing that they put off: what that
   * throws is for the batch's owner to judge. Batches may be nested: each has its own end.
   */
  void run(Runnable tasks, Consumer<Runnable> runner) {
    Batch outer = CURRENT.get();
    CURRENT.set(this);
    try {
      tasks.run();
      for (int i = 0; i < last.size(); i++) {
        runner.accept(last.get(i));
      }
    } finally {
      last.clear();
      CURRENT.set(outer);
    }
  }
}
