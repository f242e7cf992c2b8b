package io.lockkeeper.server.rpc;

import io.lockkeeper.server.core.AcquireCommand;
import io.lockkeeper.server.core.AcquireCommand.WantedLock;
import io.lockkeeper.server.core.LeaseId;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.Mode;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Checks requests for locks and translates them. What is malformed is refused before what is not
 * offered.
 */
final class AcquireRequests {

  private static final int MAX_LOCKS = 64;
  private static final int MAX_PERMITS = 1_000_000;
  private static final Duration MAX_WAIT = Duration.ofDays(7);
  private static final Duration MIN_HOLD = Duration.ofMillis(100);
  private static final Duration MAX_HOLD = Duration.ofDays(7);
  private static final Duration MAX_DELAY = Duration.ofHours(1);
  private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
  private static final Duration MAX_INTERVAL = Duration.ofHours(1);

  private AcquireRequests() {}

  /** Translates the request of an Acquire call. */
  static AcquireCommand toCommand(AcquireRequest request, String peer) {
    Optional<LeaseId> lease =
        request.getLeaseId().isEmpty()
            ? Optional.empty()
            : Optional.of(Fields.leaseId("lease_id", request.getLeaseId()));
    String requestId = Requests.requestId("request_id", request.getRequestId());
    // Under a lease, an empty holder stands for the lease's own, which the coordinator knows.
    String holder = lease.isPresent() ? "" : peer;
    return toCommand(request, lease, requestId.isEmpty() ? madeUp() : requestId, holder);
  }

  /**
   * Translates a request on a session stream, where the lease is the stream's and the request id is
   * the client's.
   */
  static AcquireCommand toSessionCommand(AcquireRequest request) {
    Fields.required("request_id", request.getRequestId());
    String requestId = Requests.requestId("request_id", request.getRequestId());
    return toCommand(request, Optional.empty(), requestId, "");
  }

  private static AcquireCommand toCommand(
      AcquireRequest request, Optional<LeaseId> lease, String requestId, String defaultHolder) {
    List<WantedLock> locks = locks(request.getLocksList());
    String owner = Fields.text("owner", request.getOwner(), Requests.MAX_PEOPLE_BYTES);
    String holder = Requests.holder("holder", request.getHolder(), defaultHolder);
    Optional<Duration> wait =
        request.hasWaitTimeout()
            ? Optional.of(
                Fields.duration("wait_timeout", request.getWaitTimeout(), Duration.ZERO, MAX_WAIT))
            : Optional.empty();
    Optional<Duration> interval =
        request.hasPositionInterval()
            ? Optional.of(
                Fields.duration(
                    "position_interval", request.getPositionInterval(), MIN_INTERVAL, MAX_INTERVAL))
            : Optional.empty();
    var metadata = Fields.metadata("metadata", request.getMetadataMap());
    refuseWhatIsNotOffered(request);
    return new AcquireCommand(locks, lease, owner, requestId, wait, holder, metadata, interval);
  }

  private static void refuseWhatIsNotOffered(AcquireRequest request) {
    if (request.hasMaxHold()) {
      Fields.duration("max_hold", request.getMaxHold(), MIN_HOLD, MAX_HOLD);
    }
    boolean delayed =
        request.hasLockDelay()
            && !Fields.duration("lock_delay", request.getLockDelay(), Duration.ZERO, MAX_DELAY)
                .isZero();
    for (int i = 0; i < request.getLocksCount(); i++) {
      refuseOtherModes("locks[" + i + "].mode", request.getLocks(i).getMode());
    }
    if (request.getLocksCount() > 1) {
      throw new NotOfferedException(
          "locks", "several locks in one request are not offered by this server: ask for one");
    }
    if (!request.getOwner().isEmpty()) {
      throw new NotOfferedException(
          "owner", "owners (reentrancy) are not offered by this server: leave it empty");
    }
    if (request.hasMaxHold()) {
      throw new NotOfferedException("max_hold", "a longest hold is not offered by this server");
    }
    if (delayed) {
      throw new NotOfferedException("lock_delay", "a lock delay is not offered by this server");
    }
  }

  private static void refuseOtherModes(String field, LockMode mode) {
    if (mode != LockMode.LOCK_MODE_EXCLUSIVE && mode != LockMode.LOCK_MODE_UNSPECIFIED) {
      throw new NotOfferedException(
          field, mode.name() + " is not offered by this server: only LOCK_MODE_EXCLUSIVE is");
    }
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
            path + ".name", "must not be named twice in one request: " + Quoted.of(name.value()));
      }
      locks.add(new WantedLock(name, mode(path, requests.get(i))));
    }
    return locks;
  }

  private static Mode mode(String path, LockRequest lock) {
    if (lock.getMode() == LockMode.UNRECOGNIZED) {
      throw Fields.invalid(path + ".mode", "is not a LockMode: " + lock.getModeValue());
    }
    if (lock.getMode() == LockMode.LOCK_MODE_PERMITS) {
      checkPermits(path, lock);
    } else if (lock.getPermits() != 0 || lock.getLimit() != 0) {
      String field = lock.getPermits() != 0 ? ".permits" : ".limit";
      throw Fields.invalid(path + field, "must be unset unless the mode is LOCK_MODE_PERMITS");
    }
    return Mode.EXCLUSIVE;
  }

  private static void checkPermits(String path, LockRequest lock) {
    if (lock.getLimit() < 1 || lock.getLimit() > MAX_PERMITS) {
      throw Fields.invalid(
          path + ".limit", "must be 1 to " + MAX_PERMITS + ", is " + lock.getLimit());
    }
    if (lock.getPermits() < 1 || lock.getPermits() > lock.getLimit()) {
      throw Fields.invalid(
          path + ".permits",
          "must be 1 to the limit (" + lock.getLimit() + "), is " + lock.getPermits());
    }
  }

  private static String madeUp() {
    return "r-" + UUID.randomUUID().toString().substring(0, 13);
  }
}
