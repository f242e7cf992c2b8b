package io.lockkeeper.server.coordinator;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a {@link Baton} runs in one go: the tasks that were there when it began. What each of them
 * would do at the same cost for all of them together (write to a socket, send a transaction, wake
 * somebody) is put off to the end of the turn, and done once.
 */
public final class Turn {

  private static final ThreadLocal<Turn> CURRENT = new ThreadLocal<>();

  private final List<Runnable> last = new ArrayList<>();

  Turn() {}

  /**
   * Runs {@code action} at the end of the turn that this thread is in, after what was put off
   * before, or at once if it is in none.
   */
  public static void atEnd(Runnable action) {
    Turn turn = CURRENT.get();
    if (turn == null) {
      action.run();
    } else {
      turn.last.add(action);
    }
  }

  /**
   * Runs {@code tasks}, and then has {@code runner} run each thing that they put off: what that
   * throws is for the turn's owner to judge. Turns may be nested: each has its own end.
   */
  void run(Runnable tasks, Consumer<Runnable> runner) {
    Turn outer = CURRENT.get();
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
