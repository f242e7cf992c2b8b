package io.lockkeeper.client;

/** What happened to a lock that is watched. */
public enum ChangeCause {
  /** Several things, see {@link LockChange#coalesced}, or one that this client does not know. */
  UNKNOWN,
  /** Somebody joined the queue and waits. */
  QUEUED,
  /** Somebody became a holder. */
  GRANTED,
  /** A holder released the lock. */
  RELEASED,
  /** Somebody who waited has left the queue. */
  WITHDRAWN,
  /** Somebody's lease ended. */
  LEASE_ENDED,
  /** Somebody's entry was removed, and this server does not know why: another one served it. */
  REMOVED,
  /** Somebody's metadata was replaced, or it has said how long it needs the lock yet. */
  METADATA,
  /** The lock was taken away from somebody: by force, or because it was held long enough. */
  FORCED,
  /** The lock's limit of permits has changed. */
  LIMIT
}
