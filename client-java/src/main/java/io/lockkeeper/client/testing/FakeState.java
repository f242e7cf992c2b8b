package io.lockkeeper.client.testing;

import io.grpc.Status;
import io.lockkeeper.client.internal.Loop;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ChangeCause;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.Lost;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.Position;
import io.lockkeeper.v1.PreviousEnd;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.Queued;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.Released;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Leases and queues of the in-memory server: first come, first served. On its loop only. */
final class FakeState {

  private static final long DEFAULT_TTL_NANOS = TimeUnit.SECONDS.toNanos(15);
  private static final int MAX_HOLDERS_TOLD = 16;

  final Loop loop;
  boolean overloaded;
  final FakeFeed feed = new FakeFeed(this);
  final Map<String, FakeLease> leases = new LinkedHashMap<>();
  final TreeMap<String, List<FakeAcquisition>> queues = new TreeMap<>();
  private final Map<String, PreviousEnd> previousEnds = new HashMap<>();
  private final Map<String, Runnable> whenFree = new HashMap<>();
  private long zxid = 1;

  FakeState(Loop loop) {
    this.loop = loop;
  }

  long nextZxid() {
    return ++zxid;
  }

  long zxid() {
    return zxid;
  }

  /** Runs {@code action} when the next holder of the lock has gone. */
  void whenFree(String lock, Runnable action) {
    whenFree.put(lock, action);
  }

  /** Opens a lease; zero nanoseconds: the default time to live. */
  FakeLease open(String holder, long ttlNanos, boolean streamBound) {
    FakeLease lease =
        new FakeLease(holder, ttlNanos == 0 ? DEFAULT_TTL_NANOS : ttlNanos, streamBound);
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

  void renew(FakeLease lease) {
    lease.renewedAtNanos = loop.nanos();
    lease.expiry.ifPresent(Loop.Timer::cancel);
    if (!lease.streamBound) {
      lease.expiry =
          Optional.of(
              loop.schedule(
                  lease.ttlNanos, () -> end(lease, LeaseEndReason.LEASE_END_REASON_EXPIRED)));
    }
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
      refuse(waiting, NotAcquiredReason.NOT_ACQUIRED_REASON_LEASE_ENDED);
    }
    for (FakeAcquisition held : in(lease, FakeAcquisition.State.HELD)) {
      lose(held, FakeReasons.loss(reason), FakeReasons.previous(reason));
    }
    lease.session.ifPresent(s -> s.onLeaseEnded(reason));
  }

  private static List<FakeAcquisition> in(FakeLease lease, FakeAcquisition.State which) {
    return lease.acquisitions.values().stream().filter(a -> a.state == which).toList();
  }

  /** Takes a held lock away. */
  void lose(FakeAcquisition acquisition, LossReason reason, PreviousEnd previous) {
    leave(acquisition, ChangeCause.CHANGE_CAUSE_LEASE_ENDED);
    acquisition.tell(AcquireResponse.newBuilder().setLost(Lost.newBuilder().setReason(reason)));
    previousEnds.put(acquisition.lock, previous);
    grantNext(acquisition.lock);
  }

  /** Finds the acquisition of that id, or makes it and queues it. */
  FakeAcquisition acquire(FakeLease lease, AcquireRequest request, String requestId) {
    FakeChecks.acquire(request);
    FakeAcquisition known = lease.acquisitions.get(requestId);
    if (known != null) {
      if (!known.lock.equals(request.getLocks(0).getName())) {
        throw FakeChecks.failure(
            Status.FAILED_PRECONDITION, "the request_id is in use for another request");
      }
      return known;
    }
    FakeAcquisition fresh =
        new FakeAcquisition(lease, requestId, request, nextZxid(), loop.nanos());
    lease.acquisitions.put(requestId, fresh);
    queue(fresh.lock).add(fresh);
    return fresh;
  }

  /** Begins the life of an acquisition whose client can hear by now. */
  void begin(FakeAcquisition fresh) {
    if (queue(fresh.lock).get(0) == fresh) {
      grantNext(fresh.lock);
      return;
    }
    feed.changed(fresh.lock, ChangeCause.CHANGE_CAUSE_QUEUED, fresh);
    AcquireRequest request = fresh.request;
    if (request.hasWaitTimeout()) {
      long limit = FakeAcquisition.toNanos(request.getWaitTimeout());
      if (limit == 0) {
        onWaitLimit(fresh);
        return;
      }
      fresh.waitLimit = Optional.of(loop.schedule(limit, () -> onWaitLimit(fresh)));
    }
    fresh.tell(
        AcquireResponse.newBuilder().setQueued(Queued.newBuilder().addPositions(place(fresh))));
    if (request.hasPositionInterval()) {
      tellPositions(
          fresh, FakeAcquisition.toNanos(request.getPositionInterval()), place(fresh).getAhead());
    }
  }

  private void onWaitLimit(FakeAcquisition acquisition) {
    refuse(acquisition, NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT);
  }

  private void tellPositions(FakeAcquisition waiting, long intervalNanos, int toldAhead) {
    waiting.positions =
        Optional.of(
            loop.schedule(
                intervalNanos,
                () -> {
                  int ahead = place(waiting).getAhead();
                  if (ahead != toldAhead) {
                    tellPosition(waiting);
                  }
                  tellPositions(waiting, intervalNanos, ahead);
                }));
  }

  /** Tells a waiter where it stands. */
  void tellPosition(FakeAcquisition waiting) {
    waiting.tell(
        AcquireResponse.newBuilder()
            .setPosition(Position.newBuilder().addPositions(place(waiting))));
  }

  private void refuse(FakeAcquisition waiting, NotAcquiredReason reason) {
    List<Contender> holders = holders(waiting.lock);
    leave(waiting, ChangeCause.CHANGE_CAUSE_WITHDRAWN);
    waiting.tell(
        AcquireResponse.newBuilder()
            .setNotAcquired(NotAcquired.newBuilder().setReason(reason).addAllHolders(holders)));
    grantNext(waiting.lock);
  }

  /** Releases or withdraws. */
  ReleaseOutcome release(FakeLease lease, String requestId, long token) {
    FakeAcquisition acquisition = lease.acquisitions.get(requestId);
    if (acquisition == null) {
      throw FakeChecks.failure(Status.NOT_FOUND, "no such acquisition under this lease");
    }
    if (token != 0 && token != acquisition.token) {
      throw FakeChecks.failure(
          Status.FAILED_PRECONDITION, "the fencing token is not the acquisition's");
    }
    return switch (acquisition.state) {
      case ENDED -> ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED;
      case WAITING -> {
        refuse(acquisition, NotAcquiredReason.NOT_ACQUIRED_REASON_WITHDRAWN);
        yield ReleaseOutcome.RELEASE_OUTCOME_WITHDRAWN;
      }
      case HELD -> {
        leave(acquisition, ChangeCause.CHANGE_CAUSE_RELEASED);
        acquisition.tell(AcquireResponse.newBuilder().setReleased(Released.getDefaultInstance()));
        previousEnds.put(acquisition.lock, PreviousEnd.PREVIOUS_END_RELEASED);
        grantNext(acquisition.lock);
        yield ReleaseOutcome.RELEASE_OUTCOME_RELEASED;
      }
    };
  }

  private void leave(FakeAcquisition acquisition, ChangeCause cause) {
    boolean wasHeld = acquisition.state == FakeAcquisition.State.HELD;
    acquisition.stopTimers();
    acquisition.state = FakeAcquisition.State.ENDED;
    List<FakeAcquisition> queue = queue(acquisition.lock);
    queue.remove(acquisition);
    nextZxid();
    feed.changed(acquisition.lock, cause, acquisition);
    if (wasHeld) {
      Optional.ofNullable(whenFree.remove(acquisition.lock)).ifPresent(Runnable::run);
    }
    if (queue.isEmpty()) {
      queues.remove(acquisition.lock);
    }
  }

  private void grantNext(String lock) {
    List<FakeAcquisition> queue = queues.getOrDefault(lock, List.of());
    if (queue.isEmpty() || queue.get(0).state != FakeAcquisition.State.WAITING) {
      return;
    }
    FakeAcquisition next = queue.get(0);
    next.stopTimers();
    next.state = FakeAcquisition.State.HELD;
    next.heldAtNanos = loop.nanos();
    feed.changed(lock, ChangeCause.CHANGE_CAUSE_GRANTED, next);
    next.tell(
        AcquireResponse.newBuilder()
            .setGranted(
                Granted.newBuilder()
                    .addGrants(
                        Grant.newBuilder()
                            .setName(lock)
                            .setFencingToken(next.token)
                            .setPreviousEnd(
                                previousEnds.getOrDefault(
                                    lock, PreviousEnd.PREVIOUS_END_UNSPECIFIED)))
                    .setValidFor(FakeAcquisition.toProto(next.lease.ttlNanos))
                    .setLeaseId(next.lease.id)));
  }

  private List<FakeAcquisition> queue(String lock) {
    return queues.computeIfAbsent(lock, l -> new ArrayList<>());
  }

  private QueuePosition place(FakeAcquisition waiting) {
    return QueuePosition.newBuilder()
        .setName(waiting.lock)
        .setAhead(queue(waiting.lock).indexOf(waiting))
        .addAllHolders(holders(waiting.lock))
        .build();
  }

  private List<Contender> holders(String lock) {
    return queues.getOrDefault(lock, List.of()).stream()
        .filter(a -> a.state == FakeAcquisition.State.HELD)
        .limit(MAX_HOLDERS_TOLD)
        .map(a -> a.toContender(loop.nanos()))
        .toList();
  }
}
