package io.lockkeeper.server.rpc.wire;

import com.google.protobuf.Duration;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.FreezeView;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.LeaseView;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.v1.AcquisitionState;
import io.lockkeeper.v1.ChangeCause;
import io.lockkeeper.v1.Frozen;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LeaseState;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.RequestReleaseResponse;

/** Translates what the coordinator shows into messages. */
public final class Messages {

  private static final int MAX_SHOWN = 1_000;
  private static final long MIN_KEEP_ALIVE_NANOS = 500_000_000L;

  private Messages() {}

  /** Returns the state of a lock that the caller is allowed to read. */
  public static LockState toLockState(LockView view) {
    return toLockState(view, true);
  }

  /**
   * Returns the state of a lock.
   *
   * @param readable whether the caller has the right {@code read} on it
   */
  static LockState toLockState(LockView view, boolean readable) {
    Contenders contenders = new Contenders();
    LockState.Builder message =
        LockState.newBuilder()
            .setName(view.lock().value())
            .addAllHolders(contenders.toMessages(view.holders(), MAX_SHOWN, readable))
            .setQueueLength(view.queueLength())
            .addAllQueue(contenders.toMessages(view.queue(), MAX_SHOWN, readable))
            .setRevision(view.revision())
            .setConfiguredLimit(view.configuredLimit().orElse(0));
    view.frozen().ifPresent(frozen -> message.setFrozen(toFrozen(frozen)));
    view.delayedForNanos().ifPresent(nanos -> message.setDelayedFor(ProtoDurations.ofNanos(nanos)));
    return message.build();
  }

  public static Frozen toFrozen(FreezeView view) {
    Frozen.Builder message =
        Frozen.newBuilder()
            .setPrefix(view.freeze().prefix())
            .setReason(view.freeze().reason())
            .setFrozenBy(view.freeze().requester())
            .setFrozenFor(ProtoDurations.ofNanos(view.frozenForNanos()));
    view.thawsInNanos().ifPresent(nanos -> message.setThawsIn(ProtoDurations.ofNanos(nanos)));
    return message.build();
  }

  public static LeaseState toLeaseState(LeaseView lease) {
    LeaseState.Builder message =
        LeaseState.newBuilder()
            .setLeaseTag(lease.tag())
            .setHolder(lease.holder())
            .setStreamBound(lease.ttlNanos().isEmpty())
            .setAcquisitionCount(lease.acquisitionCount());
    lease.ttlNanos().ifPresent(nanos -> message.setTtl(ProtoDurations.ofNanos(nanos)));
    lease.remainingNanos().ifPresent(nanos -> message.setRemaining(ProtoDurations.ofNanos(nanos)));
    for (LeaseView.Held held : lease.acquisitions()) {
      message.addAcquisitions(
          AcquisitionState.newBuilder()
              .setRequestId(held.requestId())
              .addAllLocks(held.locks().stream().map(LockName::value).toList())
              .setHeld(held.held()));
    }
    return message.build();
  }

  /**
   * Returns a change of a lock.
   *
   * @param readable whether the caller has the right {@code read} on it
   */
  public static io.lockkeeper.v1.LockChange toLockChange(LockChange change, boolean readable) {
    var message =
        io.lockkeeper.v1.LockChange.newBuilder()
            .setName(change.lock().value())
            .setCause(toCause(change.cause()))
            .addAllHolders(new Contenders().toMessages(change.holders(), MAX_SHOWN, readable))
            .setQueueLength(change.queueLength())
            .setCoalesced(change.coalesced());
    change
        .contender()
        .ifPresent(contender -> message.setContender(Contenders.toMessage(contender, readable)));
    return message.build();
  }

  private static ChangeCause toCause(LockChange.Cause cause) {
    return switch (cause) {
      case SEVERAL -> ChangeCause.CHANGE_CAUSE_UNSPECIFIED;
      case QUEUED -> ChangeCause.CHANGE_CAUSE_QUEUED;
      case GRANTED -> ChangeCause.CHANGE_CAUSE_GRANTED;
      case RELEASED -> ChangeCause.CHANGE_CAUSE_RELEASED;
      case WITHDRAWN -> ChangeCause.CHANGE_CAUSE_WITHDRAWN;
      case LEASE_ENDED -> ChangeCause.CHANGE_CAUSE_LEASE_ENDED;
      case REMOVED -> ChangeCause.CHANGE_CAUSE_REMOVED;
      case METADATA -> ChangeCause.CHANGE_CAUSE_METADATA;
      case FORCED -> ChangeCause.CHANGE_CAUSE_FORCED;
      case LIMIT -> ChangeCause.CHANGE_CAUSE_LIMIT;
    };
  }

  public static LeaseEndReason toReason(LeaseEnd end) {
    return switch (end) {
      case EXPIRED -> LeaseEndReason.LEASE_END_REASON_EXPIRED;
      case CLOSED, CANCELLED, BROKEN, COORDINATOR_LEFT -> LeaseEndReason.LEASE_END_REASON_CLOSED;
      case SESSION_LOST -> LeaseEndReason.LEASE_END_REASON_SESSION_LOST;
      case FORCED -> LeaseEndReason.LEASE_END_REASON_FORCED;
    };
  }

  public static ReleaseResponse toReleaseResponse(Answer.ReleaseDone done) {
    return ReleaseResponse.newBuilder()
        .setOutcome(toOutcome(done.outcome()))
        .setRemainingHolds(done.remainingHolds())
        .build();
  }

  private static ReleaseOutcome toOutcome(Answer.ReleaseOutcome outcome) {
    return switch (outcome) {
      case RELEASED -> ReleaseOutcome.RELEASE_OUTCOME_RELEASED;
      case ALREADY_RELEASED -> ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED;
      case WITHDRAWN -> ReleaseOutcome.RELEASE_OUTCOME_WITHDRAWN;
      case DECREMENTED -> ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED;
    };
  }

  /**
   * Translates the answer to a wish for a lock.
   *
   * @param readable whether the caller has the right {@code read} on the lock
   */
  public static RequestReleaseResponse toAsked(Answer.ReleaseAsked asked, boolean readable) {
    return RequestReleaseResponse.newBuilder()
        .addAllHolders(new Contenders().toMessages(asked.holders(), Contenders.FEW, readable))
        .build();
  }

  /**
   * Returns when the client of a lease should send its next keep-alive: so early that two may be
   * lost and the third is answered in time.
   */
  public static Duration keepAliveInterval(long validForNanos) {
    return ProtoDurations.ofNanos(Math.max(validForNanos / 4, MIN_KEEP_ALIVE_NANOS));
  }
}
