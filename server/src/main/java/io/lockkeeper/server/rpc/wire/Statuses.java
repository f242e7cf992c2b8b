package io.lockkeeper.server.rpc.wire;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Failure;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Knows which status code says what. No other class names one. */
public final class Statuses {

  private static final Logger LOG = LoggerFactory.getLogger(Statuses.class);
  private static final Duration RETRY_SOON = Duration.ofSeconds(1);
  private static final Duration RETRY_LATER = Duration.ofSeconds(5);

  private Statuses() {}

  /**
   * Returns the refusal that {@code cause} stands for. What is unexpected is logged, and told as no
   * more than its id.
   */
  public static Refusal of(Throwable cause) {
    if (cause instanceof CompletionException && cause.getCause() != null) {
      return of(cause.getCause());
    }
    if (cause instanceof RefusedException refused) {
      return of(refused.failure());
    }
    if (cause instanceof InvalidRequestException invalid) {
      return refusal(Code.INVALID_ARGUMENT, invalid.description(), invalid.field());
    }
    if (cause instanceof NotOfferedException unoffered) {
      return refusal(Code.UNIMPLEMENTED, String.valueOf(unoffered.getMessage()), "");
    }
    if (cause instanceof StatusRuntimeException status) {
      String description = status.getStatus().getDescription();
      return refusal(status.getStatus().getCode(), description == null ? "" : description, "");
    }
    return unexpected(cause);
  }

  /** Returns the refusal that {@code failure} stands for. */
  public static Refusal of(Failure failure) {
    Code code = codeOf(failure.reason());
    return new Refusal(
        code, failure.message(), "", retryAfter(code), PeerHeaders.mayHelp(failure.reason()));
  }

  private static Code codeOf(Failure.Reason reason) {
    return switch (reason) {
      case UNKNOWN_LEASE, UNKNOWN_ACQUISITION, NO_HOLDER -> Code.NOT_FOUND;
      case WRONG_SECRET,
          REQUEST_ID_IN_USE,
          WRONG_TOKEN,
          WRONG_KIND,
          WRONG_LIMIT,
          NOT_WAITING,
          NOT_HELD,
          ENDED,
          COUNTER_STUCK ->
          Code.FAILED_PRECONDITION;
      case QUEUE_FULL, LEASE_FULL, TOO_MANY -> Code.RESOURCE_EXHAUSTED;
      case UNAVAILABLE, MOVED -> Code.UNAVAILABLE;
      // An operator must mend ZooKeeper. FAILED_PRECONDITION would tell the caller that its request
      // was at fault.
      case STORE_REFUSED -> Code.INTERNAL;
    };
  }

  private static Optional<Duration> retryAfter(Code code) {
    if (code == Code.UNAVAILABLE) {
      return Optional.of(RETRY_SOON);
    }
    return code == Code.RESOURCE_EXHAUSTED ? Optional.of(RETRY_LATER) : Optional.empty();
  }

  /** Returns the refusal that ends a stream whose client does not read what it is sent. */
  public static Refusal overflow() {
    return of(
        new Failure(
            Failure.Reason.TOO_MANY,
            "the client does not read its stream fast enough: too much waits for it; read faster and resume"));
  }

  /** Returns the refusal that ends a stream because the coordinator goes away. */
  public static Refusal goingAway(String reason, Duration after) {
    return new Refusal(Code.UNAVAILABLE, reason, "", Optional.of(after));
  }

  /** Returns the refusal that ends a stream because the same request is now told to another. */
  public static Refusal superseded() {
    return refusal(
        Code.ABORTED, "the same request came again on another stream, which hears from now on", "");
  }

  /** Returns the refusal of a request that names a watch that the stream has not. */
  public static Refusal unknownWatch(String watchId) {
    return refusal(
        Code.NOT_FOUND, "this stream has no watch " + QuotedInput.of(watchId), "watch_id");
  }

  private static Refusal unexpected(Throwable cause) {
    String id = Long.toHexString(ThreadLocalRandom.current().nextLong());
    LOG.atError().setCause(cause).addKeyValue("incident", id).log("Unexpected failure of a call");
    return refusal(Code.INTERNAL, "internal error " + id + "; the server's log says more", "");
  }

  private static Refusal refusal(Code code, String message, String field) {
    return new Refusal(code, message, field, retryAfter(code));
  }
}
