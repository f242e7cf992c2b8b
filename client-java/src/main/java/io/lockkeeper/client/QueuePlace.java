package io.lockkeeper.client;

import java.util.List;

/**
 * Where a request stands in the queue of one lock.
 *
 * @param lock the lock
 * @param ahead how many entries are ahead, holders included
 * @param holders who holds the lock, as far as known; at most 16
 */
public record QueuePlace(String lock, int ahead, List<Contender> holders) {

  /** Copies the list. */
  public QueuePlace {
    holders = List.copyOf(holders);
  }
}
