package io.lockkeeper.client;

import java.util.List;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * Until when a hold may be relied upon: the lease's deadline, its own, or that of a hold that it is
 * nested in, whichever is the earliest.
 *
 * @param lease the lease's, which moves on
 * @param ownNanos where {@link LockRequest#maxHold} ends, as a reading of the clock
 * @param around the holds of which it is a later level and that are limited
 * @param clock monotonic nanoseconds
 */
record Deadline(Validity lease, OptionalLong ownNanos, List<Hold> around, LongSupplier clock) {

  long untilNanos() {
    long until = earlier(lease.untilNanos(), ownNanos);
    for (Hold outer : around) {
      until = earlier(until, outer.limitNanos());
    }
    return until;
  }

  private static long earlier(long nanos, OptionalLong limit) {
    return limit.isPresent() && limit.getAsLong() - nanos < 0 ? limit.getAsLong() : nanos;
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
