package io.lockkeeper.server.core;

import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * One entry of ours, and the acquisitions that share it: more than one when an owner holds its lock
 * once more. The entry lives until the last of them is done with it.
 */
final class Hold {

  private final StoreEvent.CreatedEntry entry;
  private final FencingToken token;
  private final Optional<MarkerName.Guard> guard;
  private final Set<Ticket> users = new LinkedHashSet<>(2);
  private final Set<Ticket> followers = new LinkedHashSet<>(0);

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
    this.token = keptToken.orElseGet(() -> FencingToken.of(entry.czxid(), entry.index()));
    this.guard = guard;
    users.add(first);
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
    return users.stream().anyMatch(user -> user != ticket && user.acquisition().isHeld());
  }

  /**
   * Names the entry for its deletion.
   *
   * @param clean whether its guard goes too: not when a holder was lost
   */
  EntryRef ref(boolean clean) {
    return new EntryRef(
        lock(), name().text(), clean ? guard.map(MarkerName.Guard::text) : Optional.empty());
  }

  /** Returns the guard that was created with the entry. */
  Optional<MarkerName.Guard> guard() {
    return guard;
  }
}
