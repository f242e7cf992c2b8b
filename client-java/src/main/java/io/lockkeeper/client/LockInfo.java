package io.lockkeeper.client;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One lock as a server saw it a moment ago.
 *
 * @param name the lock
 * @param holders who holds it, in the order of the queue
 * @param queueLength how many wait for it
 * @param queue the first of those who wait, in order; empty in lists
 * @param configuredLimit the limit of permits that {@link LockkeeperClient#configureLock} has set;
 *     empty: none, requests name it
 * @param delayedFor how long until the next grant, while the lock delay of a holder that was lost
 *     is running, as far as the server knows; empty: it is not
 * @param revision the lock's newest change that the server has seen
 * @param frozen why operators have frozen the lock, so that nobody new is granted it; empty: it is
 *     not frozen
 */
public record LockInfo(
    String name,
    List<Contender> holders,
    int queueLength,
    List<Contender> queue,
    OptionalInt configuredLimit,
    Optional<Duration> delayedFor,
    long revision,
    Optional<String> frozen) {

  /** Copies the lists. */
  public LockInfo {
    holders = List.copyOf(holders);
    queue = List.copyOf(queue);
  }

  /** Returns whether nobody holds the lock. */
  public boolean isFree() {
    return holders.isEmpty();
  }
}
