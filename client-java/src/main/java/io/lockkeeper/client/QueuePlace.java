package io.lockkeeper.client;

import java.util.List;
import java.util.Optional;

/**
 * Where a request stands in the queue of one lock.
 *
 * @param lock the lock
 * @param ahead how many entries are ahead, holders included
 * @param holders who holds the lock, as far as known; at most 16
 * @param frozen why operators have frozen the lock, so that nobody new is granted it; may be an
 *     empty text; empty: it is not frozen
 */
public record QueuePlace(String lock, int ahead, List<Contender> holders, Optional<String> frozen) {

  /** Copies the list. */
  public QueuePlace {
    holders = List.copyOf(holders);
  }
}
