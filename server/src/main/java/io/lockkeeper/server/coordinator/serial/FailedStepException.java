package io.lockkeeper.server.coordinator.serial;

import io.lockkeeper.server.core.api.ClientRequest;
import io.lockkeeper.server.core.api.Event;

/** Says in which step of the coordinator's work something was thrown. */
public final class FailedStepException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String step;
  private final Throwable thrown;

  /**
   * Wraps what was thrown.
   *
   * @param step what was being done
   */
  public FailedStepException(String step, Throwable thrown) {
    super(step, thrown, false, false);
    this.step = step;
    this.thrown = thrown;
  }

  /** Wraps what was thrown while an event was handled. */
  public static FailedStepException of(Event event, Throwable thrown) {
    Event step = event instanceof ClientRequest asked ? asked.request() : event;
    // Its type alone: what it says may be a secret.
    String name = step.getClass().getName();
    return new FailedStepException(
        name.substring(name.lastIndexOf('.') + 1).replace('$', '.'), thrown);
  }

  /** Returns what was being done: the type of an event, or in words. */
  String step() {
    return step;
  }

  /** Returns what was thrown. */
  Throwable thrown() {
    return thrown;
  }
}
