package io.lockkeeper.server.rpc.wire;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import io.grpc.Metadata;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.v1.ErrorReason;
import io.lockkeeper.v1.GoingAway;
import io.lockkeeper.v1.GoingAwayReason;
import io.lockkeeper.v1.Refused;
import java.time.Duration;
import java.util.Optional;

/**
 * A request that was refused, in the words of gRPC.
 *
 * @param code the status code
 * @param reason why, for programs
 * @param message human-readable
 * @param field the path of the field that was wrong, empty if none was
 * @param retryAfter when to try again, if that may help
 * @param elsewhere whether another coordinator may not refuse it: the lease is not served here
 */
public record Refusal(
    Code code,
    ErrorReason reason,
    String message,
    String field,
    Optional<Duration> retryAfter,
    boolean elsewhere) {

  /** The domain of the reasons that errors carry. */
  public static final String DOMAIN = "lockkeeper.io";

  private static final String PREFIX = "ERROR_REASON_";

  /** Returns the refusal that a peer's status carries, or empty if it carries no reason of ours. */
  static Optional<Refusal> carriedBy(StatusRuntimeException exception) {
    Status status = StatusProto.fromThrowable(exception);
    Optional<ErrorInfo> info =
        detail(status, ErrorInfo.class).filter(found -> found.getDomain().equals(DOMAIN));
    Optional<BadRequest.FieldViolation> violation =
        detail(status, BadRequest.class)
            .flatMap(found -> found.getFieldViolationsList().stream().findFirst());
    return info.map(
        reason ->
            new Refusal(
                exception.getStatus().getCode(),
                toReason(reason),
                violation
                    .map(BadRequest.FieldViolation::getDescription)
                    .orElse(status.getMessage()),
                violation.map(BadRequest.FieldViolation::getField).orElse(""),
                detail(status, RetryInfo.class)
                    .map(retry -> ProtoDurations.toJava(retry.getRetryDelay())),
                false));
  }

  /** Returns the reason of ours that a status carries, if it does. */
  public static Optional<ErrorReason> reasonOf(io.grpc.Status status, Metadata trailers) {
    return Optional.ofNullable(StatusProto.fromStatusAndTrailers(status, trailers))
        .flatMap(found -> detail(found, ErrorInfo.class))
        .filter(info -> info.getDomain().equals(DOMAIN))
        .map(Refusal::toReason);
  }

  private static <T extends Message> Optional<T> detail(Status status, Class<T> type) {
    return status.getDetailsList().stream()
        .filter(detail -> detail.is(type))
        .findFirst()
        .flatMap(detail -> unpacked(detail, type));
  }

  private static <T extends Message> Optional<T> unpacked(Any detail, Class<T> type) {
    try {
      return Optional.of(detail.unpack(type));
    } catch (InvalidProtocolBufferException e) {
      return Optional.empty();
    }
  }

  private static ErrorReason toReason(ErrorInfo info) {
    try {
      return ErrorReason.valueOf(PREFIX + info.getReason());
    } catch (IllegalArgumentException e) {
      return ErrorReason.ERROR_REASON_INTERNAL; // A newer peer's.
    }
  }

  /** Returns the same with another time to try again. */
  Refusal withRetryAfter(Duration after) {
    return new Refusal(code, reason, message, field, Optional.of(after), elsewhere);
  }

  /** Returns the status that ends a call, with its details. */
  public StatusRuntimeException toException() {
    Status.Builder status = Status.newBuilder().setCode(code.value()).setMessage(text());
    if (code == Code.INVALID_ARGUMENT) {
      status.addDetails(Any.pack(badRequest()));
    }
    retryAfter.ifPresent(
        delay ->
            status.addDetails(
                Any.pack(
                    RetryInfo.newBuilder()
                        .setRetryDelay(ProtoDurations.ofNanos(delay.toNanos()))
                        .build())));
    status.addDetails(
        Any.pack(
            ErrorInfo.newBuilder()
                .setDomain(DOMAIN)
                .setReason(reason.name().substring(PREFIX.length()))
                .build()));
    StatusRuntimeException exception = StatusProto.toStatusRuntimeException(status.build());
    Metadata trailers = exception.getTrailers();
    if (elsewhere && trailers != null) {
      trailers.put(PeerHeaders.NOT_SERVED_HERE, PeerHeaders.VALUE);
    }
    return exception;
  }

  private BadRequest badRequest() {
    return BadRequest.newBuilder()
        .addFieldViolations(
            BadRequest.FieldViolation.newBuilder().setField(field).setDescription(message))
        .build();
  }

  /** Returns the same as an answer on a stream that goes on; which request it is about is added. */
  public Refused.Builder toRefused() {
    Refused.Builder refused =
        Refused.newBuilder()
            .setReason(reason)
            .setCode(code.value())
            .setMessage(text())
            .setField(field);
    retryAfter.ifPresent(after -> refused.setRetryAfter(ProtoDurations.ofNanos(after.toNanos())));
    return refused;
  }

  /** Returns the same as the farewell on a session stream. */
  public GoingAway toGoingAway() {
    return GoingAway.newBuilder()
        .setReason(goingAwayReason())
        .setMessage(message)
        .setResumeAfter(ProtoDurations.ofNanos(retryAfter.orElse(Duration.ZERO).toNanos()))
        .build();
  }

  private GoingAwayReason goingAwayReason() {
    return switch (reason) {
      case ERROR_REASON_LEASE_MOVED -> GoingAwayReason.GOING_AWAY_REASON_LEASE_MOVED;
      case ERROR_REASON_SUPERSEDED -> GoingAwayReason.GOING_AWAY_REASON_SUPERSEDED;
      case ERROR_REASON_CONNECTION_TOO_OLD -> GoingAwayReason.GOING_AWAY_REASON_CONNECTION_TOO_OLD;
      case ERROR_REASON_NO_ZOOKEEPER, ERROR_REASON_COORDINATOR_UNREACHABLE ->
          GoingAwayReason.GOING_AWAY_REASON_NO_ZOOKEEPER;
      default -> GoingAwayReason.GOING_AWAY_REASON_DRAINING;
    };
  }

  /** Returns the same for a field inside {@code parent}. */
  public Refusal inField(String parent) {
    boolean blamesParent = field.isEmpty() && code == Code.INVALID_ARGUMENT;
    if (parent.isEmpty() || (field.isEmpty() && !blamesParent)) {
      return this;
    }
    String path = blamesParent ? parent : parent + "." + field;
    return new Refusal(code, reason, message, path, retryAfter, elsewhere);
  }

  private String text() {
    return field.isEmpty() ? message : field + ": " + message;
  }
}
