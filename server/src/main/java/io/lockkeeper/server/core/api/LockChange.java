package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.LockName;
import java.util.List;
import java.util.Optional;

/**
 * One change of one lock, as watchers see it.
 *
 * @param revision the newest zxid that the mirror had seen
 * @param lock the lock
 * @param cause what happened
 * @param contender whom it happened to; empty after coalescing
 * @param holders the holders after the change
 * @param queueLength how many wait after the change
 * @param coalesced how many changes this one stands for, 1 or more
 */
public record LockChange(
    long revision,
    LockName lock,
    Cause cause,
    Optional<Contender> contender,
    List<Contender> holders,
    int queueLength,
    int coalesced) {

  /** Returns a change that is not described, because nobody watches. */
  public static LockChange undescribed(long revision, LockName lock) {
    return new LockChange(revision, lock, Cause.SEVERAL, Optional.empty(), List.of(), 0, 1);
  }

  /** Returns whether it says no more than that the lock has changed. */
  public boolean isUndescribed() {
    return cause == Cause.SEVERAL && coalesced == 1;
  }

  /** What happened. */
  public enum Cause {
    /** Several things. */
    SEVERAL,
    /** A contender joined the queue and waits. */
    QUEUED,
    /** A contender became a holder. */
    GRANTED,
    /** A holder released the lock. */
    RELEASED,
    /** A waiter left the queue. */
    WITHDRAWN,
    /** The contender's lease ended. */
    LEASE_ENDED,
    /** The contender's entry is gone, and this coordinator does not know why. */
    REMOVED,
    /** The lock was taken away from the contender. */
    FORCED,
    /** The contender says something else of itself. */
    METADATA,
    /** The lock's limit has changed. */
    LIMIT
  }
}
