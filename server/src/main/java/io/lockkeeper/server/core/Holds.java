package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/**
 * Who owns what, for reentrancy: what was granted to a named owner of a lease; and how long it may
 * be held.
 */
final class Holds {

  /**
   * How much longer than asked a hold may last, so that a holder who counts from the grant is done.
   */
  private static final long LEAST_SLACK_NANOS = Duration.ofMillis(100).toNanos();

  private static final long AGAIN_NANOS = Duration.ofSeconds(1).toNanos();

  private static final long MOST_SLACK_NANOS = Duration.ofSeconds(2).toNanos();

  private final World world;
  private final Amendments amendments;

  Holds(World world, Amendments amendments) {
    this.world = world;
    this.amendments = amendments;
  }

  /** Returns what an owner of a lease holds of a lock; nothing for an empty owner. */
  List<Hold> of(Lease lease, String owner, LockName lock) {
    return owner.isEmpty()
        ? List.of()
        : lease.holds().getOrDefault(new Lease.Owned(owner, lock), List.of());
  }

  /**
   * The acquisition is about to be granted.
   *
   * @param onOver takes its locks away when it has held them for as long as it may: from itself,
   *     and from those that came to share them after it
   */
  void grant(Ticket ticket, BiConsumer<List<Ticket>, Notice.Lost> onOver) {
    for (Hold hold : ticket.holds()) {
      hold.markGranted();
    }
    String owner = ticket.command().owner();
    if (!owner.isEmpty()) {
      for (Hold hold : ticket.holds()) {
        List<Hold> owned =
            ticket
                .lease()
                .holds()
                .computeIfAbsent(new Lease.Owned(owner, hold.lock()), o -> new ArrayList<>(1));
        if (!owned.contains(hold)) {
          owned.add(hold);
        }
      }
    }
    Optional<Duration> longest = ticket.command().maxHold();
    if (longest.isPresent()) {
      bound(ticket, longest.get().toNanos(), onOver);
    }
  }

  private void bound(
      Ticket ticket, long longestNanos, BiConsumer<List<Ticket>, Notice.Lost> onOver) {
    long slack = Math.min(MOST_SLACK_NANOS, Math.max(LEAST_SLACK_NANOS, longestNanos / 10));
    Notice.Lost ending = new Notice.Lost(Notice.LossReason.MAX_HOLD, "held for max_hold");
    // Where another coordinator may have granted it later, its own clock counts.
    long from =
        ticket.lease().mayBeVouchedElsewhere(world.now) && ticket.revival().isPresent()
            ? ticket.lease().vouchedUntilNanos()
            : world.now;
    ticket
        .timers()
        .holdsUntil(
            world.timers.at(
                from + longestNanos + slack, () -> onOver.accept(nestedIn(ticket), ending)),
            world.now + longestNanos);
  }

  /** Returns the acquisition, and those that came to share one of its holds after it. */
  private static List<Ticket> nestedIn(Ticket ticket) {
    return Stream.concat(
            Stream.of(ticket),
            ticket.holds().stream()
                .flatMap(hold -> hold.users().stream().dropWhile(user -> user != ticket)))
        .distinct()
        .toList();
  }

  /** Returns how long the acquisition, or one that it is nested in, may be held yet. */
  long leftNanos(Ticket ticket) {
    long left = Long.MAX_VALUE;
    for (Hold hold : ticket.holds()) {
      for (Ticket user : hold.users()) {
        left = Math.min(left, user.timers().holdLeftNanos(world.now));
        if (user == ticket) {
          break;
        }
      }
    }
    return left;
  }

  /** The acquisition has given up its share of its holds. */
  void left(Ticket ticket) {
    for (Hold hold : ticket.holds()) {
      if (hold.users().isEmpty()) {
        forget(ticket, hold);
      } else {
        passOn(ticket, hold);
      }
    }
  }

  private static void forget(Ticket ticket, Hold hold) {
    if (ticket.lease().holds().isEmpty()) {
      return;
    }
    Lease.Owned key = new Lease.Owned(ticket.command().owner(), hold.lock());
    List<Hold> owned = ticket.lease().holds().getOrDefault(key, List.of());
    if (owned.size() > 1) {
      owned.remove(hold);
    } else if (owned.contains(hold)) {
      ticket.lease().holds().remove(key);
    }
  }

  /** The entry is another's from now on. */
  private void passOn(Ticket from, Hold hold) {
    Ticket heir =
        hold.users().stream()
            .filter(user -> user.acquisition().isHeld())
            .findFirst()
            .orElseGet(() -> hold.users().iterator().next());
    // What the entry takes of its session goes with it.
    int bytes = world.pathSizes.entryBytes(hold.lock(), hold.name().mode());
    if (hold.paidBy(from)) {
      from.addPathBytes(-bytes);
      heir.addPathBytes(bytes);
      hold.payer(heir);
    }
    world
        .mirror
        .find(hold.lock(), hold.name().text())
        .filter(entry -> entry.ticket().filter(bound -> bound == from).isPresent())
        .ifPresent(entry -> entry.bind(hold.lock(), heir));
    rename(hold);
  }

  /** Whoever adopts the entry must find it by the name of somebody who still holds it. */
  private void rename(Hold hold) {
    Comparator<Ticket> holdersFirst =
        Comparator.comparing(user -> user.acquisition().isHeld() ? 0 : 1);
    hold.users().stream()
        .filter(user -> user.acquisition().isHeld() || user.acquisition().isWaiting())
        .filter(user -> !user.lease().isEnding())
        .min(holdersFirst)
        .ifPresent(
            user ->
                amendments.send(
                    List.of(new Readings.Key(hold.lock(), hold.name().text())),
                    hold.describedBy(user.details()),
                    outcome -> renamed(hold, outcome)));
  }

  private void renamed(Hold hold, Amendment.Outcome outcome) {
    if (outcome == Amendment.Outcome.FAILED) {
      world.timers.at(world.now + AGAIN_NANOS, () -> rename(hold));
    }
  }
}
