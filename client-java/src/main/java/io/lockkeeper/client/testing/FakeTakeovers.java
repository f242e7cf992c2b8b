package io.lockkeeper.client.testing;

import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Queued;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * What becomes of leases whose server has died. Their entries are where they were; what lived in
 * that server's memory is gone: what had ended, the numbers of events, and who shares an entry by
 * reentrancy. A client that comes back brings this with it.
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
    List.copyOf(lease.acquisitions.values()).stream()
        .filter(a -> a.entries.stream().noneMatch(e -> e.creator == a))
        .forEach(FakeTakeovers::forgetShares);
    lease.acquisitions.values().forEach(this::beginAnew);
    state.keepAtLeast(lease, GRACE_NANOS);
  }

  /** It has no entry of its own: nothing in ZooKeeper tells of it. */
  private static void forgetShares(FakeAcquisition forgotten) {
    forgotten.stopTimers();
    forgotten.state = FakeAcquisition.State.ENDED;
    forgotten.lease.acquisitions.remove(forgotten.requestId);
    for (FakeEntry entry : forgotten.entries) {
      entry.sharers.remove(forgotten);
      if (entry.sharers.isEmpty()) {
        revive(entry);
      }
    }
  }

  /** The entry names the request that made it, though that was released before the others. */
  private static void revive(FakeEntry entry) {
    FakeAcquisition creator = entry.creator;
    creator.entries = creator.entries.stream().filter(e -> e.queue.entries.contains(e)).toList();
    creator.state = FakeAcquisition.State.HELD;
    creator.lease.acquisitions.put(creator.requestId, creator);
    entry.sharers.add(creator);
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
