package io.lockkeeper.conformance;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;

/** Statuses with the details that a server of Lockkeeper gives. */
final class Statuses {

  private Statuses() {}

  /** Returns one that names its reason, and no delay. */
  static StatusRuntimeException of(Code code, String reason) {
    return StatusProto.toStatusRuntimeException(begin(code, reason).build());
  }

  /** Returns one that names its reason, and how long the client is to stay away. */
  static StatusRuntimeException of(Code code, String reason, long retryDelayMillis) {
    RetryInfo retry =
        RetryInfo.newBuilder().setRetryDelay(Terms.toDuration(retryDelayMillis)).build();
    return StatusProto.toStatusRuntimeException(
        begin(code, reason).addDetails(Any.pack(retry)).build());
  }

  private static com.google.rpc.Status.Builder begin(Code code, String reason) {
    ErrorInfo info = ErrorInfo.newBuilder().setDomain("lockkeeper.io").setReason(reason).build();
    return com.google.rpc.Status.newBuilder()
        .setCode(code.value())
        .setMessage("as the script says")
        .addDetails(Any.pack(info));
  }
}
