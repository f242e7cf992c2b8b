package io.lockkeeper.server.core.api;

/** Why a lease has ended. */
public enum LeaseEnd {
  /** It was not renewed in time. */
  EXPIRED,
  /** It was closed. */
  CLOSED,
  /** It was a stream, which has broken. */
  BROKEN,
  /** It was a stream, which had to end because its coordinator left. */
  COORDINATOR_LEFT,
  /** It was a stream, and its client has cancelled the call. */
  CANCELLED,
  /** The coordinator's ZooKeeper session ended, or could not be proved alive within its bound. */
  SESSION_LOST,
  /** An operator closed it. */
  FORCED
}
