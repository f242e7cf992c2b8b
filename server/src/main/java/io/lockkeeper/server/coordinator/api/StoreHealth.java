package io.lockkeeper.server.coordinator.api;

import java.util.Optional;

/**
 * What is wrong with the nodes that the queues are kept in.
 *
 * @param refusal why nothing at all can be served, human-readable: we may not use the nodes that
 *     everything is under; empty if we may
 * @param unwritable in how many directories something could not be written or deleted, by the last
 *     attempt; the locks there are served as far as that goes, all others are as ever
 * @param firstUnwritable the first of these, and what ZooKeeper said
 */
public record StoreHealth(
    Optional<String> refusal, int unwritable, Optional<String> firstUnwritable) {

  /** Nothing is wrong. */
  public static final StoreHealth WELL = new StoreHealth(Optional.empty(), 0, Optional.empty());

  /** Returns what single locks suffer from, human-readable; empty if that is nothing. */
  public Optional<String> inWords() {
    return firstUnwritable.map(
        first ->
            unwritable
                + (unwritable == 1 ? " directory" : " directories")
                + " in ZooKeeper cannot be written as they should; the first: "
                + first);
  }
}
