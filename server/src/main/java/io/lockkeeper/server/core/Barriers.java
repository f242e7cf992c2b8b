package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Waits for the mirror to have seen everything that was committed before now. One barrier is under
 * way at a time; who asks meanwhile shares the next.
 */
final class Barriers {

  private final World world;
  private List<Consumer<Boolean>> waiting = new ArrayList<>();
  private List<Consumer<Boolean>> underWay = List.of();
  private long number;

  Barriers(World world) {
    this.world = world;
  }

  /**
   * Calls {@code then} with true when the mirror has caught up, with false if that cannot be known.
   */
  void pass(Consumer<Boolean> then) {
    if (!world.mirror.isCurrent()) {
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
      world.emit(new Effect.Barrier(++number));
    }
  }

  void onAnswer(long barrier, boolean passed) {
    if (barrier != number) {
      return;
    }
    List<Consumer<Boolean>> answered = underWay;
    underWay = List.of();
    answered.forEach(then -> then.accept(passed && world.mirror.isCurrent()));
    send();
  }
}
