package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.Mode;
import java.util.Map;
import java.util.Optional;

/**
 * One entry of a queue as it is shown to people and clients.
 *
 * @param leaseTag the public short name of the lease, empty for an entry that is not ours
 * @param requestId the acquisition's name, empty if not known
 * @param owner the owner inside the lease, may be empty
 * @param holder who it is, human-readable
 * @param mode the kind of hold
 * @param metadata what the contender says of itself
 * @param queuedForNanos how long this coordinator has seen the entry
 * @param heldForNanos how long this coordinator has seen it as a holder; empty for waiters
 * @param token the fencing token; empty for waiters and where it is not known
 * @param needsNanos holders who were asked to give way: for how much longer they need the lock, as
 *     they said
 * @param entry the znode name
 * @param atLeast whether the two times are the least they can be: this coordinator found the entry
 *     there, or holding
 */
public record Contender(
    String leaseTag,
    String requestId,
    String owner,
    String holder,
    Mode mode,
    Map<String, String> metadata,
    long queuedForNanos,
    Optional<Long> heldForNanos,
    Optional<FencingToken> token,
    Optional<Long> needsNanos,
    String entry,
    boolean atLeast) {

  /** Returns the contender with what it says of itself left out. */
  public Contender withoutMetadata() {
    return new Contender(
        leaseTag,
        requestId,
        owner,
        holder,
        mode,
        Map.of(),
        queuedForNanos,
        heldForNanos,
        token,
        needsNanos,
        entry,
        atLeast);
  }
}
