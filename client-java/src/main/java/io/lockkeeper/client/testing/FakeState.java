package io.lockkeeper.client.testing;

import io.grpc.Status;
import io.lockkeeper.client.internal.Loop;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.NotAcquiredReason;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Leases and queues of the in-memory server. On its loop only. */
final class FakeState {

  private static final long DEFAULT_TTL_NANOS = TimeUnit.SECONDS.toNanos(15);

  final Loop loop;
  final FakeFeed feed = new FakeFeed(this);
  final FakeTurns turns = new FakeTurns(this);
  final FakeInfluence influence = new FakeInfluence(this);
  final FakeTakeovers takeovers = new FakeTakeovers(this);
  final Map<String, FakeLease> leases = new LinkedHashMap<>();
  private final TreeMap<String, FakeQueue> queues = new TreeMap<>();
  private final Map<String, Runnable> whenFree = new HashMap<>();
  private long zxid = 1;
  private long grants;

  FakeState(Loop loop) {
    this.loop = loop;
  }

  long nextZxid() {
    return ++zxid;
  }

  long zxid() {
    return zxid;
  }

  long nextGrant() {
    return ++grants;
  }

  /** Runs {@code action} when the next holder of the lock has gone. */
  void whenFree(String lock, Runnable action) {
    whenFree.put(lock, action);
  }

  void onFreed(String lock) {
    Optional.ofNullable(whenFree.remove(lock)).ifPresent(Runnable::run);
  }

  FakeQueue queue(String lock) {
    return queues.computeIfAbsent(lock, FakeQueue::new);
  }

  /** Returns the queue of a lock for somebody who only looks. */
  FakeQueue look(String lock) {
    return Optional.ofNullable(queues.get(lock)).orElseGet(() -> new FakeQueue(lock));
  }

  /** Returns the queues of the locks that have holders or waiters, after that lock, by name. */
  List<FakeQueue> inUse(String after) {
    return queues.tailMap(after, false).values().stream()
        .filter(q -> !q.entries.isEmpty())
        .toList();
  }

  /** Opens a lease; zero nanoseconds: the default time to live. */
  FakeLease open(FakeNode home, String holder, long ttlNanos, boolean streamBound) {
    FakeLease lease =
        new FakeLease(home, holder, ttlNanos == 0 ? DEFAULT_TTL_NANOS : ttlNanos, streamBound);
    leases.put(lease.id, lease);
    renew(lease);
    return lease;
  }

  FakeLease lease(String id) {
    FakeLease lease = leases.get(id);
    if (lease == null || lease.end.isPresent()) {
      throw FakeChecks.failure(Status.NOT_FOUND, "the lease is not known here, or has ended");
    }
    return lease;
  }

  FakeAcquisition acquisition(FakeLease lease, String requestId) {
    return Optional.ofNullable(lease.acquisitions.get(requestId))
        .orElseThrow(
            () -> FakeChecks.failure(Status.NOT_FOUND, "no such acquisition under this lease"));
  }

  void renew(FakeLease lease) {
    lease.renewedAtNanos = loop.nanos();
    if (!lease.streamBound) {
      endAfter(lease, lease.ttlNanos);
    }
  }

  /** Keeps a lease that nobody renews for its time to live or for {@code nanos}. */
  void keepAtLeast(FakeLease lease, long nanos) {
    endAfter(lease, Math.max(lease.ttlNanos, nanos));
  }

  private void endAfter(FakeLease lease, long nanos) {
    lease.expiry.ifPresent(Loop.Timer::cancel);
    lease.expiry =
        Optional.of(
            loop.schedule(nanos, () -> end(lease, LeaseEndReason.LEASE_END_REASON_EXPIRED)));
  }

  /** Tells the sessions of one server to resume elsewhere. */
  void sendAway(FakeNode from, Duration resumeAfter) {
    leases.values().stream()
        .flatMap(lease -> lease.session.stream())
        .filter(session -> session.isAt(from))
        .toList()
        .forEach(session -> session.goAway(resumeAfter));
  }

  /** Ends all leases as if they had not been renewed. */
  void endAll() {
    List.copyOf(leases.values())
        .forEach(lease -> end(lease, LeaseEndReason.LEASE_END_REASON_EXPIRED));
  }

  /** Ends a lease with all that it has. Idempotent. */
  void end(FakeLease lease, LeaseEndReason reason) {
    if (lease.end.isPresent()) {
      return;
    }
    lease.end = Optional.of(reason);
    lease.expiry.ifPresent(Loop.Timer::cancel);
    // Those who wait go first, lest what they wait for passes to them.
    for (FakeAcquisition waiting : in(lease, FakeAcquisition.State.WAITING)) {
      turns.refuse(waiting, NotAcquiredReason.NOT_ACQUIRED_REASON_LEASE_ENDED, "");
    }
    for (FakeAcquisition held : in(lease, FakeAcquisition.State.HELD)) {
      turns.lose(held, FakeReasons.loss(reason), "");
    }
    lease.session.ifPresent(s -> s.onLeaseEnded(reason));
  }

  private static List<FakeAcquisition> in(FakeLease lease, FakeAcquisition.State which) {
    return lease.acquisitions.values().stream().filter(a -> a.state == which).toList();
  }
}
