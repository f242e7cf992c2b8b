package io.lockkeeper.client.testing;

import io.lockkeeper.v1.ChangeCause;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.PreviousEnd;

/** How an entry leaves its queue, as the different listeners are told. */
final class FakeReasons {

  private FakeReasons() {}

  /** How an entry left. */
  record Departure(ChangeCause cause, PreviousEnd previousEnd) {
    static final Departure RELEASED =
        new Departure(ChangeCause.CHANGE_CAUSE_RELEASED, PreviousEnd.PREVIOUS_END_RELEASED);
    static final Departure WITHDRAWN =
        new Departure(ChangeCause.CHANGE_CAUSE_WITHDRAWN, PreviousEnd.PREVIOUS_END_RELEASED);

    /** Returns whether a holder that left so was lost rather than released. */
    boolean isLoss() {
      return previousEnd != PreviousEnd.PREVIOUS_END_RELEASED;
    }
  }

  static LossReason loss(LeaseEndReason reason) {
    return switch (reason) {
      case LEASE_END_REASON_EXPIRED -> LossReason.LOSS_REASON_LEASE_EXPIRED;
      case LEASE_END_REASON_CLOSED -> LossReason.LOSS_REASON_LEASE_CLOSED;
      case LEASE_END_REASON_SESSION_LOST -> LossReason.LOSS_REASON_SESSION_LOST;
      case LEASE_END_REASON_FORCED -> LossReason.LOSS_REASON_FORCED;
      case LEASE_END_REASON_UNSPECIFIED, UNRECOGNIZED -> LossReason.LOSS_REASON_UNSPECIFIED;
    };
  }

  static Departure departure(LossReason reason) {
    return switch (reason) {
      case LOSS_REASON_LEASE_EXPIRED, LOSS_REASON_LEASE_CLOSED ->
          new Departure(
              ChangeCause.CHANGE_CAUSE_LEASE_ENDED, PreviousEnd.PREVIOUS_END_LEASE_EXPIRED);
      case LOSS_REASON_SESSION_LOST ->
          new Departure(
              ChangeCause.CHANGE_CAUSE_REMOVED, PreviousEnd.PREVIOUS_END_COORDINATOR_LOST);
      case LOSS_REASON_FORCED, LOSS_REASON_MAX_HOLD ->
          new Departure(ChangeCause.CHANGE_CAUSE_FORCED, PreviousEnd.PREVIOUS_END_FORCED);
      case LOSS_REASON_REMOVED, LOSS_REASON_UNSPECIFIED, UNRECOGNIZED ->
          new Departure(ChangeCause.CHANGE_CAUSE_REMOVED, PreviousEnd.PREVIOUS_END_LOST);
    };
  }

  static Departure departure(NotAcquiredReason reason) {
    return switch (reason) {
      case NOT_ACQUIRED_REASON_LEASE_ENDED -> departure(LossReason.LOSS_REASON_LEASE_EXPIRED);
      case NOT_ACQUIRED_REASON_SESSION_LOST -> departure(LossReason.LOSS_REASON_SESSION_LOST);
      case NOT_ACQUIRED_REASON_REMOVED -> departure(LossReason.LOSS_REASON_REMOVED);
      case NOT_ACQUIRED_REASON_TIMED_OUT,
          NOT_ACQUIRED_REASON_WOULD_DEADLOCK,
          NOT_ACQUIRED_REASON_QUEUE_FULL,
          NOT_ACQUIRED_REASON_WITHDRAWN,
          NOT_ACQUIRED_REASON_LIMIT_TOO_SMALL,
          NOT_ACQUIRED_REASON_UNSPECIFIED,
          UNRECOGNIZED ->
          Departure.WITHDRAWN;
    };
  }
}
