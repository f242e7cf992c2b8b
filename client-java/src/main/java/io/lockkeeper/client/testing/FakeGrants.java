package io.lockkeeper.client.testing;

import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LossReason;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

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
    acquisition.grantNumber = state.nextGrant();
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
              .setHoldCount(1 + entry.levelsBeside().size()));
    }
    granted.setValidFor(FakeTime.toProto(Math.max(0, validForNanos)));
    acquisition.tell(AcquireResponse.newBuilder().setGranted(granted));
  }

  /**
   * Returns how much longer a new level may last: until its own limit, or one around it, is over.
   */
  private long leftNanos(FakeEntry entry) {
    return Stream.concat(Stream.of(entry), entry.levelsBeside().stream())
        .flatMap(level -> level.creator.holdEndsAtNanos.stream())
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

  /** The acquisition loses its locks, and so do those that came to hold them once more after it. */
  private void onOver(FakeAcquisition holder) {
    Set<FakeAcquisition> losers = new LinkedHashSet<>(Set.of(holder));
    for (FakeEntry entry : holder.entries) {
      entry.levelsBeside().stream()
          .map(level -> level.creator)
          .filter(later -> later.grantNumber > holder.grantNumber)
          .forEach(losers::add);
    }
    losers.forEach(
        loser ->
            state.turns.lose(loser, LossReason.LOSS_REASON_MAX_HOLD, "it was held for max_hold"));
  }
}
