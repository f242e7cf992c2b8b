package io.lockkeeper.server.core.api;

/** How an entry left its queue. */
public enum HoldEnd {
  /** A holder released the lock. */
  RELEASED,
  /** The holder's lease was a stream, and its client has cancelled the call. */
  CANCELLED,
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
  UNKNOWN;

  /** Returns how entries leave whose client was told {@code ending} last. */
  public static HoldEnd by(Notice ending) {
    if (ending instanceof Notice.Released) {
      return RELEASED;
    }
    if (ending instanceof Notice.Lost lost) {
      return switch (lost.reason()) {
        case LEASE_EXPIRED, LEASE_CLOSED, STREAM_BROKEN, COORDINATOR_LEFT -> LEASE_ENDED;
        case SESSION_LOST -> SESSION_LOST;
        case FORCED, MAX_HOLD -> FORCED;
        case REMOVED -> LOST;
      };
    }
    if (ending instanceof Notice.NotAcquired refused) {
      return switch (refused.reason()) {
        case TIMED_OUT, QUEUE_FULL, WITHDRAWN, WOULD_DEADLOCK, LIMIT_TOO_SMALL -> WITHDRAWN;
        case LEASE_ENDED -> LEASE_ENDED;
        case SESSION_LOST -> SESSION_LOST;
        case REMOVED -> UNKNOWN;
      };
    }
    return UNKNOWN;
  }
}
