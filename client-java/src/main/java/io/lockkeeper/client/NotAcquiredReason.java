package io.lockkeeper.client;

/** Why a request for a lock was not granted. */
public enum NotAcquiredReason {
  /** The server gave a reason that this client does not know. */
  UNKNOWN,
  /** The wait time ran out, or it was zero and the lock was taken. */
  TIMED_OUT,
  /**
   * The wait would never end: the owner itself holds what it waits for (a reader that wants to
   * write, say), or there is a cycle of waits, which the message spells out.
   */
  WOULD_DEADLOCK,
  /** The lock's queue is full. */
  QUEUE_FULL,
  /** The request was withdrawn. */
  WITHDRAWN,
  /** Somebody else removed the request's entry from ZooKeeper. */
  REMOVED,
  /** The lock's limit is, or became, lower than the permits asked for. */
  LIMIT_TOO_SMALL
}
