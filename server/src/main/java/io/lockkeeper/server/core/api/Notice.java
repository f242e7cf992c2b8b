package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import java.util.List;
import java.util.Optional;

/** What the client of an acquisition is told. */
public sealed interface Notice {

  /** Returns whether nothing follows this notice. */
  default boolean isFinal() {
    return false;
  }

  /**
   * The request waits in the queue.
   *
   * @param places one for each lock that it still waits for
   */
  record Queued(List<Place> places) implements Notice {}

  /**
   * Where the request stands.
   *
   * @param places one for each lock that it still waits for
   */
  record Position(List<Place> places) implements Notice {}

  /**
   * The place in one queue.
   *
   * @param lock the lock
   * @param ahead how many entries are ahead, holders included
   * @param holders who holds the lock, at most 16
   * @param frozen the freeze that the lock is under, if it is
   */
  record Place(LockName lock, int ahead, List<Contender> holders, Optional<FreezeView> frozen) {

    /** Returns how many are ahead where most are, zero if there are no places. */
    public static int most(List<Place> places) {
      int most = 0;
      for (Place place : places) {
        most = Math.max(most, place.ahead());
      }
      return most;
    }
  }

  /**
   * The locks are held.
   *
   * @param lease the lease
   * @param grants one for each lock, in the order of the request
   * @param validForNanos how long the holder may rely on them without hearing more
   */
  record Granted(LeaseId lease, List<Grant> grants, long validForNanos) implements Notice {

    /** Returns whether it tells of somebody who waits. */
    public boolean isContended() {
      for (Grant grant : grants) {
        if (grant.waiters() > 0) {
          return true;
        }
      }
      return false;
    }
  }

  /**
   * One held lock.
   *
   * @param lock the lock
   * @param token its fencing token
   * @param previous how the holder before ended, if known
   * @param holdCount how many acquisitions of the owner share the hold, this one included
   * @param waiters how many wait for it, if the holder wants to be told; else zero
   */
  record Grant(
      LockName lock, FencingToken token, Optional<HoldEnd> previous, int holdCount, int waiters) {}

  /**
   * Somebody waits for what is held, or it is frozen.
   *
   * @param lock the lock
   * @param waiters how many wait
   * @param frozen the freeze that the lock is under, if it is
   */
  record Contended(LockName lock, int waiters, Optional<FreezeView> frozen) implements Notice {}

  /**
   * Somebody asks the holder to give way.
   *
   * @param lock the lock
   * @param requester who, human-readable
   * @param reason why, human-readable
   * @param leftNanos how long until the lock may be taken away, if that was said
   */
  record ReleaseRequested(LockName lock, String requester, String reason, Optional<Long> leftNanos)
      implements Notice {}

  /**
   * The coordinator has lost contact with ZooKeeper.
   *
   * @param validForNanos how long the holder may still rely on its locks
   */
  record Jeopardy(long validForNanos) implements Notice {}

  /**
   * The contact is back.
   *
   * @param validForNanos how long the holder may rely on its locks
   */
  record Safe(long validForNanos) implements Notice {}

  /**
   * The locks were held and are not any more.
   *
   * @param reason why
   * @param message human-readable, may be empty
   */
  record Lost(LossReason reason, String message) implements Notice {
    @Override
    public boolean isFinal() {
      return true;
    }
  }

  /**
   * The locks were not granted.
   *
   * @param reason why
   * @param message human-readable; where there is a cycle, what comes before it
   * @param cycle the cycle of waits that the request would have closed
   * @param locks what was asked for, where holders are named
   * @param holders who held them, at most 16
   */
  record NotAcquired(
      RefusalReason reason,
      String message,
      Optional<WaitCycle> cycle,
      List<LockName> locks,
      List<Contender> holders)
      implements Notice {

    /** Makes one that names no holders. */
    public NotAcquired(RefusalReason reason, String message) {
      this(reason, message, Optional.empty(), List.of(), List.of());
    }

    /** Returns the same without who held the locks. */
    public NotAcquired withoutHolders() {
      return new NotAcquired(reason, message, cycle, List.of(), List.of());
    }

    @Override
    public boolean isFinal() {
      return true;
    }
  }

  /**
   * A cycle of waits.
   *
   * @param steps the first of its steps, beginning with the one that was refused
   * @param untold how many more there are
   */
  record WaitCycle(List<Step> steps, int untold) {

    /**
     * Somebody waits for somebody.
     *
     * @param waiter who waits, human-readable
     * @param lock for which lock
     * @param obstacle who is in the way, human-readable
     * @param holds whether he holds the lock; else he waits for it before the waiter
     */
    public record Step(String waiter, LockName lock, String obstacle, boolean holds) {}
  }

  /** The locks were released at the holder's own wish. */
  record Released() implements Notice {
    @Override
    public boolean isFinal() {
      return true;
    }
  }

  /** Why held locks are not held any more. */
  enum LossReason {
    /** The lease was not renewed in time. */
    LEASE_EXPIRED,
    /** Its client closed the lease, and so gave the locks up. */
    LEASE_CLOSED,
    /** The lease was a stream, which has broken. */
    STREAM_BROKEN,
    /** The lease was a stream, and its coordinator left. */
    COORDINATOR_LEFT,
    /** The coordinator's ZooKeeper session ended, or could not be proved alive within its bound. */
    SESSION_LOST,
    /** The entry was removed from ZooKeeper by somebody else. */
    REMOVED,
    /** An operator took the lock away. */
    FORCED,
    /** It was held for as long as it may be. */
    MAX_HOLD
  }

  /** Why locks were not granted. */
  enum RefusalReason {
    /** The wait timeout ran out. */
    TIMED_OUT,
    /** The queue was full when the entry got its place. */
    QUEUE_FULL,
    /** The caller withdrew the request. */
    WITHDRAWN,
    /** The lease ended. */
    LEASE_ENDED,
    /** The coordinator's ZooKeeper session ended, or could not be proved alive within its bound. */
    SESSION_LOST,
    /** The entry was removed from ZooKeeper by somebody else. */
    REMOVED,
    /** Waiting would last for ever. */
    WOULD_DEADLOCK,
    /** The lock's limit is below what is asked for. */
    LIMIT_TOO_SMALL
  }
}
