package io.lockkeeper.client.internal.telemetry;

import io.lockkeeper.client.LeaseLostException;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.NotAcquiredReason;
import io.lockkeeper.client.RequestRefusedException;
import io.lockkeeper.client.ServerUnavailableException;
import java.util.Locale;

/**
 * How a wait for locks ended: one of few values, fit for a tag.
 *
 * @param tag the value
 */
public record Outcome(String tag) {

  /** The locks were granted. */
  public static final Outcome ACQUIRED = new Outcome("acquired");

  /** Returns the outcome of a request that failed so. */
  static Outcome of(Throwable failure) {
    if (failure instanceof NotAcquiredException e) {
      return new Outcome(tag(e.reason()));
    } else if (failure instanceof LeaseLostException) {
      return new Outcome("lease_lost");
    } else if (failure instanceof ServerUnavailableException) {
      return new Outcome("unavailable");
    } else if (failure instanceof RequestRefusedException) {
      return new Outcome("refused");
    }
    return new Outcome("failed");
  }

  /** Returns whether a caller asks for it: it has set a limit, or has withdrawn the request. */
  public boolean isExpected() {
    return tag.equals(tag(NotAcquiredReason.TIMED_OUT))
        || tag.equals(tag(NotAcquiredReason.WITHDRAWN));
  }

  /** Returns a constant as a tag. */
  static String tag(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
