package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.Failure;

/** Says why a request could not be taken. Carries no stack trace: it is an answer, not a bug. */
public final class RefusedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final transient Failure failure;

  /** Wraps a failure. */
  public RefusedException(Failure failure) {
    super(failure.message(), null, false, false);
    this.failure = failure;
  }

  /** Returns why. */
  public Failure failure() {
    return failure;
  }
}
