package io.lockkeeper.server.coordinator;

import java.util.concurrent.atomic.AtomicBoolean;

/** Does something once at the end of a {@link Turn}, however often the turn wants it done. */
public final class OncePerTurn {

  private final AtomicBoolean owed = new AtomicBoolean();
  private final Runnable action;

  /** Makes one that does {@code action}. */
  public OncePerTurn(Runnable action) {
    this.action = action;
  }

  /** Sees to it that the action is done after now: at the end of the turn, or at once outside. */
  public void soon() {
    if (owed.compareAndSet(false, true)) {
      Turn.atEnd(this::act);
    }
  }

  private void act() {
    // What is wanted from now on may come too late for this one.
    owed.set(false);
    action.run();
  }
}
