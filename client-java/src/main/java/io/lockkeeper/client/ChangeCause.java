package io.lockkeeper.client;

/** What happened to a lock that is watched. */
public enum ChangeCause {
  /** Several things, see {@link LockChange#coalesced}, or one that this client does not know. */
  UNKNOWN,
  /** A waiter joined the queue. */
  QUEUED,
  /** A waiter became a holder. */
  GRANTED,
  /** A holder released the lock. */
  RELEASED,
  /** A waiter has left the queue. */
  WITHDRAWN,
  /** The lease of a holder or waiter ended. */
  LEASE_ENDED,
  /** An entry was removed, and this server does not know why: another one served it. */
  REMOVED,
  /** An entry's metadata was replaced, or a holder has said how much longer it needs the lock. */
  METADATA,
  /** The lock was taken away from a holder: by force, or because its longest hold was over. */
  FORCED,
  /** The lock's limit of permits has changed. */
  LIMIT
}
