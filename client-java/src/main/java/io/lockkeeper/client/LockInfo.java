package io.lockkeeper.client;

import java.util.List;

/**
 * One lock as a server saw it a moment ago.
 *
 * @param name the lock
 * @param holders who holds it, in the order of the queue
 * @param queueLength how many wait for it
 * @param queue the first of those who wait, in order; empty in lists
 * @param revision the lock's newest change that the server has seen
 */
public record LockInfo(
    String name, List<Contender> holders, int queueLength, List<Contender> queue, long revision) {

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
