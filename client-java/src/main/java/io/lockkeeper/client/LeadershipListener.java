package io.lockkeeper.client;

import java.time.Duration;

/**
 * Hears what happens to one candidate. Every method has an empty default. Called as {@link
 * LockListener} is.
 */
public interface LeadershipListener {

  /** A listener that does nothing. */
  LeadershipListener NONE = new LeadershipListener() {};

  /** The candidate leads now. Called before the campaign's future completes. */
  default void onElected(Leadership leadership) {}

  /** Somebody asks the leader to step down: {@link Leadership#resign} when it can be done. */
  default void onAskedToResign(Leadership leadership, ReleaseRequest request) {}

  /**
   * The leader is about to lose the leadership, unless contact comes back: bring the work to a safe
   * point. See {@link LockListener#onAboutToExpire} and {@link LockListener#onJeopardy}.
   *
   * @param remaining how long it may still lead
   */
  default void onAboutToLose(Leadership leadership, Duration remaining) {}

  /** After {@link #onAboutToLose}: the server is in contact again, and the leader still leads. */
  default void onSafe(Leadership leadership) {}

  /** The leader leads no more, without having resigned. Exactly once, and nothing follows. */
  default void onLost(Leadership leadership, LossReason reason) {}
}
