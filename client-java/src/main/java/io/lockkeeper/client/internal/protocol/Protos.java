package io.lockkeeper.client.internal.protocol;

import com.google.protobuf.Duration;
import io.grpc.Status;
import io.lockkeeper.client.ChangeCause;
import io.lockkeeper.client.Contender;
import io.lockkeeper.client.ErrorReason;
import io.lockkeeper.client.LeaseLostException;
import io.lockkeeper.client.LockChange;
import io.lockkeeper.client.LockGrant;
import io.lockkeeper.client.LockInfo;
import io.lockkeeper.client.LockMode;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.NotAcquiredReason;
import io.lockkeeper.client.PreviousEnd;
import io.lockkeeper.client.QueuePlace;
import io.lockkeeper.client.ReleaseRequest;
import io.lockkeeper.client.ReleaseResult;
import io.lockkeeper.client.RequestRefusedException;
import io.lockkeeper.v1.Frozen;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseRequested;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.WatchResponse;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Translates between messages and the client's own values. */
public final class Protos {

  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private Protos() {}

  public static Duration toProto(java.time.Duration duration) {
    return Duration.newBuilder()
        .setSeconds(duration.getSeconds())
        .setNanos(duration.getNano())
        .build();
  }

  /** Returns the nanoseconds, capped at what a {@code long} holds. */
  public static long toNanos(Duration duration) {
    long seconds = Math.min(duration.getSeconds(), Long.MAX_VALUE / NANOS_PER_SECOND - 1);
    return seconds * NANOS_PER_SECOND + duration.getNanos();
  }

  public static java.time.Duration toJava(Duration duration) {
    return java.time.Duration.ofNanos(toNanos(duration));
  }

  static Contender toContender(io.lockkeeper.v1.Contender message) {
    long token = message.getFencingToken();
    return new Contender(
        message.getHolder(),
        message.getLeaseTag(),
        message.getRequestId(),
        message.getOwner(),
        toLockMode(message.getMode()),
        message.getPermits(),
        message.getLimit(),
        message.getCustom(),
        message.getMetadataMap(),
        toJava(message.getQueuedFor()),
        toJava(message.getHeldFor()),
        message.getAtLeast(),
        token == 0 ? OptionalLong.empty() : OptionalLong.of(token),
        message.hasReleaseIn() ? Optional.of(toJava(message.getReleaseIn())) : Optional.empty(),
        message.getEntry());
  }

  static LockMode toLockMode(io.lockkeeper.v1.LockMode mode) {
    return switch (mode) {
      case LOCK_MODE_EXCLUSIVE -> LockMode.EXCLUSIVE;
      case LOCK_MODE_READ -> LockMode.READ;
      case LOCK_MODE_WRITE -> LockMode.WRITE;
      case LOCK_MODE_PERMITS -> LockMode.PERMITS;
      case LOCK_MODE_CUSTOM -> LockMode.CUSTOM;
      case LOCK_MODE_UNSPECIFIED, UNRECOGNIZED -> LockMode.UNKNOWN;
    };
  }

  public static List<Contender> toContenders(List<io.lockkeeper.v1.Contender> messages) {
    return messages.stream().map(Protos::toContender).toList();
  }

  public static List<QueuePlace> toQueuePlaces(List<QueuePosition> positions) {
    return positions.stream()
        .map(
            position ->
                new QueuePlace(
                    position.getName(),
                    position.getAhead(),
                    toContenders(position.getHoldersList()),
                    frozen(position.hasFrozen(), position.getFrozen())))
        .toList();
  }

  public static ReleaseRequest toReleaseRequest(ReleaseRequested message) {
    return new ReleaseRequest(
        message.getRequester(),
        message.getReason(),
        message.hasDeadline() ? Optional.of(toJava(message.getDeadline())) : Optional.empty());
  }

  public static LockInfo toLockInfo(LockState message) {
    return new LockInfo(
        message.getName(),
        toContenders(message.getHoldersList()),
        message.getQueueLength(),
        toContenders(message.getQueueList()),
        message.getConfiguredLimit() == 0
            ? OptionalInt.empty()
            : OptionalInt.of(message.getConfiguredLimit()),
        message.hasDelayedFor() ? Optional.of(toJava(message.getDelayedFor())) : Optional.empty(),
        message.getRevision(),
        frozen(message.hasFrozen(), message.getFrozen()));
  }

  private static Optional<String> frozen(boolean isFrozen, Frozen frozen) {
    return isFrozen ? Optional.of(frozen.getReason()) : Optional.empty();
  }

  public static LockChange toLockChange(WatchResponse response) {
    io.lockkeeper.v1.LockChange message = response.getChange();
    return new LockChange(
        message.getName(),
        switch (message.getCause()) {
          case CHANGE_CAUSE_QUEUED -> ChangeCause.QUEUED;
          case CHANGE_CAUSE_GRANTED -> ChangeCause.GRANTED;
          case CHANGE_CAUSE_RELEASED -> ChangeCause.RELEASED;
          case CHANGE_CAUSE_WITHDRAWN -> ChangeCause.WITHDRAWN;
          case CHANGE_CAUSE_LEASE_ENDED -> ChangeCause.LEASE_ENDED;
          case CHANGE_CAUSE_REMOVED -> ChangeCause.REMOVED;
          case CHANGE_CAUSE_METADATA -> ChangeCause.METADATA;
          case CHANGE_CAUSE_FORCED -> ChangeCause.FORCED;
          case CHANGE_CAUSE_LIMIT -> ChangeCause.LIMIT;
          case CHANGE_CAUSE_UNSPECIFIED, UNRECOGNIZED -> ChangeCause.UNKNOWN;
        },
        message.hasContender()
            ? Optional.of(toContender(message.getContender()))
            : Optional.empty(),
        toContenders(message.getHoldersList()),
        message.getQueueLength(),
        Math.max(1, message.getCoalesced()),
        response.getRevision());
  }

  static PreviousEnd toPreviousEnd(io.lockkeeper.v1.PreviousEnd end) {
    return switch (end) {
      case PREVIOUS_END_RELEASED -> PreviousEnd.RELEASED;
      case PREVIOUS_END_LEASE_EXPIRED -> PreviousEnd.LEASE_EXPIRED;
      case PREVIOUS_END_COORDINATOR_LOST -> PreviousEnd.COORDINATOR_LOST;
      case PREVIOUS_END_FORCED -> PreviousEnd.FORCED;
      case PREVIOUS_END_LOST -> PreviousEnd.LOST;
      case PREVIOUS_END_CANCELLED -> PreviousEnd.CANCELLED;
      case PREVIOUS_END_UNSPECIFIED, UNRECOGNIZED -> PreviousEnd.UNKNOWN;
    };
  }

  /** Returns the grants in the order of the request. */
  public static List<LockGrant> toGrants(Granted granted) {
    int count = granted.getGrantsCount();
    if (count == 1) { // Nearly always.
      return List.of(toGrant(granted.getGrants(0)));
    }
    return granted.getGrantsList().stream().map(Protos::toGrant).toList();
  }

  private static LockGrant toGrant(Grant grant) {
    return new LockGrant(
        grant.getName(),
        grant.getFencingToken(),
        toPreviousEnd(grant.getPreviousEnd()),
        Math.max(1, grant.getHoldCount()));
  }

  public static ReleaseResult toReleaseResult(ReleaseResponse response) {
    ReleaseResult.Outcome outcome =
        switch (response.getOutcome()) {
          case RELEASE_OUTCOME_RELEASED -> ReleaseResult.Outcome.RELEASED;
          case RELEASE_OUTCOME_DECREMENTED -> ReleaseResult.Outcome.DECREMENTED;
          case RELEASE_OUTCOME_ALREADY_RELEASED,
              RELEASE_OUTCOME_WITHDRAWN,
              RELEASE_OUTCOME_UNSPECIFIED,
              UNRECOGNIZED ->
              ReleaseResult.Outcome.ALREADY_RELEASED;
        };
    return new ReleaseResult(
        outcome, outcome == ReleaseResult.Outcome.RELEASED ? 0 : response.getRemainingHolds());
  }

  public static LossReason toLossReason(io.lockkeeper.v1.LossReason reason) {
    return switch (reason) {
      case LOSS_REASON_LEASE_EXPIRED -> LossReason.LEASE_EXPIRED;
      case LOSS_REASON_LEASE_CLOSED -> LossReason.LEASE_CLOSED;
      case LOSS_REASON_SESSION_LOST -> LossReason.SESSION_LOST;
      case LOSS_REASON_REMOVED -> LossReason.REMOVED;
      case LOSS_REASON_FORCED -> LossReason.FORCED;
      case LOSS_REASON_MAX_HOLD -> LossReason.MAX_HOLD;
      case LOSS_REASON_UNSPECIFIED, UNRECOGNIZED -> LossReason.UNKNOWN;
    };
  }

  public static LossReason toLossReason(LeaseEndReason reason) {
    return switch (reason) {
      case LEASE_END_REASON_EXPIRED -> LossReason.LEASE_EXPIRED;
      case LEASE_END_REASON_CLOSED -> LossReason.LEASE_CLOSED;
      case LEASE_END_REASON_SESSION_LOST -> LossReason.SESSION_LOST;
      case LEASE_END_REASON_FORCED -> LossReason.FORCED;
      case LEASE_END_REASON_UNSPECIFIED, UNRECOGNIZED -> LossReason.UNKNOWN;
    };
  }

  /** Returns why a hold was lost that a server says was never granted. */
  public static LossReason toLossReason(io.lockkeeper.v1.NotAcquiredReason reason) {
    return switch (reason) {
      case NOT_ACQUIRED_REASON_LEASE_ENDED -> LossReason.LEASE_EXPIRED;
      case NOT_ACQUIRED_REASON_SESSION_LOST -> LossReason.SESSION_LOST;
      case NOT_ACQUIRED_REASON_TIMED_OUT,
          NOT_ACQUIRED_REASON_WOULD_DEADLOCK,
          NOT_ACQUIRED_REASON_QUEUE_FULL,
          NOT_ACQUIRED_REASON_WITHDRAWN,
          NOT_ACQUIRED_REASON_REMOVED,
          NOT_ACQUIRED_REASON_LIMIT_TOO_SMALL,
          NOT_ACQUIRED_REASON_UNSPECIFIED,
          UNRECOGNIZED ->
          LossReason.REMOVED;
    };
  }

  /** Returns what a request fails with that is not granted. */
  public static LockkeeperException toException(String lock, NotAcquired message) {
    return switch (message.getReason()) {
      case NOT_ACQUIRED_REASON_LEASE_ENDED, NOT_ACQUIRED_REASON_SESSION_LOST ->
          new LeaseLostException(lock, toLossReason(message.getReason()));
      case NOT_ACQUIRED_REASON_TIMED_OUT -> notAcquired(lock, NotAcquiredReason.TIMED_OUT, message);
      case NOT_ACQUIRED_REASON_WOULD_DEADLOCK ->
          notAcquired(lock, NotAcquiredReason.WOULD_DEADLOCK, message);
      case NOT_ACQUIRED_REASON_QUEUE_FULL ->
          notAcquired(lock, NotAcquiredReason.QUEUE_FULL, message);
      case NOT_ACQUIRED_REASON_WITHDRAWN -> notAcquired(lock, NotAcquiredReason.WITHDRAWN, message);
      case NOT_ACQUIRED_REASON_REMOVED -> notAcquired(lock, NotAcquiredReason.REMOVED, message);
      case NOT_ACQUIRED_REASON_LIMIT_TOO_SMALL ->
          notAcquired(lock, NotAcquiredReason.LIMIT_TOO_SMALL, message);
      case NOT_ACQUIRED_REASON_UNSPECIFIED, UNRECOGNIZED ->
          notAcquired(lock, NotAcquiredReason.UNKNOWN, message);
    };
  }

  /** Returns what a request for locks fails with when a server refuses it for good. */
  public static LockkeeperException toException(String lock, Refused refused) {
    ErrorReason reason = toErrorReason(refused.getReason());
    Status.Code code = Status.fromCodeValue(refused.getCode()).getCode();
    if (reason == ErrorReason.QUEUE_FULL) {
      return new NotAcquiredException(
          lock, NotAcquiredReason.QUEUE_FULL, refused.getMessage(), List.of());
    }
    return code == Status.Code.NOT_FOUND
        ? new LeaseLostException(lock, LossReason.LEASE_UNKNOWN)
        : toRefusal(lock, refused);
  }

  /** Returns how long a server asks to wait before the same request; empty: it does not say. */
  public static OptionalLong toRetryNanos(Refused refused) {
    return refused.hasRetryAfter()
        ? OptionalLong.of(toNanos(refused.getRetryAfter()))
        : OptionalLong.empty();
  }

  /** Returns what a call about a lock fails with when a server refuses it for good. */
  public static RequestRefusedException toRefusal(String lock, Refused refused) {
    return new RequestRefusedException(
        LockNames.quoted(lock),
        Status.fromCodeValue(refused.getCode()).getCode(),
        toErrorReason(refused.getReason()),
        refused.getMessage(),
        refused.getField(),
        refused.hasRetryAfter() ? Optional.of(toJava(refused.getRetryAfter())) : Optional.empty());
  }

  private static NotAcquiredException notAcquired(
      String lock, NotAcquiredReason reason, NotAcquired message) {
    return new NotAcquiredException(
        lock, reason, message.getMessage(), toContenders(message.getHoldersList()));
  }

  /** Translates a reason; one that this client does not know is unknown. */
  public static ErrorReason toErrorReason(io.lockkeeper.v1.ErrorReason reason) {
    return switch (reason) {
      case ERROR_REASON_UNSPECIFIED, UNRECOGNIZED -> ErrorReason.UNKNOWN;
      case ERROR_REASON_INVALID_FIELD -> ErrorReason.INVALID_FIELD;
      case ERROR_REASON_UNKNOWN_LEASE -> ErrorReason.UNKNOWN_LEASE;
      case ERROR_REASON_UNKNOWN_ACQUISITION -> ErrorReason.UNKNOWN_ACQUISITION;
      case ERROR_REASON_UNKNOWN_WATCH -> ErrorReason.UNKNOWN_WATCH;
      case ERROR_REASON_NO_HOLDER -> ErrorReason.NO_HOLDER;
      case ERROR_REASON_NOT_FROZEN -> ErrorReason.NOT_FROZEN;
      case ERROR_REASON_WRONG_SECRET -> ErrorReason.WRONG_SECRET;
      case ERROR_REASON_SECRET_USED -> ErrorReason.SECRET_USED;
      case ERROR_REASON_REQUEST_ID_IN_USE -> ErrorReason.REQUEST_ID_IN_USE;
      case ERROR_REASON_WRONG_TOKEN -> ErrorReason.WRONG_TOKEN;
      case ERROR_REASON_WRONG_KIND -> ErrorReason.WRONG_KIND;
      case ERROR_REASON_WRONG_LIMIT -> ErrorReason.WRONG_LIMIT;
      case ERROR_REASON_NOT_WAITING -> ErrorReason.NOT_WAITING;
      case ERROR_REASON_NOT_HELD -> ErrorReason.NOT_HELD;
      case ERROR_REASON_ACQUISITION_ENDED -> ErrorReason.ACQUISITION_ENDED;
      case ERROR_REASON_COUNTER_EXHAUSTED -> ErrorReason.COUNTER_EXHAUSTED;
      case ERROR_REASON_QUEUE_FULL -> ErrorReason.QUEUE_FULL;
      case ERROR_REASON_LEASE_FULL -> ErrorReason.LEASE_FULL;
      case ERROR_REASON_LIMIT_REACHED -> ErrorReason.LIMIT_REACHED;
      case ERROR_REASON_SLOW_CONSUMER -> ErrorReason.SLOW_CONSUMER;
      case ERROR_REASON_NO_ZOOKEEPER -> ErrorReason.NO_ZOOKEEPER;
      case ERROR_REASON_DRAINING -> ErrorReason.DRAINING;
      case ERROR_REASON_LEASE_MOVED -> ErrorReason.LEASE_MOVED;
      case ERROR_REASON_CONNECTION_TOO_OLD -> ErrorReason.CONNECTION_TOO_OLD;
      case ERROR_REASON_COORDINATOR_UNREACHABLE -> ErrorReason.COORDINATOR_UNREACHABLE;
      case ERROR_REASON_SUPERSEDED -> ErrorReason.SUPERSEDED;
      case ERROR_REASON_STORE_REFUSED -> ErrorReason.STORE_REFUSED;
      case ERROR_REASON_INTERNAL -> ErrorReason.INTERNAL;
      case ERROR_REASON_UNAUTHENTICATED -> ErrorReason.UNAUTHENTICATED;
      case ERROR_REASON_PERMISSION_DENIED -> ErrorReason.PERMISSION_DENIED;
    };
  }

  /** Returns whether the same request may succeed later or elsewhere. */
  public static boolean isPassing(Status.Code code, ErrorReason reason) {
    return isPassing(code) && reason != ErrorReason.STORE_REFUSED;
  }

  private static boolean isPassing(Status.Code code) {
    return switch (code) {
      case UNAVAILABLE, DEADLINE_EXCEEDED, INTERNAL, UNKNOWN, CANCELLED, ABORTED -> true;
      case OK,
          INVALID_ARGUMENT,
          NOT_FOUND,
          ALREADY_EXISTS,
          PERMISSION_DENIED,
          RESOURCE_EXHAUSTED,
          FAILED_PRECONDITION,
          OUT_OF_RANGE,
          UNIMPLEMENTED,
          DATA_LOSS,
          UNAUTHENTICATED ->
          false;
    };
  }
}
