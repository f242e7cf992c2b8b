package io.lockkeeper.client;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One entry of a lock's queue: a holder of the lock, or a waiter.
 *
 * @param holder who it is, human-readable; may be empty
 * @param leaseTag the public short name of its lease; empty if it does not come through Lockkeeper
 * @param requestId the name of its request; empty if not known
 * @param owner the owner inside the lease that the request named; empty: none
 * @param mode the kind of hold
 * @param permits how many permits, if the mode is {@link LockMode#PERMITS}; else zero
 * @param limit the limit of permits that the request named; zero: none
 * @param custom the mode's name, if the mode is {@link LockMode#CUSTOM}; else empty
 * @param metadata what it says about itself
 * @param queuedFor how long its entry has been in the queue
 * @param heldFor how long it has held the lock, zero if it waits
 * @param atLeast whether these two are only the least that they can be, since the server has begun
 *     to look later
 * @param fencingToken its fencing token, empty if it waits
 * @param releaseIn how much longer it needs the lock, as it answered a request for release; empty:
 *     it has not answered, or waits
 * @param entry its node in ZooKeeper
 */
public record Contender(
    String holder,
    String leaseTag,
    String requestId,
    String owner,
    LockMode mode,
    int permits,
    int limit,
    String custom,
    Map<String, String> metadata,
    Duration queuedFor,
    Duration heldFor,
    boolean atLeast,
    OptionalLong fencingToken,
    Optional<Duration> releaseIn,
    String entry) {

  /** Copies the metadata. */
  public Contender {
    metadata = Map.copyOf(metadata);
  }
}
