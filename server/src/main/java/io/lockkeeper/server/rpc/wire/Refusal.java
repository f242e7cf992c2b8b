package io.lockkeeper.server.rpc.wire;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import io.grpc.Metadata;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.v1.Refused;
import java.time.Duration;
import java.util.Optional;

/**
 * A request that was refused, in the words of gRPC.
 *
 * @param code the status code
 * @param message human-readable
 * @param field the path of the field that was wrong, empty if none was
 * @param retryAfter when to try again, if that may help
 * @param elsewhere whether another coordinator may not refuse it: the lease is not served here
 */
public record Refusal(
    Code code, String message, String field, Optional<Duration> retryAfter, boolean elsewhere) {

  /** Makes a refusal that any coordinator would give. */
  Refusal(Code code, String message, String field, Optional<Duration> retryAfter) {
    this(code, message, field, retryAfter, false);
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

  /** Returns the same as an answer on a stream that goes on. */
  public Refused.Builder toRefused(String id) {
    return Refused.newBuilder().setId(id).setCode(code.value()).setMessage(text()).setField(field);
  }

  /** Returns the same for a field inside {@code parent}. */
  public Refusal inField(String parent) {
    boolean blamesParent = field.isEmpty() && code == Code.INVALID_ARGUMENT;
    if (parent.isEmpty() || (field.isEmpty() && !blamesParent)) {
      return this;
    }
    String path = blamesParent ? parent : parent + "." + field;
    return new Refusal(code, message, path, retryAfter, elsewhere);
  }

  private String text() {
    return field.isEmpty() ? message : field + ": " + message;
  }
}
