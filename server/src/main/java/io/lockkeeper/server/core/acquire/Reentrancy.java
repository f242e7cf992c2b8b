package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AdoptedState;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Who owns what, for reentrancy: what was granted to a named owner of a lease, in the order of the
 * grants; and how long it may be held.
 */
public final class Reentrancy {

  /**
   * How much longer than asked a hold may last, so that a holder who counts from the grant is done.
   */
  private static final long LEAST_SLACK_NANOS = Duration.ofMillis(100).toNanos();

  private static final long MOST_SLACK_NANOS = Duration.ofSeconds(2).toNanos();

  private final CoreState core;

  public Reentrancy(CoreState core) {
    this.core = core;
  }

  /** Returns what an owner of a lease holds of a lock; nothing for an empty owner. */
  List<Hold> of(Lease lease, String owner, LockName lock) {
    return owner.isEmpty()
        ? List.of()
        : lease.holds().getOrDefault(new Lease.OwnedLock(owner, lock), List.of());
  }

  private List<Hold> of(Acquisition acquisition, LockName lock) {
    return of(acquisition.lease(), acquisition.command().owner(), lock);
  }

  /** The acquisition is about to be granted: from now on its owner holds its locks. */
  void grant(Acquisition acquisition) {
    String owner = acquisition.command().owner();
    if (!owner.isEmpty()) {
      for (Hold hold : acquisition.holds()) {
        acquisition
            .lease()
            .holds()
            .computeIfAbsent(new Lease.OwnedLock(owner, hold.lock()), o -> new ArrayList<>(1))
            .add(hold);
      }
    }
  }

  /**
   * Bounds the time for which an acquisition may hold, if its request says so.
   *
   * @param onOver what to do when that time is over
   */
  void bound(Acquisition acquisition, Runnable onOver) {
    Optional<Duration> said = acquisition.adoptedState().flatMap(AdoptedState::maxHold);
    Optional<Duration> longest = said.or(() -> acquisition.command().maxHold());
    if (longest.isPresent()) {
      long nanos = longest.get().toNanos();
      long slack = Math.min(MOST_SLACK_NANOS, Math.max(LEAST_SLACK_NANOS, nanos / 10));
      long awakeIn = acquisition.awakeAtNanos(core.now) - core.now;
      // Where another coordinator may have granted it later, its own clock counts, unless the
      // client has said what is left.
      long from = said.isPresent() ? 0 : awakeIn;
      long end = core.now + Math.max(from + nanos + slack, awakeIn);
      acquisition.timers().holdsUntil(core.timers, core.timers.at(end, onOver), core.now + nanos);
    }
  }

  /** Returns the acquisition, and those that came to hold its locks once more after it. */
  List<Acquisition> nestedIn(Acquisition acquisition) {
    List<Acquisition> nested = new ArrayList<>(List.of(acquisition));
    for (Hold hold : acquisition.holds()) {
      List<Hold> owned = of(acquisition, hold.lock());
      for (Hold later : owned.subList(owned.indexOf(hold) + 1, owned.size())) {
        if (later.isLevelOf(hold) && !nested.contains(later.acquisition())) {
          nested.add(later.acquisition());
        }
      }
    }
    return nested;
  }

  /** Returns how much longer the acquisition, or one that it is nested in, may be held. */
  long leftNanos(Acquisition acquisition) {
    long left = acquisition.timers().holdLeftNanos(core.now);
    for (Hold hold : acquisition.holds()) {
      for (Hold earlier : of(acquisition, hold.lock())) {
        if (earlier == hold) {
          break;
        }
        if (earlier.isLevelOf(hold)) {
          left = Math.min(left, earlier.acquisition().timers().holdLeftNanos(core.now));
        }
      }
    }
    return left;
  }

  /**
   * Returns whether the same owner has another hold at the very place of this one of which {@code
   * rule} is true.
   */
  boolean anyAt(Hold hold, Predicate<Hold> rule) {
    for (Hold other : of(hold.acquisition(), hold.lock())) {
      if (other != hold && other.isAtPlaceOf(hold) && rule.test(other)) {
        return true;
      }
    }
    return false;
  }

  /** Returns how many other acquisitions of the same owner hold the same lock in the same mode. */
  int levelsBeside(Hold hold) {
    int levels = 0;
    for (Hold other : of(hold.acquisition(), hold.lock())) {
      levels += other != hold && other.isLevelOf(hold) ? 1 : 0;
    }
    return levels;
  }

  /**
   * The acquisition gives up what it holds.
   *
   * @return how many others of its owner go on holding it; zero if any of it is free of its owner
   */
  int leave(Acquisition acquisition) {
    boolean free = false;
    int most = 0;
    for (Hold hold : acquisition.holds()) {
      List<Hold> owned = of(acquisition, hold.lock());
      if (owned.contains(hold) && owned.remove(hold)) {
        int levels = levelsBeside(hold);
        free |= levels == 0;
        most = Math.max(most, levels);
        if (owned.isEmpty()) {
          acquisition
              .lease()
              .holds()
              .remove(new Lease.OwnedLock(acquisition.command().owner(), hold.lock()));
        }
      }
    }
    return free ? 0 : most;
  }
}
