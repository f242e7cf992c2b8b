package io.lockkeeper.client.internal.protocol;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.client.ErrorReason;
import io.lockkeeper.client.RequestRefusedException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a failed call says besides its status code.
 *
 * @param status code and description
 * @param reason why, for programs; unknown where the server does not say so, or gRPC itself failed
 * @param field the field that was wrong; empty: none was named
 * @param retryAfter when to try again; empty: the server does not say so
 */
public record ErrorDetails(
    Status status, ErrorReason reason, String field, Optional<Duration> retryAfter) {

  private static final String DOMAIN = "lockkeeper.io";

  /** What Netty puts before the reason that the kernel gives. */
  private static final String NATIVE_CALL = "^\\S+ failed with error\\(-?\\d+\\): ";

  /** Returns what a call failed with. */
  public static ErrorDetails of(Throwable failure) {
    com.google.rpc.Status details = StatusProto.fromThrowable(failure);
    return new ErrorDetails(
        Status.fromThrowable(failure),
        find(details, ErrorInfo.class)
            .filter(info -> info.getDomain().equals(DOMAIN))
            .map(info -> reason(info.getReason()))
            .orElse(ErrorReason.UNKNOWN),
        find(details, BadRequest.class)
            .flatMap(bad -> bad.getFieldViolationsList().stream().findFirst())
            .map(BadRequest.FieldViolation::getField)
            .orElse(""),
        find(details, RetryInfo.class).map(retry -> Protos.toJava(retry.getRetryDelay())));
  }

  /** Returns details of which only the status is known. */
  public static ErrorDetails of(Status status) {
    return new ErrorDetails(status, ErrorReason.UNKNOWN, "", Optional.empty());
  }

  private static <M extends Message> Optional<M> find(
      com.google.rpc.@Nullable Status details, Class<M> type) {
    if (details == null) {
      return Optional.empty();
    }
    for (Any detail : details.getDetailsList()) {
      if (detail.is(type)) {
        try {
          return Optional.of(detail.unpack(type));
        } catch (InvalidProtocolBufferException broken) {
          return Optional.empty();
        }
      }
    }
    return Optional.empty();
  }

  private static ErrorReason reason(String name) {
    return Arrays.stream(ErrorReason.values())
        .filter(reason -> reason.name().equals(name))
        .findFirst()
        .orElse(ErrorReason.UNKNOWN);
  }

  /**
   * Returns the code, and the innermost cause or else the description: what gRPC itself says of a
   * connection that fails is no more than "io exception".
   */
  public String inWords() {
    Throwable cause = status.getCause();
    while (cause != null && cause.getCause() != null) {
      cause = cause.getCause();
    }
    String why = cause == null ? null : cause.getMessage();
    String text = why == null ? status.getDescription() : why.replaceFirst(NATIVE_CALL, "");
    return text == null ? code().toString() : code() + ", " + text;
  }

  /** Returns whether no server has said this: it could not be reached, or said nothing. */
  public boolean isOfTransport() {
    return isPassing() && reason == ErrorReason.UNKNOWN;
  }

  /** Returns the gRPC status code. */
  public Status.Code code() {
    return status.getCode();
  }

  /** Returns whether the same call may succeed later or elsewhere. */
  public boolean isPassing() {
    return Protos.isPassing(code(), reason);
  }

  /**
   * Returns what the call fails with.
   *
   * @param request what was refused, human-readable: names the lock
   */
  public RequestRefusedException toException(String request) {
    String description = Optional.ofNullable(status.getDescription()).orElse("");
    return new RequestRefusedException(request, code(), reason, description, field, retryAfter);
  }
}
