package io.lockkeeper.server.core.session;

/** What the pool of lock sessions tells the rest of the core. */
public interface SessionPoolListener {

  /** Hears nothing. */
  SessionPoolListener NONE = new SessionPoolListener() {};

  /** Holders on the session are in jeopardy. */
  default void onSuspended(LockSession session) {}

  /**
   * The session was proved alive; {@code wasSuspended} says whether holders had been told jeopardy.
   */
  default void onProved(LockSession session, boolean wasSuspended) {}

  /** The session could not be proved alive within its bound. */
  default void onBoundLost(LockSession session) {}

  /** The session has been without contact for long: others may serve its leases. */
  default void onForsaken(LockSession session) {}

  /** The session has ended, and everything on it. */
  default void onGone(LockSession session) {}

  /** The session is another coordinator's now, with all that it owns. */
  default void onDeposed(LockSession session) {}
}
