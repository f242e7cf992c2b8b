package io.lockkeeper.client;

import java.time.Duration;

/**
 * Is told what happens to one candidate. Every method has an empty default. Called as {@link
 * LockListener} is.
 */
public interface LeadershipListener {

  /** A listener that does nothing. */
  LeadershipListener NONE = new LeadershipListener() {};

  /**
   * The candidate leads now. Called before the campaign's future completes, if that is not done.
   */
  default void onElected(Leadership leadership) {}

  /** Another client asks the leader to step down: {@link Leadership#resign} as soon as possible. */
  default void onAskedToResign(Leadership leadership, ReleaseRequest request) {}

  /**
   * The leader is about to lose the leadership, unless contact is restored: bring the work to a
   * safe point. See {@link LockListener#onAboutToExpire} and {@link LockListener#onJeopardy}.
   *
   * @param remaining how long it may still lead
   */
  default void onAboutToLose(Leadership leadership, Duration remaining) {}

  /**
   * After {@link #onAboutToLose} because a server had lost ZooKeeper: the contact is back, and the
   * leader still leads.
   */
  default void onSafe(Leadership leadership) {}

  /** The leader no longer leads, without having resigned. Called once, and last. */
  default void onLost(Leadership leadership, LossReason reason) {}
}
