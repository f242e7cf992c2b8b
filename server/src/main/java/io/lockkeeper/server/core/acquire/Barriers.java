package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.state.CoreState;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Waits for the mirror to have seen everything that was committed before now. One barrier is under
 * way at a time; who asks meanwhile shares the next.
 */
public final class Barriers {

  private final CoreState core;
  private List<Consumer<Boolean>> waiting = new ArrayList<>();
  private List<Consumer<Boolean>> underWay = List.of();
  private long number;

  public Barriers(CoreState core) {
    this.core = core;
  }

  /**
   * Calls {@code then} with true when the mirror has caught up, with false if that cannot be known.
   */
  public void pass(Consumer<Boolean> then) {
    if (!core.mirror.isCurrent()) {
      then.accept(false);
      return;
    }
    waiting.add(then);
    send();
  }

  private void send() {
    if (underWay.isEmpty() && !waiting.isEmpty()) {
      underWay = waiting;
      waiting = new ArrayList<>();
      core.emit(new StoreEffect.Barrier(++number));
    }
  }

  public void onAnswer(long barrier, boolean passed) {
    if (barrier != number) {
      return;
    }
    List<Consumer<Boolean>> answered = underWay;
    underWay = List.of();
    answered.forEach(then -> then.accept(passed && core.mirror.isCurrent()));
    send();
  }
}
