package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import java.util.List;

/** What a waiting caller is told. Every call gets exactly one. */
public sealed interface Answer {

  /**
   * The lease is open.
   *
   * @param lease the lease
   * @param ttlNanos how long it lives without a keep-alive
   * @param validForNanos how long from the sending of the request it is valid
   * @param epoch its epoch
   */
  record LeaseOpened(LeaseId lease, long ttlNanos, long validForNanos, long epoch)
      implements Answer {}

  /**
   * The stream is the lease's.
   *
   * @param lease the lease
   * @param ttlNanos how long it lives without a keep-alive
   * @param validForNanos how long from the sending of the request it is valid
   * @param epoch its epoch
   */
  record LeaseAttached(LeaseId lease, long ttlNanos, long validForNanos, long epoch)
      implements Answer {}

  /**
   * The lease is renewed.
   *
   * @param validForNanos how long from the sending of the keep-alive it is valid
   * @param epoch its epoch
   */
  record LeaseRenewed(long validForNanos, long epoch) implements Answer {}

  /**
   * The lease has ended and stays so.
   *
   * @param end why
   */
  record LeaseGone(LeaseEnd end) implements Answer {}

  /**
   * The lease is closed with all that it held.
   *
   * @param already whether it had ended before
   */
  record LeaseClosed(boolean already) implements Answer {}

  /**
   * The release is done.
   *
   * @param outcome what it did
   * @param remainingHolds how many acquisitions of the owner hold the locks still
   */
  record ReleaseDone(ReleaseOutcome outcome, int remainingHolds) implements Answer {}

  /**
   * The holders were asked to give way.
   *
   * @param holders those who were asked, at most 16
   */
  record ReleaseAsked(List<Contender> holders) implements Answer {}

  /**
   * Holders were made to give way, or asked first.
   *
   * @param released how many lost the lock
   * @param asked how many were asked first
   * @param delaysEnded how many lock delays were ended
   */
  record Forced(int released, int asked, int delaysEnded) implements Answer {}

  /** The acquisition says something else of itself. */
  record Described() implements Answer {}

  /**
   * The limit is set.
   *
   * @param previous the limit before, zero if there was none
   */
  record LimitSet(int previous) implements Answer {}

  /** The prefix is frozen, or thawed. */
  record FreezeChanged() implements Answer {}

  /**
   * Where a waiting acquisition stands.
   *
   * @param told the notice, as it would be told to the stream
   */
  record PositionTold(Notice.Position told) implements Answer {}

  /**
   * Locks as they were when the question came.
   *
   * @param locks the locks
   * @param revision the newest zxid that the mirror had seen then
   */
  record LocksShown(List<LockView> locks, long revision) implements Answer {}

  /**
   * What is known of a token.
   *
   * @param current whether it is that of a current holder
   * @param tokens those of the current holders, at most 16
   */
  record TokenChecked(boolean current, List<FencingToken> tokens) implements Answer {}

  /**
   * The request could not be taken.
   *
   * @param failure why
   */
  record Failed(Failure failure) implements Answer {}

  /** What a release did. */
  enum ReleaseOutcome {
    /** The locks were held and are released. */
    RELEASED,
    /** The acquisition had ended before. */
    ALREADY_RELEASED,
    /** The request was waiting and has left the queue. */
    WITHDRAWN,
    /** One level of a reentrant hold was given back. */
    DECREMENTED
  }
}
