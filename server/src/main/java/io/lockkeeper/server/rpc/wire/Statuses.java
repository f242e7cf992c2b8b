package io.lockkeeper.server.rpc.wire;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.v1.ErrorReason;
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

  /** The status code and the reason that stand for a failure. */
  private record Row(Code code, ErrorReason reason) {}

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
      return refusal(
          Code.INVALID_ARGUMENT,
          ErrorReason.ERROR_REASON_INVALID_FIELD,
          invalid.description(),
          invalid.field());
    }
    if (cause instanceof DeniedException denied) {
      return refusal(
          Code.PERMISSION_DENIED,
          ErrorReason.ERROR_REASON_PERMISSION_DENIED,
          String.valueOf(denied.getMessage()),
          "");
    }
    if (cause instanceof OverLimitException over) {
      return refusal(
              Code.RESOURCE_EXHAUSTED,
              ErrorReason.ERROR_REASON_LIMIT_REACHED,
              String.valueOf(over.getMessage()),
              "")
          .withRetryAfter(over.retryAfter());
    }
    if (cause instanceof StatusRuntimeException status) {
      return ofGrpc(status);
    }
    return unexpected(cause);
  }

  /**
   * What a peer has refused, or what gRPC says of a request that it could not read. What a peer
   * says in gRPC's words alone is no decision of a coordinator: it did not answer in time, or is of
   * another release.
   */
  private static Refusal ofGrpc(StatusRuntimeException status) {
    if (status.getCause() instanceof InvalidProtocolBufferException) {
      return refusal(
          Code.INVALID_ARGUMENT,
          ErrorReason.ERROR_REASON_INVALID_FIELD,
          "the request is no message of this call: " + inWords(status.getStatus()),
          "");
    }
    return Refusal.carriedBy(status)
        .orElseGet(
            () ->
                unreachable(
                    "the coordinator that serves the lease gave no answer of its own: "
                        + inWords(status.getStatus())));
  }

  private static String inWords(Status status) {
    String description = status.getDescription();
    return description == null || description.isEmpty()
        ? status.getCode().name()
        : status.getCode() + ": " + description;
  }

  /** Returns the refusal that {@code failure} stands for. */
  public static Refusal of(Failure failure) {
    Row row = rowOf(failure.reason());
    return new Refusal(
        row.code(),
        row.reason(),
        failure.message(),
        "",
        retryAfter(row.code()),
        PeerHeaders.mayHelp(failure.reason()));
  }

  private static Row rowOf(Failure.Reason reason) {
    return switch (reason) {
      case UNKNOWN_LEASE, FOREIGN_LEASE ->
          new Row(Code.NOT_FOUND, ErrorReason.ERROR_REASON_UNKNOWN_LEASE);
      case UNKNOWN_ACQUISITION ->
          new Row(Code.NOT_FOUND, ErrorReason.ERROR_REASON_UNKNOWN_ACQUISITION);
      case NO_HOLDER -> new Row(Code.NOT_FOUND, ErrorReason.ERROR_REASON_NO_HOLDER);
      case NOT_FROZEN -> new Row(Code.NOT_FOUND, ErrorReason.ERROR_REASON_NOT_FROZEN);
      case SECRET_USED -> new Row(Code.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_SECRET_USED);
      case WRONG_SECRET -> new Row(Code.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_WRONG_SECRET);
      case REQUEST_ID_IN_USE ->
          new Row(Code.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_REQUEST_ID_IN_USE);
      case WRONG_TOKEN -> new Row(Code.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_WRONG_TOKEN);
      case WRONG_KIND -> new Row(Code.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_WRONG_KIND);
      case WRONG_LIMIT -> new Row(Code.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_WRONG_LIMIT);
      case NOT_WAITING -> new Row(Code.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_NOT_WAITING);
      case NOT_HELD -> new Row(Code.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_NOT_HELD);
      case ENDED -> new Row(Code.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_ACQUISITION_ENDED);
      case COUNTER_STUCK ->
          new Row(Code.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_COUNTER_EXHAUSTED);
      case QUEUE_FULL -> new Row(Code.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_QUEUE_FULL);
      case LEASE_FULL -> new Row(Code.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_LEASE_FULL);
      case TOO_MANY -> new Row(Code.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_LIMIT_REACHED);
      case UNAVAILABLE -> new Row(Code.UNAVAILABLE, ErrorReason.ERROR_REASON_NO_ZOOKEEPER);
      case LEAVING -> new Row(Code.UNAVAILABLE, ErrorReason.ERROR_REASON_DRAINING);
      case MOVED -> new Row(Code.UNAVAILABLE, ErrorReason.ERROR_REASON_LEASE_MOVED);
      // An operator must mend ZooKeeper. FAILED_PRECONDITION would tell the caller that its request
      // was at fault.
      case STORE_REFUSED -> new Row(Code.INTERNAL, ErrorReason.ERROR_REASON_STORE_REFUSED);
    };
  }

  private static Optional<Duration> retryAfter(Code code) {
    if (code == Code.UNAVAILABLE) {
      return Optional.of(RETRY_SOON);
    }
    return code == Code.RESOURCE_EXHAUSTED ? Optional.of(RETRY_LATER) : Optional.empty();
  }

  /** Returns the refusal of a call of whom nobody knows who makes it. */
  public static Refusal unauthenticated(String message) {
    return refusal(Code.UNAUTHENTICATED, ErrorReason.ERROR_REASON_UNAUTHENTICATED, message, "");
  }

  /** Returns the refusal that ends a stream whose client does not read what it is sent. */
  public static Refusal overflow() {
    return refusal(
        Code.RESOURCE_EXHAUSTED,
        ErrorReason.ERROR_REASON_SLOW_CONSUMER,
        "the client does not read its stream fast enough: too much waits for it; read faster and resume",
        "");
  }

  /** Returns the refusal of what would go over a limit of the whole server. */
  public static Refusal limitReached(String message) {
    return refusal(
        Code.RESOURCE_EXHAUSTED,
        ErrorReason.ERROR_REASON_LIMIT_REACHED,
        message + "; try again later",
        "");
  }

  /** Returns the refusal that ends streams and calls because the coordinator is about to leave. */
  public static Refusal draining(String message, Duration after) {
    return new Refusal(
        Code.UNAVAILABLE,
        ErrorReason.ERROR_REASON_DRAINING,
        message,
        "",
        Optional.of(after),
        false);
  }

  /** Returns the refusal that ends a stream because its connection, or its token, is too old. */
  public static Refusal connectionTooOld() {
    return new Refusal(
        Code.UNAVAILABLE,
        ErrorReason.ERROR_REASON_CONNECTION_TOO_OLD,
        "the connection has reached its maximum age, or the token of the call has expired",
        "",
        Optional.of(Duration.ZERO),
        false);
  }

  /** Returns the refusal that ends a session stream whose lease can be resumed at once. */
  public static Refusal sentAway(Failure why) {
    return of(why).withRetryAfter(Duration.ZERO);
  }

  /** Returns the refusal of a request whose lease another coordinator serves, which is silent. */
  public static Refusal unreachable(String message) {
    return unreachable(message, RETRY_SOON);
  }

  /** The same with the time after which to try again. */
  public static Refusal unreachable(String message, Duration after) {
    return new Refusal(
        Code.UNAVAILABLE,
        ErrorReason.ERROR_REASON_COORDINATOR_UNREACHABLE,
        message,
        "",
        Optional.of(after),
        false);
  }

  /** Returns the refusal that ends a stream because the same request is now told to another. */
  public static Refusal superseded() {
    return refusal(
        Code.ABORTED,
        ErrorReason.ERROR_REASON_SUPERSEDED,
        "the same request came again on another stream, which hears from now on",
        "");
  }

  /** Returns the refusal that ends a session stream because another has resumed its lease. */
  public static Refusal supersededSession() {
    return refusal(
        Code.ABORTED,
        ErrorReason.ERROR_REASON_SUPERSEDED,
        "the lease was resumed on another stream",
        "");
  }

  /** Returns the refusal of a request that names a watch that the stream has not. */
  public static Refusal unknownWatch(String watchId) {
    return refusal(
        Code.NOT_FOUND,
        ErrorReason.ERROR_REASON_UNKNOWN_WATCH,
        "this stream has no watch " + QuotedInput.of(watchId),
        "watch_id");
  }

  private static Refusal unexpected(Throwable cause) {
    String id = Long.toHexString(ThreadLocalRandom.current().nextLong());
    LOG.atError().setCause(cause).addKeyValue("incident", id).log("Unexpected failure of a call");
    return refusal(
        Code.INTERNAL,
        ErrorReason.ERROR_REASON_INTERNAL,
        "internal error " + id + "; the server's log says more",
        "");
  }

  private static Refusal refusal(Code code, ErrorReason reason, String message, String field) {
    return new Refusal(code, reason, message, field, retryAfter(code), false);
  }
}
