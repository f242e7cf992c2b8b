package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a client asks for in one acquisition.
 *
 * @param locks the locks, each name once, never empty
 * @param lease the lease, or empty if the stream is the lease
 * @param owner the owner inside the lease, may be empty
 * @param requestId the client's name for the acquisition, never empty
 * @param waitTimeout how long to wait: empty for as long as the stream, zero for not at all
 * @param holder who asks, human-readable
 * @param metadata shown to those who wait
 * @param positionInterval how often to tell a waiter where it stands, if at all
 * @param maxHold how long the locks may be held, if that is limited
 * @param lockDelay how long the next grant waits after this holder was lost
 * @param unsearched whether it is left out of the search for cycles of waits
 * @param heldTokens the tokens with which it was granted, if a client repeats it to go on holding;
 *     empty for a request that holds nothing yet
 * @param notifyContention whether its holder wants to be told when somebody waits
 */
public record AcquireCommand(
    List<WantedLock> locks,
    Optional<LeaseId> lease,
    String owner,
    String requestId,
    Optional<Duration> waitTimeout,
    String holder,
    Map<String, String> metadata,
    Optional<Duration> positionInterval,
    Optional<Duration> maxHold,
    Duration lockDelay,
    boolean unsearched,
    List<Long> heldTokens,
    boolean notifyContention) {

  /** The key of the W3C trace context in the metadata, if the client traces. */
  public static final String TRACEPARENT = "traceparent";

  /**
   * One lock that is wanted.
   *
   * @param name the lock
   * @param mode the kind of hold
   */
  public record WantedLock(LockName name, Mode mode) {}

  /**
   * Copies the collections.
   *
   * @throws IllegalArgumentException if there are no locks or no request id
   */
  public AcquireCommand {
    locks = List.copyOf(locks);
    metadata = Map.copyOf(metadata);
    heldTokens = List.copyOf(heldTokens);
    if (locks.isEmpty() || requestId.isEmpty()) {
      throw new IllegalArgumentException("an acquisition needs at least one lock and a request id");
    }
  }

  /** Returns the same request under a lease. */
  public AcquireCommand under(LeaseId id) {
    return with(Optional.of(id), holder, metadata, heldTokens);
  }

  /** Returns the same request that says something else of itself. */
  public AcquireCommand describedBy(Map<String, String> other) {
    return with(lease, holder, other, heldTokens);
  }

  /** Returns the same request of a client that holds what it asks for. */
  public AcquireCommand holding(List<Long> tokens) {
    return with(lease, holder, metadata, tokens);
  }

  /** Returns what is asked for, without what is only human-readable. */
  public AcquireCommand withoutDescription() {
    return holder.isEmpty() && metadata.isEmpty() ? this : with(lease, "", Map.of(), heldTokens);
  }

  private AcquireCommand with(
      Optional<LeaseId> newLease,
      String newHolder,
      Map<String, String> newMetadata,
      List<Long> newTokens) {
    return new AcquireCommand(
        locks,
        newLease,
        owner,
        requestId,
        waitTimeout,
        newHolder,
        newMetadata,
        positionInterval,
        maxHold,
        lockDelay,
        unsearched,
        newTokens,
        notifyContention);
  }

  /** Returns whether {@code other} asks for the same: a repeated request must. */
  public boolean asksTheSameAs(AcquireCommand other) {
    return locks.equals(other.locks) && owner.equals(other.owner);
  }
}
