package io.lockkeeper.server.rpc.wire;

import io.grpc.MethodDescriptor;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.AcquireCommand.WantedLock;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Checks requests for locks and translates them. */
public final class AcquireRequests {

  private static final int MAX_LOCKS = 64;
  private static final Duration MIN_HOLD = Duration.ofMillis(100);
  private static final Duration MAX_HOLD = Duration.ofDays(7);
  private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
  private static final Duration MAX_INTERVAL = Duration.ofHours(1);

  private AcquireRequests() {}

  /** Translates the request of an Acquire call. */
  public static AcquireCommand toCommand(AcquireRequest request, String peer) {
    Optional<LeaseId> lease =
        request.getLeaseId().isEmpty()
            ? Optional.empty()
            : Optional.of(Fields.leaseId("lease_id", request.getLeaseId()));
    String requestId = RequestReader.requestId(request.getRequestId());
    // Under a lease, an empty holder stands for the lease's own, which the coordinator knows.
    String holder = lease.isPresent() ? "" : peer;
    return toCommand(request, lease, requestId.isEmpty() ? madeUpRequestId() : requestId, holder);
  }

  /**
   * Translates a request on a session stream, where the lease is the stream's and the request id is
   * the client's.
   */
  public static AcquireCommand toSessionCommand(AcquireRequest request) {
    String requestId = RequestReader.requiredId(request.getRequestId());
    return toCommand(request, Optional.empty(), requestId, "");
  }

  private static AcquireCommand toCommand(
      AcquireRequest request, Optional<LeaseId> lease, String requestId, String defaultHolder) {
    List<WantedLock> locks = locks(request.getLocksList());
    String owner = Fields.text("owner", request.getOwner(), RequestReader.MAX_PEOPLE_BYTES);
    String holder = RequestReader.holder("holder", request.getHolder(), defaultHolder);
    Optional<Duration> wait =
        request.hasWaitTimeout()
            ? Optional.of(
                Fields.duration(
                    "wait_timeout",
                    request.getWaitTimeout(),
                    Duration.ZERO,
                    Limits.DEFAULTS.maxWait()))
            : Optional.empty();
    Optional<Duration> interval =
        request.hasPositionInterval()
            ? Optional.of(
                Fields.duration(
                    "position_interval", request.getPositionInterval(), MIN_INTERVAL, MAX_INTERVAL))
            : Optional.empty();
    return new AcquireCommand(
        locks,
        lease,
        owner,
        requestId,
        wait,
        holder,
        Fields.metadata("metadata", request.getMetadataMap()),
        interval,
        maxHold(request),
        lockDelay(request),
        isUnsearched(request),
        heldTokens(request.getHeldTokensList(), locks.size()),
        request.getNotifyContention());
  }

  /** Tasks without an owner may share a lease and not wait for one another. */
  private static boolean isUnsearched(AcquireRequest request) {
    return switch (request.getDeadlockCheck()) {
      case DEADLOCK_CHECK_UNSPECIFIED -> request.getOwner().isEmpty();
      case DEADLOCK_CHECK_ON -> false;
      case DEADLOCK_CHECK_OFF -> true;
      case UNRECOGNIZED ->
          throw Fields.invalid(
              "deadlock_check",
              "must be one of DeadlockCheck, is " + request.getDeadlockCheckValue());
    };
  }

  private static List<Long> heldTokens(List<Long> tokens, int locks) {
    if (tokens.size() > locks) {
      throw Fields.invalid(
          "held_tokens", "must be at most as many as locks, " + locks + ", are " + tokens.size());
    }
    for (int i = 0; i < tokens.size(); i++) {
      Fields.token("held_tokens[" + i + "]", tokens.get(i), 1);
    }
    return tokens;
  }

  private static Optional<Duration> maxHold(AcquireRequest request) {
    return request.hasMaxHold()
        ? Optional.of(Fields.duration("max_hold", request.getMaxHold(), MIN_HOLD, MAX_HOLD))
        : Optional.empty();
  }

  private static Duration lockDelay(AcquireRequest request) {
    return request.hasLockDelay()
        ? Fields.wholeMillis(
            "lock_delay",
            Fields.duration(
                "lock_delay",
                request.getLockDelay(),
                Duration.ZERO,
                Limits.DEFAULTS.maxLockDelay()))
        : Duration.ZERO;
  }

  private static List<WantedLock> locks(List<LockRequest> requests) {
    if (requests.isEmpty() || requests.size() > MAX_LOCKS) {
      throw Fields.invalid("locks", "must be 1 to " + MAX_LOCKS + " locks, are " + requests.size());
    }
    List<WantedLock> locks = new ArrayList<>();
    Set<LockName> seen = new HashSet<>();
    for (int i = 0; i < requests.size(); i++) {
      String path = "locks[" + i + "]";
      LockName name = Fields.lockName(path + ".name", requests.get(i).getName());
      if (!seen.add(name)) {
        throw Fields.invalid(
            path + ".name",
            "must not be named twice in one request: " + QuotedInput.of(name.value()));
      }
      locks.add(new WantedLock(name, Modes.toMode(path, requests.get(i))));
    }
    return locks;
  }

  /**
   * Returns a request with a name: one that is tried at several coordinators must be one request to
   * all of them. Other requests stay as they are.
   */
  public static <Q> Q named(Q request, MethodDescriptor<Q, ?> method) {
    if (request instanceof AcquireRequest acquire && acquire.getRequestId().isEmpty()) {
      AcquireRequest named = acquire.toBuilder().setRequestId(madeUpRequestId()).build();
      return method.parseRequest(named.toByteString().newInput());
    }
    return request;
  }

  private static String madeUpRequestId() {
    return "r-" + UUID.randomUUID().toString().substring(0, 13);
  }
}
