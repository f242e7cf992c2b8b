package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Has the entries of acquisitions that have ended deleted, as soon as that may be. It waits
 *
 * <ul>
 *   <li>for the answer to their creation, and to that of what is to be placed beside them: the
 *       store promises no order between a creation and a deletion;
 *   <li>on a session whose bound was lost, until its holders have heard so;
 *   <li>in a coordinator that leaves, until a client without a lease has heard so;
 *   <li>after a takeover, until nobody else can vouch for them, unless their client has given them
 *       back or their lease has ended: one lock that was taken away is no reason to let others into
 *       those that nobody touched.
 * </ul>
 */
final class Deletions {

  private final World world;
  private final Sessions sessions;

  Deletions(World world, Sessions sessions) {
    this.world = world;
    this.sessions = sessions;
  }

  /** An acquisition has given up its holds: their entries are to go. */
  void begin(Ticket ticket) {
    boolean late = world.draining && ticket.lease().isStream() && ticket.wasGranted();
    ticket.deleteFrom(late ? world.now + world.settings.tick().toNanos() : world.now);
    proceed(ticket);
  }

  /** Something has changed for an acquisition: deletes its entries if they are to go and may. */
  void proceed(Ticket ticket) {
    if (!ticket.isToBeDeleted() || !ticket.isAnswered() || awaitsFollower(ticket)) {
      return;
    }
    long from = earliest(ticket);
    if (from - world.now > 0) {
      ticket.timers().deletesAt(world.timers, world.timers.at(from, () -> proceed(ticket)));
      return;
    }
    List<EntryRef> entries = new ArrayList<>(ticket.holds().size());
    for (Hold hold : ticket.holds()) {
      entries.add(hold.ref());
    }
    ticket.deleting(entries);
    world.emit(new Effect.DeleteEntries(ticket.lease().session(), ticket.id(), entries));
  }

  /** ZooKeeper has answered the creation of an acquisition's entries. */
  void onAnswered(Ticket ticket) {
    proceed(ticket);
    for (Hold hold : ticket.holds()) {
      hold.beside().ifPresent(base -> proceed(base.ticket()));
    }
  }

  private static boolean awaitsFollower(Ticket ticket) {
    for (Hold hold : ticket.holds()) {
      if (hold.awaitsFollower()) {
        return true;
      }
    }
    return false;
  }

  private long earliest(Ticket ticket) {
    long from = latest(ticket.deletableFromNanos(), emptiedFrom(ticket));
    boolean wanted = ticket.isGivenBack() || ticket.lease().isEnding();
    return wanted ? from : latest(from, ticket.awakeAtNanos(world.now));
  }

  private static long latest(long a, long b) {
    return a - b > 0 ? a : b;
  }

  private long emptiedFrom(Ticket ticket) {
    Optional<LockSession> session = sessions.find(ticket.lease().session());
    return session.isPresent() ? session.get().emptiedFromNanos(world.now) : world.now;
  }
}
