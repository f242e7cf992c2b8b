package io.lockkeeper.client;

import java.util.Optional;

/**
 * Is told who leads. Called on the client's callback executor, one call at a time and in order. A
 * slow one misses leaders in between, never the last.
 */
@FunctionalInterface
public interface LeaderObserver {

  /** Another leader was elected, or the leader has changed its value; empty: nobody leads. */
  void onLeader(Optional<Leader> leader);

  /** Changes may be missed for a while; then {@link #onLeader} comes, if there were any. */
  default void onGap(String reason) {}

  /**
   * The watch has ended: the server refused it for good, or the client was closed. Nothing comes
   * after it. A watch that is closed itself ends without this.
   */
  default void onFailed(LockkeeperException why) {}
}
