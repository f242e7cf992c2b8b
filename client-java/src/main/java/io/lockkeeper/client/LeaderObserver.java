package io.lockkeeper.client;

import java.util.Optional;

/**
 * Hears who leads. Called on the client's callback executor, one call at a time and in order. A
 * slow one misses leaders in between, never the last.
 */
@FunctionalInterface
public interface LeaderObserver {

  /** Somebody else leads than before, or says something else of itself; empty: nobody leads. */
  void onLeader(Optional<Leader> leader);

  /** Changes may be missed for a while; then {@link #onLeader} comes, if there were any. */
  default void onGap(String reason) {}

  /** Nothing more will be heard: the server refused the watch for good. */
  default void onFailed(LockkeeperException why) {}
}
