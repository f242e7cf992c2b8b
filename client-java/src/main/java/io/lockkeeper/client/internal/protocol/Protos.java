package io.lockkeeper.client.internal.protocol;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.client.ChangeCause;
import io.lockkeeper.client.Contender;
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
                    toContenders(position.getHoldersList())))
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
        message.getRevision());
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

  /** Returns what a request fails with when a server refuses it for good. */
  public static LockkeeperException toException(String lock, Status.Code code, Refused refused) {
    if (refused.getReason() != io.lockkeeper.v1.NotAcquiredReason.NOT_ACQUIRED_REASON_UNSPECIFIED) {
      return toException(
          lock,
          NotAcquired.newBuilder()
              .setReasonValue(refused.getReasonValue())
              .setMessage(refused.getMessage())
              .build());
    }
    return code == Status.Code.NOT_FOUND
        ? new LeaseLostException(lock, LossReason.LEASE_UNKNOWN)
        : new RequestRefusedException(code, refused.getMessage(), refused.getField());
  }

  /** Returns what a call fails with when a server refuses it for good. */
  public static RequestRefusedException toException(StatusRuntimeException e) {
    String description = Optional.ofNullable(e.getStatus().getDescription()).orElse("");
    return new RequestRefusedException(e.getStatus().getCode(), description, field(e));
  }

  private static String field(StatusRuntimeException e) {
    com.google.rpc.Status status = StatusProto.fromThrowable(e);
    List<Any> details = status == null ? List.of() : status.getDetailsList();
    for (Any detail : details) {
      if (detail.is(BadRequest.class)) {
        try {
          return detail.unpack(BadRequest.class).getFieldViolationsList().stream()
              .findFirst()
              .map(BadRequest.FieldViolation::getField)
              .orElse("");
        } catch (InvalidProtocolBufferException broken) {
          return "";
        }
      }
    }
    return "";
  }

  private static NotAcquiredException notAcquired(
      String lock, NotAcquiredReason reason, NotAcquired message) {
    return new NotAcquiredException(
        lock, reason, message.getMessage(), toContenders(message.getHoldersList()));
  }

  /** Returns whether a status says that the same request may succeed later or elsewhere. */
  public static boolean isPassing(Status.Code code) {
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
