package io.lockkeeper.client;

import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The server refused a request. Sending it again as it is will not help, unless {@link #retryAfter}
 * says when it may: a limit is reached, such as the number of locks of this client's lease or of
 * the clients of the server; or it was refused, for the moment, until some seconds after its wait
 * limit.
 */
public final class RequestRefusedException extends LockkeeperException {

  private static final long serialVersionUID = 1L;
  private final Status.Code code;
  private final ErrorReason reason;
  private final String field;
  private final @Nullable Duration retryAfter;

  /**
   * Makes the failure of a request that a server refused.
   *
   * @param request what was refused, human-readable: names the lock
   * @param code the gRPC status code
   * @param reason why, for programs
   * @param message why, human-readable; may be empty
   * @param field the request's field that was wrong; empty: none was named
   * @param retryAfter when the server says that it may be tried again; empty: it does not
   */
  public RequestRefusedException(
      String request,
      Status.Code code,
      ErrorReason reason,
      String message,
      String field,
      Optional<Duration> retryAfter) {
    super(
        request
            + ": the server refused the request ("
            + code
            + (saysMore(reason, code) ? ", " + reason : "")
            + (field.isEmpty() ? "" : ", field " + field)
            + "): "
            + (message.isEmpty() ? "it gave no reason" : message));
    this.code = code;
    this.reason = reason;
    this.field = field;
    this.retryAfter = retryAfter.orElse(null);
  }

  private static boolean saysMore(ErrorReason reason, Status.Code code) {
    return reason != ErrorReason.UNKNOWN && !reason.name().equals(code.name());
  }

  /** Returns the gRPC status code, for instance {@code INVALID_ARGUMENT}. */
  public Status.Code code() {
    return code;
  }

  /** Returns why the server refused the request, for programs. */
  public ErrorReason reason() {
    return reason;
  }

  /** Returns the request's field that was wrong; empty if none was named. */
  public String field() {
    return field;
  }

  /** Returns how long to wait before the same request is tried again; empty: it would not help. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }
}
