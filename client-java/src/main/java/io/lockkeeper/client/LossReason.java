package io.lockkeeper.client;

/** Why a lock that was held is not held any more. */
public enum LossReason {
  /** The server gave a reason that this client does not know. */
  UNKNOWN,
  /**
   * The client's own deadline has passed: no keep-alive was acknowledged in time, or a server that
   * had lost ZooKeeper was not in contact again in time. No server needs to have said so.
   */
  DEADLINE_PASSED,
  /** The server ended the lease because it was not renewed in time. */
  LEASE_EXPIRED,
  /** The lease was closed: by {@link LockkeeperClient#close} or on the server. */
  LEASE_CLOSED,
  /** The server does not know the lease any more, so it cannot be resumed. */
  LEASE_UNKNOWN,
  /** Somebody else has resumed the lease, who knows its id and secret. */
  SUPERSEDED,
  /** The server's ZooKeeper session ended, or could not be proved alive in time. */
  SESSION_LOST,
  /** The lock's entry was removed from ZooKeeper by somebody else. */
  REMOVED,
  /** An administrator took the lock away. */
  FORCED,
  /** The lock was held as long as it may be. */
  MAX_HOLD
}
