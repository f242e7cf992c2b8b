package io.lockkeeper.server.core;

import java.util.List;
import java.util.Optional;

/**
 * Keeps what was adopted untouched while its client may rely on the coordinator that served it
 * before. That one may live, cut off from ZooKeeper or not told yet: its client may have been
 * granted something that does not show, or be told so until the old session bound has passed, also
 * if it was here in between. So before that nothing is granted whose client has not come, and
 * nothing is ended by a clock.
 */
final class Dormancy {

  private final World world;
  private final Waits waits;
  private final Grants grants;
  private final Limits limits;

  Dormancy(World world, Waits waits, Grants grants, Limits limits) {
    this.world = world;
    this.waits = waits;
    this.grants = grants;
    this.limits = limits;
  }

  /** Returns an acquisition that its client asks for by name: it is here. */
  Optional<Ticket> find(Lease lease, String requestId) {
    Optional<Ticket> ticket = Optional.ofNullable(lease.tickets().get(requestId));
    if (ticket.isPresent()) {
      attend(ticket.get());
    }
    return ticket;
  }

  /** The client of a lease is here. */
  void attendAll(Lease lease) {
    List.copyOf(lease.tickets().values()).forEach(this::attend);
  }

  /** Lets an acquisition hold or wait, as the queues say. */
  void attend(Ticket ticket) {
    if (ticket.isDormant()) {
      ticket.revival().ifPresent(Revival::attend);
      begin(ticket);
    }
  }

  /** Nobody else can vouch for the acquisitions of a lease any more. */
  void wakeAll(Lease lease) {
    List.copyOf(lease.tickets().values()).forEach(this::wake);
  }

  /** The client of an acquisition has repeated its request. */
  void repeated(Ticket ticket, AcquireCommand asked) {
    ticket.revival().ifPresent(revival -> revival.repeat(asked, world.now));
    attend(ticket);
    if (!ticket.lease().mayBeVouchedElsewhere(world.now)) {
      wake(ticket);
    }
    onWaiting(ticket);
  }

  private void wake(Ticket ticket) {
    Optional<Revival> sleeping = ticket.revival().filter(revival -> !revival.isAwake());
    if (sleeping.isEmpty()) {
      return;
    }
    boolean first = sleeping.get().isDormant();
    sleeping.get().wake();
    if (first) {
      begin(ticket);
    }
    onWaiting(ticket);
    if (ticket.wasPlaced() && ticket.acquisition().isWaiting()) {
      world.follow(new FollowUp.Waiting(ticket));
    }
    for (Hold hold : ticket.holds()) {
      hold.entryIn(world.mirror).ifPresent(entry -> limits.onQueued(hold.lock(), entry));
    }
    if (ticket.hasOwnStream() && ticket.target().isEmpty()) {
      waits.linger(ticket);
    }
    if (!sleeping.get().isRepeated()) {
      waits.giveBackUnclaimed(ticket);
    }
  }

  /** An acquisition waits: its clocks run from now on, if they may. */
  void onWaiting(Ticket ticket) {
    ticket
        .revival()
        .filter(revival -> ticket.acquisition().isWaiting() && ticket.mayEnd())
        .filter(Revival::startsClocks)
        .ifPresent(
            revival ->
                waits.limit(
                    ticket,
                    revival.waitTimeout().or(() -> ticket.command().waitTimeout()),
                    revival.waitsFromNanos()));
  }

  private void begin(Ticket ticket) {
    grants.settle(ticket);
    if (ticket.acquisition().isHeld()) {
      // As far as anybody knows its client was told so before.
      ticket.markHeard();
    }
    ticket.holds().forEach(this::readAgain);
  }

  /** A wish to give way may have been written into the entry when nobody was told. */
  private void readAgain(Hold hold) {
    hold.entryIn(world.mirror)
        .filter(entry -> hold.isGranted() && !entry.markChanged())
        .ifPresent(entry -> world.emit(new Effect.ReadDetails(hold.lock(), hold.name().text())));
  }
}
