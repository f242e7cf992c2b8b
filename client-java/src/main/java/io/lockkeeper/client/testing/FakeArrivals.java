package io.lockkeeper.client.testing;

import io.grpc.Status;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.NotAcquiredReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How a request meets the queues of its locks. All is looked at before anything is changed, so that
 * a request for several locks enters all their queues or none.
 */
final class FakeArrivals {

  private static final int MAX_QUEUE = 10_000;

  private final FakeState state;

  FakeArrivals(FakeState state) {
    this.state = state;
  }

  /** Why a request need not wait. */
  record Refusal(NotAcquiredReason reason, String message) {}

  /** How one lock of the request is met. */
  private record Plan(
      FakeQueue queue, LockRequest wanted, Optional<FakeEntry> beside, Optional<Refusal> refusal) {

    static Plan wait(FakeQueue queue, LockRequest wanted) {
      return new Plan(queue, wanted, Optional.empty(), Optional.empty());
    }

    Plan placeBeside(FakeEntry held) {
      return new Plan(queue, wanted, Optional.of(held), Optional.empty());
    }

    Plan refuse(NotAcquiredReason reason, String message) {
      Refusal refusal = new Refusal(reason, message);
      return new Plan(queue, wanted, Optional.empty(), Optional.of(refusal));
    }
  }

  /**
   * Gives the acquisition its entries, all in one go, unless it need not wait.
   *
   * @throws io.grpc.StatusRuntimeException if a lock is of another kind, has another limit, or none
   */
  Optional<Refusal> enter(FakeAcquisition fresh) {
    List<Plan> plans = new ArrayList<>();
    for (LockRequest wanted : fresh.request.getLocksList()) {
      plans.add(plan(fresh, resolved(wanted)));
    }
    Optional<Refusal> refusal = plans.stream().flatMap(p -> p.refusal().stream()).findFirst();
    if (refusal.isEmpty()) {
      fresh.entries = plans.stream().map(plan -> enter(fresh, plan)).toList();
    }
    return refusal;
  }

  /**
   * Places an acquisition beside what its owner holds with just the tokens that it names. Says
   * whether all of it is held.
   */
  boolean rejoin(FakeAcquisition fresh) {
    List<Plan> plans = new ArrayList<>();
    for (int i = 0; i < fresh.request.getHeldTokensCount(); i++) {
      long token = fresh.request.getHeldTokens(i);
      Plan plan = Plan.wait(state.queue(fresh.request.getLocks(i).getName()), named(fresh, i));
      List<FakeEntry> own = plan.queue().heldBy(fresh.lease, fresh.request.getOwner());
      base(own.stream().filter(e -> e.token == token).toList(), plan.wanted())
          .ifPresent(held -> plans.add(plan.placeBeside(held)));
    }
    boolean complete = plans.size() == fresh.request.getLocksCount();
    if (complete) {
      fresh.entries = plans.stream().map(plan -> enter(fresh, plan)).toList();
    }
    return complete;
  }

  private static LockRequest named(FakeAcquisition fresh, int lock) {
    LockRequest wanted = fresh.request.getLocks(lock);
    return wanted.getMode() == LockMode.LOCK_MODE_UNSPECIFIED
        ? wanted.toBuilder().setMode(LockMode.LOCK_MODE_EXCLUSIVE).build()
        : wanted;
  }

  private FakeEntry enter(FakeAcquisition fresh, Plan plan) {
    List<FakeEntry> entries = plan.queue().entries;
    long now = state.loop.nanos();
    if (plan.beside().isPresent()) {
      // The same hold going on: its token is that of the first, and nobody comes between.
      FakeEntry held = plan.beside().get();
      FakeEntry level = new FakeEntry(fresh, plan.queue(), plan.wanted(), held.token, now);
      level.previousEnd = held.previousEnd;
      level.hold(now);
      entries.add(plan.queue().endOfPlace(held), level);
      return level;
    }
    FakeEntry waiting = new FakeEntry(fresh, plan.queue(), plan.wanted(), state.nextZxid(), now);
    entries.add(waiting);
    return waiting;
  }

  /** Fills in the mode and the limit that are meant. */
  private LockRequest resolved(LockRequest wanted) {
    LockRequest.Builder resolved = wanted.toBuilder();
    if (wanted.getMode() == LockMode.LOCK_MODE_UNSPECIFIED) {
      resolved.setMode(LockMode.LOCK_MODE_EXCLUSIVE);
    }
    FakeQueue queue = state.queue(wanted.getName());
    if (queue.isOfAnotherKindThan(resolved.getMode())) {
      throw FakeChecks.failure(
          Status.FAILED_PRECONDITION,
          wanted.getName() + " is in use as " + queue.kind() + ": ask for it as that");
    }
    if (resolved.getMode() == LockMode.LOCK_MODE_PERMITS) {
      resolved.setLimit(limit(queue, wanted));
    }
    return resolved.build();
  }

  private static int limit(FakeQueue queue, LockRequest wanted) {
    int known = queue.limit();
    int named = wanted.getLimit();
    if (known == 0 && named == 0) {
      throw FakeChecks.failure(
          Status.FAILED_PRECONDITION,
          wanted.getName() + " has no limit yet: name one, or configure the lock");
    }
    if (known != 0 && named != 0 && known != named) {
      throw FakeChecks.failure(
          Status.FAILED_PRECONDITION,
          wanted.getName() + " has a limit of " + known + " permits, not of " + named);
    }
    return known == 0 ? named : known;
  }

  private Plan plan(FakeAcquisition fresh, LockRequest wanted) {
    FakeQueue queue = state.queue(wanted.getName());
    Plan plan = Plan.wait(queue, wanted);
    List<FakeEntry> own = queue.heldBy(fresh.lease, fresh.request.getOwner());
    if (wanted.getMode() == LockMode.LOCK_MODE_PERMITS) {
      return planPermits(plan, own);
    }
    Optional<FakeEntry> base = base(own, wanted);
    if (base.isPresent()) {
      return plan.placeBeside(base.get());
    }
    if (wanted.getMode() == LockMode.LOCK_MODE_WRITE && !own.isEmpty()) {
      return plan.refuse(
          NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK,
          "this owner holds "
              + wanted.getName()
              + " for reading, and a write would wait for that: there is no upgrade from READ to"
              + " WRITE, release the read first");
    }
    return withPlace(plan);
  }

  private static Plan planPermits(Plan plan, List<FakeEntry> own) {
    LockRequest wanted = plan.wanted();
    long taken = own.stream().mapToLong(e -> e.wanted.getPermits()).sum();
    if (wanted.getPermits() > wanted.getLimit()) {
      return plan.refuse(
          NotAcquiredReason.NOT_ACQUIRED_REASON_LIMIT_TOO_SMALL,
          limitTooSmall(wanted, wanted.getLimit()));
    }
    if (taken > 0 && wanted.getPermits() > wanted.getLimit() - taken) {
      return plan.refuse(
          NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK,
          "this owner holds "
              + taken
              + " of the "
              + wanted.getLimit()
              + " permits of "
              + wanted.getName()
              + ", and would wait for them to take "
              + wanted.getPermits()
              + " more");
    }
    return withPlace(plan);
  }

  static String limitTooSmall(LockRequest wanted, int limit) {
    return wanted.getName()
        + " has a limit of "
        + limit
        + " permits: "
        + wanted.getPermits()
        + " can never be had";
  }

  private static Plan withPlace(Plan plan) {
    if (plan.queue().entries.size() >= MAX_QUEUE) {
      return plan.refuse(
          NotAcquiredReason.NOT_ACQUIRED_REASON_QUEUE_FULL,
          "the queue of " + plan.queue().lock + " has its limit of " + MAX_QUEUE + " entries");
    }
    return plan;
  }

  /** Returns what an owner has beside which it is granted at once what it wants. */
  private static Optional<FakeEntry> base(List<FakeEntry> own, LockRequest wanted) {
    return switch (wanted.getMode()) {
      case LOCK_MODE_PERMITS -> Optional.empty();
      case LOCK_MODE_READ ->
          find(own, LockMode.LOCK_MODE_READ).or(() -> find(own, LockMode.LOCK_MODE_WRITE));
      case LOCK_MODE_EXCLUSIVE,
          LOCK_MODE_WRITE,
          LOCK_MODE_CUSTOM,
          LOCK_MODE_UNSPECIFIED,
          UNRECOGNIZED ->
          find(own, wanted.getMode());
    };
  }

  private static Optional<FakeEntry> find(List<FakeEntry> entries, LockMode mode) {
    return entries.stream().filter(e -> e.mode() == mode).findFirst();
  }
}
