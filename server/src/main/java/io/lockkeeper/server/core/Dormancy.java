package io.lockkeeper.server.core;

import java.util.List;
import java.util.Optional;

/**
 * Keeps what was adopted untouched until its client is here, or can rely on the coordinator that
 * served it before no longer. That one may live, cut off from ZooKeeper or not told yet: its client
 * may have been granted something that does not show, or be told so until the old session bound has
 * passed. So nothing is granted, timed out or deleted here before that.
 */
final class Dormancy {

  private final World world;
  private final Waits waits;
  private final Grants grants;

  Dormancy(World world, Waits waits, Grants grants) {
    this.world = world;
    this.waits = waits;
    this.grants = grants;
  }

  /** Returns an acquisition that its client asks for by name: it is here, so it wakes. */
  Optional<Ticket> find(Lease lease, String requestId) {
    Optional<Ticket> ticket = Optional.ofNullable(lease.tickets().get(requestId));
    ticket.ifPresent(this::wake);
    return ticket;
  }

  /** The client of a lease is here with all that it has. */
  void wakeAll(Lease lease) {
    List.copyOf(lease.tickets().values()).forEach(this::wake);
  }

  /** Lets an acquisition go on: its clocks run, and it holds or waits as the queues say. */
  void wake(Ticket ticket) {
    if (!ticket.isDormant()) {
      return;
    }
    Revival revival = ticket.revival().orElseThrow();
    revival.wake();
    waits.arm(ticket, revival.waitedNanos());
    grants.settle(ticket);
    if (ticket.acquisition().isHeld()) {
      // As far as anybody knows its client was told so before.
      ticket.markHeard();
    } else if (ticket.hasOwnStream() && world.mirror.isCurrent()) {
      waits.linger(ticket);
    }
    ticket.holds().forEach(this::readAgain);
  }

  /** A wish to give way may have been written into the entry when nobody was told. */
  private void readAgain(Hold hold) {
    world
        .mirror
        .find(hold.lock(), hold.name().text())
        .filter(entry -> hold.wasGranted() && !entry.markChanged())
        .ifPresent(entry -> world.emit(new Effect.ReadDetails(hold.lock(), hold.name().text())));
  }
}
