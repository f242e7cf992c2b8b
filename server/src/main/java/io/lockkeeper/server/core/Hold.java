package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * One entry of ours, and the acquisitions that share it: more than one when an owner holds its lock
 * once more. The entry lives until the last of them is done with it.
 */
final class Hold {

  private final StoreEvent.CreatedEntry entry;
  private final Optional<FencingToken> keptToken;
  private final FencingToken token;
  private final Optional<MarkerName.Guard> guard;
  private final Set<Ticket> users = new LinkedHashSet<>(2);
  private final Set<Ticket> followers = new LinkedHashSet<>(0);
  private boolean lost;
  private boolean granted;
  private Ticket payer;

  /**
   * Makes a hold.
   *
   * @param entry the entry
   * @param keptToken the token of the hold that this one goes on, if it does
   * @param guard the guard that was created with the entry
   * @param first the acquisition that it was created for
   */
  Hold(
      StoreEvent.CreatedEntry entry,
      Optional<FencingToken> keptToken,
      Optional<MarkerName.Guard> guard,
      Ticket first) {
    this.entry = entry;
    this.keptToken = keptToken;
    this.token = keptToken.orElseGet(() -> FencingToken.of(entry.czxid(), entry.index()));
    this.guard = guard;
    users.add(first);
    payer = first;
  }

  /** Returns whether the bytes of its path are counted for this acquisition. */
  boolean paidBy(Ticket ticket) {
    return payer == ticket;
  }

  void payer(Ticket ticket) {
    payer = ticket;
  }

  StoreEvent.CreatedEntry entry() {
    return entry;
  }

  LockName lock() {
    return entry.lock();
  }

  EntryName name() {
    return entry.name();
  }

  FencingToken token() {
    return token;
  }

  /** Returns the acquisitions that share the entry. */
  Set<Ticket> users() {
    return users;
  }

  /** Returns the acquisitions that are to be placed beside the entry and have no place yet. */
  Set<Ticket> followers() {
    return followers;
  }

  /** Returns whether somebody else than {@code ticket} was granted it. */
  boolean isHeldBeside(Ticket ticket) {
    return holdersBeside(ticket) > 0;
  }

  /** Returns how many others than {@code ticket} hold it. */
  int holdersBeside(Ticket ticket) {
    return (int)
        users.stream().filter(user -> user != ticket && user.acquisition().isHeld()).count();
  }

  /** Remembers that somebody was told that it is held. */
  void markGranted() {
    granted = true;
  }

  /** Returns whether anybody was ever told that it is held. */
  boolean wasGranted() {
    return granted;
  }

  /** Remembers that somebody who held it was lost: its guard stays, whoever leaves last. */
  void markLost() {
    lost = true;
  }

  /** Returns whether a lock delay begins when the entry goes. */
  boolean leavesGuard() {
    return lost && guard.isPresent();
  }

  /** Names the entry for its deletion. Its guard goes too, unless a holder was lost. */
  EntryRef ref() {
    return new EntryRef(
        lock(), name().text(), lost ? Optional.empty() : guard.map(MarkerName.Guard::text));
  }

  /**
   * Returns what makes the entry say this of itself; its guard stays that with which it was made.
   */
  Amendment describedBy(EntryDetails details) {
    int delayMillis = guard.map(MarkerName.Guard::delayMillis).orElse(0);
    EntryDetails own =
        details.withTerms(details.terms().withLockDelay(Duration.ofMillis(delayMillis)));
    return new Amendment.Describe(own, entry.index(), keptToken);
  }

  /** Returns the guard that was created with the entry. */
  Optional<MarkerName.Guard> guard() {
    return guard;
  }
}
