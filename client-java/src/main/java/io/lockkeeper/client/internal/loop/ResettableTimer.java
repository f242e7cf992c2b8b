package io.lockkeeper.client.internal.loop;

import java.util.Optional;

/** A timer of a loop that may be set again: only its last task runs. For tasks of the loop. */
public final class ResettableTimer {

  private final Loop loop;
  private Optional<Loop.Timer> timer = Optional.empty();

  /** Makes a timer that is not set. */
  public ResettableTimer(Loop loop) {
    this.loop = loop;
  }

  /** Runs {@code task} after {@code delayNanos}, unless the timer is set again or cancelled. */
  public void set(long delayNanos, Runnable task) {
    cancel();
    timer =
        Optional.of(
            loop.schedule(
                delayNanos,
                () -> {
                  timer = Optional.empty();
                  task.run();
                }));
  }

  /** Cancels what has not run. */
  public void cancel() {
    timer.ifPresent(Loop.Timer::cancel);
    timer = Optional.empty();
  }

  /** Returns whether a task is still to run. */
  public boolean isSet() {
    return timer.isPresent();
  }
}
