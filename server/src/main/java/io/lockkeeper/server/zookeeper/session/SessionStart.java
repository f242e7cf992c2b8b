package io.lockkeeper.server.zookeeper.session;

import java.util.Optional;

/** How a lock session comes to be ours. Lives on the store's thread. */
sealed interface SessionStart permits NewSession, AdoptedSession {

  /** Hears how a beginning ends. */
  interface StartListener {
    /** The session is connected, and its claim record says that it is ours. */
    void onClaimed();

    /** Nothing comes of it. */
    void onGone();
  }

  /** Returns our claim, once there may be a record of it. */
  Optional<Claim> claim();

  /** Returns whether the session owns nothing until it has begun. */
  boolean isEmpty();

  /** Begins, or goes on, over a new connection; {@code fits} says whether its timeout will do. */
  void onConnected(boolean fits);

  /** The handle died before the session had begun. */
  void onExpired();

  /** ZooKeeper has refused our credentials before the session had begun. */
  void onAuthFailed();

  /**
   * Tells the coordinator of a first proof on a new connection, and whatever it has to know before;
   * then runs {@code told}, or {@code failed} if that needs another connection.
   */
  void tellProved(long sentAtNanos, Runnable told, Runnable failed);

  /** Gives up. */
  void cancel();
}
