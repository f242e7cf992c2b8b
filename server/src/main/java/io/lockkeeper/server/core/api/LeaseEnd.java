package io.lockkeeper.server.core.api;

/** Why a lease has ended. */
public enum LeaseEnd {
  /** It was not renewed in time. */
  EXPIRED,
  /** It was closed, or the stream that it was has ended. */
  CLOSED,
  /** The coordinator's ZooKeeper session ended, or could not be proved alive within its bound. */
  SESSION_LOST
}
