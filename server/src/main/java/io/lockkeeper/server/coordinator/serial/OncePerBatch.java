package io.lockkeeper.server.coordinator.serial;

import java.util.concurrent.atomic.AtomicBoolean;

/** Does something once at the end of a {@link Batch}, however often the batch wants it done. */
public final class OncePerBatch {

  private final AtomicBoolean owed = new AtomicBoolean();
  private final Runnable action;

  /** Makes one that does {@code action}. */
  public OncePerBatch(Runnable action) {
    this.action = action;
  }

  /** Sees to it that the action is done after now: at the end of the batch, or at once outside. */
  public void soon() {
    if (owed.compareAndSet(false, true)) {
      Batch.atEnd(this::act);
    }
  }

  private void act() {
    // What is wanted from now on may come too late for this one.
    owed.set(false);
    action.run();
  }
}
