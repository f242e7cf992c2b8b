package io.lockkeeper.client;

import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * Until when a hold may be relied upon: the lease's deadline or its own, whichever is earlier.
 *
 * @param lease the lease's, which moves on
 * @param ownNanos where {@link LockRequest#maxHold} ends, as a reading of the clock
 * @param clock monotonic nanoseconds
 */
record Deadline(Validity lease, OptionalLong ownNanos, LongSupplier clock) {

  long untilNanos() {
    long byLease = lease.untilNanos();
    return ownNanos.isPresent() && ownNanos.getAsLong() - byLease < 0
        ? ownNanos.getAsLong()
        : byLease;
  }

  /** Returns how much is left; zero or below: nothing. */
  long remainingNanos() {
    return untilNanos() - clock.getAsLong();
  }

  /** Returns why nothing is left. */
  LossReason passed() {
    return lease.remainingNanos(clock.getAsLong()) > 0
        ? LossReason.MAX_HOLD
        : LossReason.DEADLINE_PASSED;
  }
}
