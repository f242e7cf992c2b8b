package io.lockkeeper.client;

import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;

/**
 * One entry of a lock's queue: somebody who holds the lock or waits for it.
 *
 * @param holder who it is, for people; may be empty
 * @param leaseTag the public short name of its lease; empty if it does not come through Lockkeeper
 * @param requestId the name of its request; empty if not known
 * @param metadata what it says of itself
 * @param queuedFor how long its entry has been in the queue, as far as the server has seen it
 * @param heldFor how long it has held the lock, zero if it waits
 * @param fencingToken its fencing token, empty if it waits
 * @param entry its node in ZooKeeper
 */
public record Contender(
    String holder,
    String leaseTag,
    String requestId,
    Map<String, String> metadata,
    Duration queuedFor,
    Duration heldFor,
    OptionalLong fencingToken,
    String entry) {

  /** Copies the metadata. */
  public Contender {
    metadata = Map.copyOf(metadata);
  }
}
