package io.lockkeeper.server.web.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.Durations;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.server.web.http.Page;
import tools.jackson.databind.json.JsonMapper;

/** What went wrong with a call, as JSON. */
final class Errors {

  static final String JSON_TYPE = "application/json";

  private static final int UNAUTHORIZED = 401;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private Errors() {}

  /**
   * An error.
   *
   * @param code the status code of gRPC
   * @param message what is wrong, human-readable
   * @param reason the name of the {@code ErrorReason}
   * @param field the field of the request that is wrong
   * @param retryAfter after what time the same may succeed, such as {@code 0.5s}
   */
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  record ErrorBody(String code, String message, String reason, String field, String retryAfter) {}

  /** Returns a page for what a call has ended with. */
  static Page page(Status status, Metadata trailers) {
    ErrorBody error = error(status, trailers);
    Page page = page(httpStatus(status.getCode()), error);
    if (page.status() == UNAUTHORIZED) {
      return page.with("WWW-Authenticate", Challenge.BASIC);
    }
    return error.retryAfter().isEmpty() ? page : page.with("Retry-After", "1");
  }

  /** Returns a page for a request that reaches no call. */
  static Page page(int httpStatus, Status.Code code, String message) {
    return page(httpStatus, new ErrorBody(code.name(), message, "", "", ""));
  }

  private static Page page(int httpStatus, ErrorBody error) {
    return new Page(httpStatus, JSON_TYPE, line(error) + "\n");
  }

  /** Returns one line of JSON. */
  static String line(ErrorBody error) {
    return JSON.writeValueAsString(error);
  }

  /** Returns what a call has ended with. */
  static ErrorBody error(Status status, Metadata trailers) {
    String reason = "";
    String field = "";
    String retryAfter = "";
    try {
      for (Any detail : StatusProto.fromStatusAndTrailers(status, trailers).getDetailsList()) {
        if (detail.is(ErrorInfo.class)) {
          reason = detail.unpack(ErrorInfo.class).getReason();
        } else if (detail.is(BadRequest.class)) {
          BadRequest bad = detail.unpack(BadRequest.class);
          field = bad.getFieldViolationsCount() == 0 ? "" : bad.getFieldViolations(0).getField();
        } else if (detail.is(RetryInfo.class)) {
          retryAfter = seconds(detail.unpack(RetryInfo.class));
        }
      }
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("our own error details cannot be read", e);
    }
    String description = status.getDescription();
    String code = status.getCode().name();
    return new ErrorBody(code, description == null ? code : description, reason, field, retryAfter);
  }

  private static String seconds(RetryInfo retry) {
    return Durations.toMillis(retry.getRetryDelay()) / 1_000.0 + "s";
  }

  private static int httpStatus(Status.Code code) {
    return switch (code) {
      case OK -> 200;
      case INVALID_ARGUMENT, OUT_OF_RANGE -> 400;
      case UNAUTHENTICATED -> UNAUTHORIZED;
      case PERMISSION_DENIED -> 403;
      case NOT_FOUND -> 404;
      case FAILED_PRECONDITION, ABORTED, ALREADY_EXISTS -> 409;
      case RESOURCE_EXHAUSTED -> 429;
      case CANCELLED -> 499;
      case UNIMPLEMENTED -> 501;
      case UNAVAILABLE -> 503;
      case DEADLINE_EXCEEDED -> 504;
      case INTERNAL, UNKNOWN, DATA_LOSS -> 500;
    };
  }
}
