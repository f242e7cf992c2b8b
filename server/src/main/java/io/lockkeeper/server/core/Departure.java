package io.lockkeeper.server.core;

/** How an entry left its queue. */
public enum Departure {
  /** A holder released the lock. */
  RELEASED,
  /** A waiter left: timed out, withdrawn or cancelled. */
  WITHDRAWN,
  /** Its lease ended: not renewed, closed, or its stream broke. */
  LEASE_ENDED,
  /** Its coordinator's ZooKeeper session ended. */
  SESSION_LOST,
  /** The lock was taken away: by force, or because it was held for as long as it may be. */
  FORCED,
  /** It was lost rather than released; how, this coordinator does not know. */
  LOST,
  /**
   * Gone, and this coordinator does not know why: another one served it, or somebody removed it.
   */
  UNKNOWN
}
