package io.lockkeeper.client.testing;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.rpc.BadRequest;
import com.google.rpc.Code;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.client.internal.LockNames;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.LockMode;
import java.util.Optional;

/** Refuses malformed requests as a real server does. */
final class FakeChecks {

  private static final int MAX_METADATA_BYTES = 4096;
  private static final int MAX_METADATA_ENTRIES = 32;
  private static final long MAX_WAIT_SECONDS = 7 * 24 * 3600;

  private FakeChecks() {}

  static void acquire(AcquireRequest request) {
    if (request.getLocksCount() == 0) {
      throw invalid("locks", "at least one lock must be named");
    }
    request.getLocksList().forEach(lock -> name("locks[0].name", lock.getName()));
    unimplemented(request.getLocksCount() > 1, "several locks in one request");
    LockMode mode = request.getLocks(0).getMode();
    unimplemented(
        mode != LockMode.LOCK_MODE_EXCLUSIVE && mode != LockMode.LOCK_MODE_UNSPECIFIED,
        "modes other than EXCLUSIVE");
    unimplemented(!request.getOwner().isEmpty(), "owners");
    unimplemented(request.hasMaxHold(), "max_hold");
    unimplemented(request.hasLockDelay(), "lock_delay");
    if (request.hasWaitTimeout()) {
      Duration wait = request.getWaitTimeout();
      if (wait.getSeconds() < 0 || wait.getNanos() < 0 || wait.getSeconds() > MAX_WAIT_SECONDS) {
        throw invalid("wait_timeout", "must be zero to 7 days");
      }
    }
    int bytes =
        request.getMetadataMap().entrySet().stream()
            .mapToInt(e -> e.getKey().length() + e.getValue().length())
            .sum();
    if (bytes > MAX_METADATA_BYTES || request.getMetadataCount() > MAX_METADATA_ENTRIES) {
      throw invalid("metadata", "may have 32 entries and 4 KiB in all");
    }
  }

  static void name(String field, String name) {
    LockNames.fault(name)
        .ifPresent(
            fault -> {
              throw invalid(field, fault);
            });
  }

  static StatusRuntimeException invalid(String field, String message) {
    BadRequest wrong =
        BadRequest.newBuilder()
            .addFieldViolations(
                BadRequest.FieldViolation.newBuilder().setField(field).setDescription(message))
            .build();
    Metadata trailers = new Metadata();
    trailers.put(ProtoUtils.keyForProto(BadRequest.getDefaultInstance()), wrong);
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(Code.INVALID_ARGUMENT_VALUE)
            .setMessage(message)
            .addDetails(Any.pack(wrong))
            .build(),
        trailers);
  }

  static StatusRuntimeException failure(Status status, String message) {
    return status.withDescription(message).asRuntimeException();
  }

  /** Returns the field that {@link #invalid} named; empty: none. */
  static String field(StatusRuntimeException failure) {
    Metadata.Key<BadRequest> key = ProtoUtils.keyForProto(BadRequest.getDefaultInstance());
    return Optional.ofNullable(failure.getTrailers())
        .map(trailers -> trailers.get(key))
        .map(wrong -> wrong.getFieldViolations(0).getField())
        .orElse("");
  }

  private static void unimplemented(boolean asked, String what) {
    if (asked) {
      throw failure(Status.UNIMPLEMENTED, what + " are not offered by the in-memory server");
    }
  }
}
