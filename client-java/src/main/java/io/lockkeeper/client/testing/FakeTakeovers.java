package io.lockkeeper.client.testing;

import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Queued;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * What becomes of leases whose server has died. Their entries are where they were; what lived in
 * that server's memory is gone: what had ended, and the numbers of events.
 */
final class FakeTakeovers {

  /** How long a lease is kept whose client does not come back. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final FakeState state;
  private final FakeGrants grants;
  private final FakePositions positions;

  FakeTakeovers(FakeState state) {
    this.state = state;
    this.grants = new FakeGrants(state);
    this.positions = new FakePositions(state);
  }

  /** The server of some leases has died; another one has them from now on. */
  void takeOver(FakeNode dead, FakeNode heir) {
    state.leases.values().stream()
        .filter(lease -> lease.home == dead && lease.end.isEmpty())
        .toList()
        .forEach(lease -> takeOver(lease, heir));
  }

  private void takeOver(FakeLease lease, FakeNode heir) {
    lease.home = heir;
    lease.adopted = true;
    lease.acquisitions.values().removeIf(a -> a.state == FakeAcquisition.State.ENDED);
    lease.acquisitions.values().forEach(this::beginAnew);
    state.keepAtLeast(lease, GRACE_NANOS);
  }

  private void beginAnew(FakeAcquisition kept) {
    Optional<Runnable> tellWish = kept.forgetTold();
    kept.stopTimers();
    if (kept.state == FakeAcquisition.State.HELD) {
      kept.state = FakeAcquisition.State.WAITING;
      grants.settle(kept);
    } else {
      kept.tell(
          AcquireResponse.newBuilder()
              .setQueued(Queued.newBuilder().addAllPositions(positions.of(kept))));
    }
    tellWish.ifPresent(Runnable::run);
  }
}
