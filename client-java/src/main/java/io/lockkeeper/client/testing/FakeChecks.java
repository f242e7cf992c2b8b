package io.lockkeeper.client.testing;

import com.google.protobuf.Any;
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
import io.lockkeeper.v1.LockRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Refuses malformed requests as a real server does. */
final class FakeChecks {

  static final Duration WEEK = Duration.ofDays(7);
  static final int MAX_LIMIT = 1_000_000;
  static final int MAX_PEOPLE_BYTES = 256;
  static final int MAX_REASON_BYTES = 1024;

  private static final int MAX_LOCKS = 64;
  private static final int MAX_ID_BYTES = 128;
  private static final int MAX_METADATA_BYTES = 4096;
  private static final int MAX_METADATA_ENTRIES = 32;
  private static final Duration SHORTEST = Duration.ofMillis(100);
  private static final Duration HOUR = Duration.ofHours(1);

  private FakeChecks() {}

  static void acquire(AcquireRequest request) {
    if (request.getLocksCount() == 0 || request.getLocksCount() > MAX_LOCKS) {
      throw invalid("locks", "must be 1 to " + MAX_LOCKS + " locks");
    }
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < request.getLocksCount(); i++) {
      LockRequest lock = request.getLocks(i);
      String path = "locks[" + i + "]";
      name(path + ".name", lock.getName());
      if (!seen.add(lock.getName())) {
        throw invalid(path + ".name", "must not be named twice in one request");
      }
      mode(path, lock);
    }
    heldTokens(request);
    text("owner", request.getOwner(), MAX_PEOPLE_BYTES);
    text("request_id", request.getRequestId(), MAX_ID_BYTES);
    text("holder", request.getHolder(), MAX_PEOPLE_BYTES);
    metadata(request.getMetadataMap());
    if (request.hasWaitTimeout()) {
      span("wait_timeout", request.getWaitTimeout(), Duration.ZERO, WEEK);
    }
    if (request.hasMaxHold()) {
      span("max_hold", request.getMaxHold(), SHORTEST, WEEK);
    }
    if (request.hasLockDelay()) {
      span("lock_delay", request.getLockDelay(), Duration.ZERO, HOUR);
      if (FakeTime.toNanos(request.getLockDelay()) % 1_000_000 != 0) {
        throw invalid("lock_delay", "must be in whole milliseconds");
      }
    }
    if (request.hasPositionInterval()) {
      span("position_interval", request.getPositionInterval(), SHORTEST, HOUR);
    }
  }

  private static void heldTokens(AcquireRequest request) {
    if (request.getHeldTokensCount() > request.getLocksCount()) {
      throw invalid("held_tokens", "must be at most as many as locks");
    }
    for (int i = 0; i < request.getHeldTokensCount(); i++) {
      if (request.getHeldTokens(i) <= 0) {
        throw invalid("held_tokens[" + i + "]", "must be above zero");
      }
    }
  }

  private static void mode(String path, LockRequest lock) {
    switch (lock.getMode()) {
      case LOCK_MODE_PERMITS -> permits(path, lock);
      case LOCK_MODE_CUSTOM ->
          throw invalid(path + ".custom", "this server was extended with no kind of locks");
      case UNRECOGNIZED -> throw invalid(path + ".mode", "is not a LockMode");
      case LOCK_MODE_UNSPECIFIED, LOCK_MODE_EXCLUSIVE, LOCK_MODE_READ, LOCK_MODE_WRITE -> {
        if (lock.getPermits() != 0 || lock.getLimit() != 0) {
          String field = lock.getPermits() != 0 ? ".permits" : ".limit";
          throw invalid(path + field, "must be unset unless the mode is LOCK_MODE_PERMITS");
        }
      }
    }
    if (!lock.getCustom().isEmpty() && lock.getMode() != LockMode.LOCK_MODE_CUSTOM) {
      throw invalid(path + ".custom", "must be unset unless the mode is LOCK_MODE_CUSTOM");
    }
  }

  private static void permits(String path, LockRequest lock) {
    limit(path + ".limit", lock.getLimit());
    int most = lock.getLimit() == 0 ? MAX_LIMIT : lock.getLimit();
    if (lock.getPermits() < 1 || lock.getPermits() > most) {
      throw invalid(path + ".permits", "must be 1 to the limit (" + most + ")");
    }
  }

  static void limit(String field, int limit) {
    if (limit < 0 || limit > MAX_LIMIT) {
      throw invalid(field, "must be 1 to " + MAX_LIMIT + ", or 0");
    }
  }

  static void metadata(Map<String, String> metadata) {
    int bytes =
        metadata.entrySet().stream().mapToInt(e -> bytes(e.getKey()) + bytes(e.getValue())).sum();
    if (bytes > MAX_METADATA_BYTES || metadata.size() > MAX_METADATA_ENTRIES) {
      throw invalid("metadata", "may have 32 entries and 4 KiB in all");
    }
    if (metadata.containsKey("")) {
      throw invalid("metadata", "must not have an empty key");
    }
  }

  static void text(String field, String value, int maxBytes) {
    if (bytes(value) > maxBytes) {
      throw invalid(field, "must be at most " + maxBytes + " bytes of UTF-8");
    }
  }

  private static int bytes(String value) {
    return value.getBytes(StandardCharsets.UTF_8).length;
  }

  static void span(String field, com.google.protobuf.Duration value, Duration min, Duration max) {
    Duration span = Duration.ofSeconds(value.getSeconds(), value.getNanos());
    if (value.getNanos() < 0 || span.compareTo(min) < 0 || span.compareTo(max) > 0) {
      throw invalid(field, "must be " + min + " to " + max);
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
}
