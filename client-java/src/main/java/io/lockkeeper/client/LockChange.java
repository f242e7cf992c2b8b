package io.lockkeeper.client;

import java.util.List;
import java.util.Optional;

/**
 * How a watched lock changed.
 *
 * @param name the lock
 * @param cause what happened
 * @param contender whom it happened to; empty if the change stands for several
 * @param holders who holds the lock after the change
 * @param queueLength how many wait after the change
 * @param coalesced how many changes this one stands for; above 1 when the watcher was too slow
 * @param revision the server's newest revision at this change
 */
public record LockChange(
    String name,
    ChangeCause cause,
    Optional<Contender> contender,
    List<Contender> holders,
    int queueLength,
    int coalesced,
    long revision) {

  /** Copies the list. */
  public LockChange {
    holders = List.copyOf(holders);
  }
}
