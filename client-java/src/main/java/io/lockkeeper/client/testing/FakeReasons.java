package io.lockkeeper.client.testing;

import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.PreviousEnd;

/** What the end of a lease means for what it held. */
final class FakeReasons {

  private FakeReasons() {}

  static LossReason loss(LeaseEndReason reason) {
    return switch (reason) {
      case LEASE_END_REASON_EXPIRED -> LossReason.LOSS_REASON_LEASE_EXPIRED;
      case LEASE_END_REASON_CLOSED -> LossReason.LOSS_REASON_LEASE_CLOSED;
      case LEASE_END_REASON_SESSION_LOST -> LossReason.LOSS_REASON_SESSION_LOST;
      case LEASE_END_REASON_FORCED -> LossReason.LOSS_REASON_FORCED;
      case LEASE_END_REASON_UNSPECIFIED, UNRECOGNIZED -> LossReason.LOSS_REASON_UNSPECIFIED;
    };
  }

  static PreviousEnd previous(LeaseEndReason reason) {
    return switch (reason) {
      case LEASE_END_REASON_EXPIRED -> PreviousEnd.PREVIOUS_END_LEASE_EXPIRED;
      case LEASE_END_REASON_CLOSED -> PreviousEnd.PREVIOUS_END_RELEASED;
      case LEASE_END_REASON_SESSION_LOST -> PreviousEnd.PREVIOUS_END_COORDINATOR_LOST;
      case LEASE_END_REASON_FORCED -> PreviousEnd.PREVIOUS_END_FORCED;
      case LEASE_END_REASON_UNSPECIFIED, UNRECOGNIZED -> PreviousEnd.PREVIOUS_END_UNSPECIFIED;
    };
  }
}
