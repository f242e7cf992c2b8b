package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.LockName;
import java.util.List;
import java.util.Optional;

/**
 * One lease as this coordinator sees it.
 *
 * @param tag the public short name
 * @param holder who the client is, human-readable
 * @param ttlNanos how long it lives without a keep-alive; empty for a lease that is a stream
 * @param remainingNanos how long it still lives; empty for a lease that is a stream
 * @param acquisitionCount how many acquisitions it has
 * @param acquisitions the first of them, as many as were asked for
 */
public record LeaseView(
    String tag,
    String holder,
    Optional<Long> ttlNanos,
    Optional<Long> remainingNanos,
    int acquisitionCount,
    List<Held> acquisitions) {

  /**
   * One acquisition of a lease.
   *
   * @param requestId its name
   * @param locks the locks
   * @param held whether it holds them
   */
  public record Held(String requestId, List<LockName> locks, boolean held) {}
}
