package io.lockkeeper.client.testing;

import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LossReason;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Grants acquisitions that hold all their entries, for as long as they may be held. */
final class FakeGrants {

  private static final long MIN_ALLOWANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long MAX_ALLOWANCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final FakeState state;

  FakeGrants(FakeState state) {
    this.state = state;
  }

  /** Grants the acquisition if it waits, and all its entries hold. */
  void settle(FakeAcquisition acquisition) {
    if (acquisition.state != FakeAcquisition.State.WAITING
        || !acquisition.entries.stream().allMatch(e -> e.held)) {
      return;
    }
    acquisition.stopTimers();
    acquisition.state = FakeAcquisition.State.HELD;
    limitHold(acquisition);
    long validForNanos = acquisition.lease.ttlNanos;
    Granted.Builder granted = Granted.newBuilder().setLeaseId(acquisition.lease.id);
    for (FakeEntry entry : acquisition.entries) {
      entry.granted = true;
      validForNanos = Math.min(validForNanos, leftNanos(entry));
      granted.addGrants(
          Grant.newBuilder()
              .setName(entry.queue.lock)
              .setFencingToken(entry.token)
              .setPreviousEnd(entry.previousEnd)
              .setHoldCount(entry.sharers.size()));
    }
    granted.setValidFor(FakeTime.toProto(Math.max(0, validForNanos)));
    acquisition.tell(AcquireResponse.newBuilder().setGranted(granted));
  }

  /** Returns how long a hold may last yet: for all who share it, until the first limit is over. */
  private long leftNanos(FakeEntry entry) {
    return entry.sharers.stream()
        .flatMap(sharer -> sharer.holdEndsAtNanos.stream())
        .mapToLong(at -> at - state.loop.nanos())
        .min()
        .orElse(Long.MAX_VALUE);
  }

  private void limitHold(FakeAcquisition holder) {
    if (!holder.request.hasMaxHold()) {
      return;
    }
    long limit = FakeTime.toNanos(holder.request.getMaxHold());
    long allowance = Math.max(MIN_ALLOWANCE_NANOS, Math.min(MAX_ALLOWANCE_NANOS, limit / 10));
    holder.holdEndsAtNanos = Optional.of(state.loop.nanos() + limit);
    holder.holdLimit = Optional.of(state.loop.schedule(limit + allowance, () -> onOver(holder)));
  }

  private void onOver(FakeAcquisition holder) {
    holder.entries.forEach(
        entry ->
            state.turns.takeAway(
                entry, LossReason.LOSS_REASON_MAX_HOLD, "it was held for max_hold"));
  }
}
