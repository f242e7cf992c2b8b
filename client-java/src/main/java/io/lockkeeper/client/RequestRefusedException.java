package io.lockkeeper.client;

import io.grpc.Status;

/** The server refused a request for good: sending it again as it is will not help. */
public final class RequestRefusedException extends LockkeeperException {

  private static final long serialVersionUID = 1L;
  private final Status.Code code;
  private final String field;

  /** Makes the failure of a request that a server refused. */
  public RequestRefusedException(Status.Code code, String message, String field) {
    super(
        "the server refused the request ("
            + code
            + (field.isEmpty() ? "" : ", field " + field)
            + "): "
            + (message.isEmpty() ? "it gave no reason" : message));
    this.code = code;
    this.field = field;
  }

  /** Returns the gRPC status code, for instance {@code INVALID_ARGUMENT}. */
  public Status.Code code() {
    return code;
  }

  /** Returns the request's field that was wrong; empty if none was named. */
  public String field() {
    return field;
  }
}
