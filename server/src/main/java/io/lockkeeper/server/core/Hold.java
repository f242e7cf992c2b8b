package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * One entry of ours, and the acquisitions that share it: more than one when an owner holds its lock
 * once more. The entry lives until the last of them is done with it.
 */
final class Hold {

  private final StoreEvent.CreatedEntry entry;
  private final Optional<FencingToken> keptToken;
  private final FencingToken token;
  private final Optional<MarkerName.Guard> guard;
  private final List<Ticket> users = new ArrayList<>(1);
  private final List<Ticket> followers = new ArrayList<>(0);
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
    this.token =
        keptToken.isPresent() ? keptToken.get() : FencingToken.of(entry.czxid(), entry.index());
    this.guard = guard;
    users.add(first);
    payer = first;
  }

  /** Returns the one of {@code holds} whose entry is that, if there is one. */
  static Optional<Hold> find(List<Hold> holds, LockName lock, String entry) {
    for (Hold hold : holds) {
      if (hold.lock().equals(lock) && hold.name().text().equals(entry)) {
        return Optional.of(hold);
      }
    }
    return Optional.empty();
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

  /** Returns the acquisitions that share the entry, each once, in the order in which they came. */
  List<Ticket> users() {
    return Collections.unmodifiableList(users);
  }

  /** Lets an acquisition share the entry, if it does not yet. */
  void join(Ticket ticket) {
    if (!users.contains(ticket)) {
      users.add(ticket);
    }
  }

  /** Takes an acquisition off those that share the entry. */
  void part(Ticket ticket) {
    users.remove(ticket);
  }

  /** Returns the acquisitions that are to be placed beside the entry and have no place yet. */
  List<Ticket> followers() {
    return followers;
  }

  /** Returns whether somebody else than {@code ticket} was granted it. */
  boolean isHeldBeside(Ticket ticket) {
    return holdersBeside(ticket) > 0;
  }

  /** Returns how many others than {@code ticket} hold it. */
  int holdersBeside(Ticket ticket) {
    int others = 0;
    for (Ticket user : users) {
      others += user != ticket && user.acquisition().isHeld() ? 1 : 0;
    }
    return others;
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
    // Whoever shares it may have asked for another delay: its guard stays what it was made.
    Duration delay = Duration.ofMillis(guard.map(MarkerName.Guard::delayMillis).orElse(0));
    return new Amendment.Describe(details.withLockDelay(delay), entry.index(), keptToken);
  }

  /** Returns the guard that was created with the entry. */
  Optional<MarkerName.Guard> guard() {
    return guard;
  }
}
