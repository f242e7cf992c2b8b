package io.lockkeeper.server.coordinator.serial;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/**
 * Hands on in one piece what one {@link Batch} brings, in the order in which it came. Outside of a
 * batch, each is handed on at once. The order is kept for what the batches of one {@link
 * SerialExecutor} bring; threads that bring something at the same time may overtake each other.
 */
public final class BatchConsumer<T> implements Consumer<T> {

  private final Queue<T> waiting = new ConcurrentLinkedQueue<>();
  private final OncePerBatch handOn = new OncePerBatch(this::handOn);
  private final Consumer<List<T>> next;

  /** Makes one that hands on to {@code next}, which never gets an empty list. */
  public BatchConsumer(Consumer<List<T>> next) {
    this.next = next;
  }

  @Override
  public void accept(T one) {
    waiting.add(one);
    handOn.soon();
  }

  private void handOn() {
    List<T> all = new ArrayList<>();
    for (T one = waiting.poll(); one != null; one = waiting.poll()) {
      all.add(one);
    }
    if (!all.isEmpty()) {
      next.accept(all);
    }
  }
}
