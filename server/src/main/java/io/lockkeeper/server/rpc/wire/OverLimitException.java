package io.lockkeeper.server.rpc.wire;

import java.time.Duration;

/** The caller has, or asks for, more than he may. */
public final class OverLimitException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final Duration retryAfter;

  /** Makes one; the message names the limit and its value. */
  public OverLimitException(String message, Duration retryAfter) {
    super(message);
    this.retryAfter = retryAfter;
  }

  /** Returns after what time it makes sense to try again. */
  public Duration retryAfter() {
    return retryAfter;
  }
}
