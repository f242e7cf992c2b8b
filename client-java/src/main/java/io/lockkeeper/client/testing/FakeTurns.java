package io.lockkeeper.client.testing;

import io.grpc.Status;
import io.lockkeeper.client.testing.FakeDeadlocks.Deadlock;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ChangeCause;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.Lost;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.Queued;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.Released;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whose turn it is: the lives of acquisitions, from their place in the queues to their end. */
final class FakeTurns {

  private static final Logger LOG = LoggerFactory.getLogger(FakeTurns.class);
  private static final int MAX_HOLDERS_TOLD = 16;
  private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final FakeState state;
  private final FakeArrivals arrivals;
  private final FakeGrants grants;
  private final FakePositions positions;
  private final FakeDeadlocks deadlocks;

  FakeTurns(FakeState state) {
    this.state = state;
    this.arrivals = new FakeArrivals(state);
    this.grants = new FakeGrants(state);
    this.positions = new FakePositions(state);
    this.deadlocks = new FakeDeadlocks(state);
  }

  /** Finds the acquisition of that id, or makes it; {@code begin} says whether it is new. */
  FakeAcquisition acquire(FakeLease lease, AcquireRequest request, String requestId) {
    FakeChecks.acquire(request);
    FakeAcquisition known = lease.acquisitions.get(requestId);
    if (known == null) {
      FakeAcquisition fresh = new FakeAcquisition(lease, requestId, request, state.nextZxid());
      if (request.getHeldTokensCount() == 0) {
        fresh.refusal = arrivals.enter(fresh);
      } else {
        fresh.lost = !arrivals.rejoin(fresh);
      }
      lease.acquisitions.put(requestId, fresh);
      return fresh;
    }
    if (!known.request.getLocksList().equals(request.getLocksList())
        || !known.request.getOwner().equals(request.getOwner())) {
      throw FakeChecks.failure(
          Status.FAILED_PRECONDITION, "the request_id is in use for another request");
    }
    if (known.state == FakeAcquisition.State.WAITING && known.waitLimit.isEmpty()) {
      boolean unused = limitWait(known, request); // It was stopped by a takeover.
    }
    return known;
  }

  /** Begins the life of an acquisition whose client can hear by now. */
  void begin(FakeAcquisition fresh) {
    if (fresh.refusal.isPresent()) {
      refuse(fresh, fresh.refusal.get().reason(), fresh.refusal.get().message());
      return;
    }
    if (fresh.lost) {
      lose(fresh, LossReason.LOSS_REASON_REMOVED, "it is not held here any more");
      return;
    }
    fresh.entries.stream()
        .filter(e -> e.held)
        .forEach(e -> state.feed.changed(ChangeCause.CHANGE_CAUSE_GRANTED, e));
    fresh.entries.forEach(e -> advance(e.queue));
    grants.settle(fresh);
    if (fresh.state == FakeAcquisition.State.WAITING) {
      place(fresh);
    }
  }

  private void place(FakeAcquisition waiting) {
    waiting.waitingEntries().forEach(e -> state.feed.changed(ChangeCause.CHANGE_CAUSE_QUEUED, e));
    AcquireRequest request = waiting.request;
    if (!limitWait(waiting, request)) {
      return;
    }
    waiting.tell(
        AcquireResponse.newBuilder()
            .setQueued(Queued.newBuilder().addAllPositions(positions.of(waiting))));
    if (request.hasPositionInterval()) {
      positions.tellEvery(waiting, FakeTime.toNanos(request.getPositionInterval()));
    }
    if (FakeDeadlocks.mayClose(waiting)) {
      breakDeadlocks();
    }
  }

  /** Begins to count the wait; says whether there is one. */
  private boolean limitWait(FakeAcquisition waiting, AcquireRequest request) {
    long limit = FakeTime.toNanos(request.getWaitTimeout());
    if (request.hasWaitTimeout() && limit == 0) {
      onWaitLimit(waiting);
      return false;
    } else if (request.hasWaitTimeout()) {
      waiting.waitLimit = Optional.of(state.loop.schedule(limit, () -> onWaitLimit(waiting)));
    }
    return true;
  }

  /** Refuses the youngest of each cycle of waits. */
  void breakDeadlocks() {
    for (Optional<Deadlock> found = deadlocks.find(); found.isPresent(); found = deadlocks.find()) {
      refuse(
          found.get().youngest(),
          NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK,
          found.get().cycle());
    }
  }

  /**
   * The client of an Acquire call has gone. Without a lease that is the end; under one, the same
   * request may come again for a moment.
   */
  void onHangUp(FakeAcquisition acquisition, FakeCall call) {
    if (acquisition.lease.streamBound) {
      state.end(acquisition.lease, LeaseEndReason.LEASE_END_REASON_EXPIRED);
    } else if (acquisition.detach(call)) {
      acquisition.linger =
          Optional.of(state.loop.schedule(LINGER_NANOS, () -> onLingered(acquisition)));
    }
  }

  private void onLingered(FakeAcquisition acquisition) {
    if (acquisition.isForgotten()) {
      ReleaseOutcome outcome = release(acquisition, 0).getOutcome();
      LOG.atDebug()
          .addKeyValue("acquisition", acquisition.requestId)
          .log("Nobody came back for it: {}", outcome);
    }
  }

  private void onWaitLimit(FakeAcquisition waiting) {
    refuse(
        waiting,
        NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT,
        "wait_timeout was over before the locks were free");
  }

  /** Answers where a waiter stands. */
  void answerPosition(FakeAcquisition waiting) {
    waiting.answer(positions.event(waiting));
  }

  /** Tells all who wait for the lock: a holder says something else of itself. */
  void tellPositions(FakeQueue queue) {
    positions.tellAll(queue);
  }

  /** Tells a waiter that it will not be granted its locks. */
  void refuse(FakeAcquisition waiting, NotAcquiredReason reason, String message) {
    List<Contender> holders = holdersFor(waiting);
    leave(waiting, FakeReasons.departure(reason));
    waiting.tell(
        AcquireResponse.newBuilder()
            .setNotAcquired(
                NotAcquired.newBuilder()
                    .setReason(reason)
                    .setMessage(message)
                    .addAllHolders(holders)));
    waiting.entries.forEach(e -> advance(e.queue));
  }

  /** Takes all locks of a holder away. */
  void lose(FakeAcquisition holder, LossReason reason, String message) {
    leave(holder, FakeReasons.departure(reason));
    holder.tell(
        AcquireResponse.newBuilder()
            .setLost(Lost.newBuilder().setReason(reason).setMessage(message)));
    holder.entries.forEach(e -> advance(e.queue));
  }

  /** Removes an entry: its acquisition loses all that it holds, or waits for, with it. */
  void takeAway(FakeEntry entry, LossReason reason, String message) {
    switch (entry.creator.state) {
      case HELD -> lose(entry.creator, reason, message);
      case WAITING -> refuse(entry.creator, NotAcquiredReason.NOT_ACQUIRED_REASON_REMOVED, message);
      case ENDED -> {
        // It went with another of its entries.
      }
    }
  }

  /** Releases one level, or withdraws; of what died with another server nothing is left. */
  ReleaseResponse release(FakeLease lease, ReleaseRequest request) {
    return lease.adopted && !lease.acquisitions.containsKey(request.getRequestId())
        ? outcome(ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED, 0)
        : release(state.acquisition(lease, request.getRequestId()), request.getFencingToken());
  }

  /** Releases one level, or withdraws. */
  ReleaseResponse release(FakeAcquisition acquisition, long token) {
    if (token != 0 && acquisition.entries.stream().noneMatch(e -> e.token == token)) {
      throw FakeChecks.failure(
          Status.FAILED_PRECONDITION, "the fencing token is not the acquisition's");
    }
    return switch (acquisition.state) {
      case ENDED -> outcome(ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED, 0);
      case WAITING -> {
        refuse(acquisition, NotAcquiredReason.NOT_ACQUIRED_REASON_WITHDRAWN, "");
        yield outcome(ReleaseOutcome.RELEASE_OUTCOME_WITHDRAWN, 0);
      }
      case HELD -> {
        int remaining = acquisition.levelsBeside();
        leave(acquisition, FakeReasons.Departure.RELEASED);
        acquisition.tell(AcquireResponse.newBuilder().setReleased(Released.getDefaultInstance()));
        acquisition.entries.forEach(e -> advance(e.queue));
        yield remaining == 0
            ? outcome(ReleaseOutcome.RELEASE_OUTCOME_RELEASED, 0)
            : outcome(ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED, remaining);
      }
    };
  }

  private static ReleaseResponse outcome(ReleaseOutcome outcome, int remainingHolds) {
    return ReleaseResponse.newBuilder()
        .setOutcome(outcome)
        .setRemainingHolds(remainingHolds)
        .build();
  }

  /** The acquisition has ended: its entries go. */
  private void leave(FakeAcquisition acquisition, FakeReasons.Departure departure) {
    acquisition.stopTimers();
    acquisition.state = FakeAcquisition.State.ENDED;
    acquisition.entries.forEach(entry -> remove(entry, departure));
  }

  private void remove(FakeEntry entry, FakeReasons.Departure departure) {
    FakeQueue queue = entry.queue;
    queue.entries.remove(entry);
    if (entry.granted) {
      queue.previousEnd = departure.previousEnd();
      if (departure.isLoss()) {
        delay(queue, FakeTime.toNanos(entry.creator.request.getLockDelay()));
      }
    }
    state.nextZxid();
    state.feed.changed(departure.cause(), entry);
    if (entry.granted && queue.entries.stream().noneMatch(entry::isBeside)) {
      state.onFreed(queue.lock);
    }
  }

  private void delay(FakeQueue queue, long delayNanos) {
    if (delayNanos > 0) {
      queue.delay(state.loop.nanos(), delayNanos);
      state.loop.schedule(delayNanos, () -> advance(queue));
    }
  }

  /** Grants what the admission rule allows now. */
  void advance(FakeQueue queue) {
    for (FakeEntry admitted : queue.admit(state.loop.nanos())) {
      // What is on its way out with its lease is granted nothing.
      if (admitted.creator.lease.end.isEmpty()) {
        state.feed.changed(ChangeCause.CHANGE_CAUSE_GRANTED, admitted);
        grants.settle(admitted.creator);
      }
    }
  }

  private List<Contender> holdersFor(FakeAcquisition waiting) {
    List<FakeEntry> holders =
        waiting.request.getLocksList().stream()
            .flatMap(lock -> state.queue(lock.getName()).holders().stream())
            .filter(e -> e.creator != waiting)
            .toList();
    return FakeQueue.contenders(holders, MAX_HOLDERS_TOLD, state.loop.nanos());
  }
}
