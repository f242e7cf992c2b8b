package io.lockkeeper.client;

/** How the holder before this one ended. */
public enum PreviousEnd {
  /** Not known: there was none that the server saw, or another server served it. */
  UNKNOWN,
  /** It released the lock. */
  RELEASED,
  /** Its lease ran out: it may have died while it worked: check what it left behind. */
  LEASE_EXPIRED,
  /** Its server's ZooKeeper session ended: it may have been interrupted while it worked. */
  COORDINATOR_LOST,
  /** The lock was taken away from it: by force, or because it was held as long as it may be. */
  FORCED,
  /** It was lost rather than released, and the server does not know how. */
  LOST,
  /** It gave the lock up without saying that its work was done. */
  CANCELLED
}
