package io.lockkeeper.server.core.lock;

import java.time.Duration;
import java.util.Optional;

/**
 * The terms of the acquisition that an entry is for: what another coordinator must know beside the
 * entry's name to go on with it.
 *
 * @param locks how many locks the request names: it has an entry for each
 * @param waitTimeout how long it may wait, from its creation on; empty for as long as its lease
 * @param maxHold how long the locks may be held, if that is limited
 * @param lockDelay how long the next grant waits after this holder was lost: the entry has a guard
 *     if it is not zero; in whole milliseconds
 * @param guardAccount the tag of the account that the guard counts for
 * @param ownStream whether its notices go to a stream of its own rather than to the lease's
 */
public record EntryTerms(
    int locks,
    Optional<Duration> waitTimeout,
    Optional<Duration> maxHold,
    Duration lockDelay,
    String guardAccount,
    boolean ownStream) {

  /** Replaces an invalid tag by NOBODY: other programs can write entries. */
  public EntryTerms {
    guardAccount = AccountTag.parse(guardAccount);
  }

  /** One lock, no limits, told on the lease's stream. */
  public static final EntryTerms PLAIN =
      new EntryTerms(
          1, Optional.empty(), Optional.empty(), Duration.ZERO, AccountTag.NOBODY, false);
}
