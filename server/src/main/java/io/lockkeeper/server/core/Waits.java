package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.Optional;

/** The clocks of acquisitions that wait, and of those whose stream has gone. */
final class Waits {

  /** How long a request that may not wait lasts at most, when ZooKeeper does not answer. */
  private static final long TRY_BOUND_NANOS = 5_000_000_000L;

  /** How old a place may be that is told unasked. */
  private static final long PLACES_NANOS = 100_000_000L;

  private final World world;
  private final Views views;
  private final Acquisitions acquisitions;

  Waits(World world, Views views, Acquisitions acquisitions) {
    this.world = world;
    this.views = views;
    this.acquisitions = acquisitions;
  }

  /** Starts the clocks of an acquisition that is asked for now. */
  void arm(Ticket ticket) {
    limit(ticket, ticket.command().waitTimeout(), world.now);
    armPosition(ticket);
  }

  /** Has an acquisition wait so long at most, counted from a time that may be some while ago. */
  void limit(Ticket ticket, Optional<Duration> waitTimeout, long fromNanos) {
    waitTimeout
        .map(timeout -> timeout.isZero() ? TRY_BOUND_NANOS : timeout.toNanos())
        .ifPresent(
            nanos ->
                ticket
                    .timers()
                    .waitsUntil(
                        world.timers,
                        world.timers.at(
                            fromNanos + nanos,
                            () ->
                                acquisitions.expireWait(
                                    ticket,
                                    Notice.RefusalReason.TIMED_OUT,
                                    "not granted within the wait timeout"))));
  }

  private void armPosition(Ticket ticket) {
    ticket
        .command()
        .positionInterval()
        .ifPresent(
            interval ->
                ticket
                    .timers()
                    .positionAt(
                        world.timers.at(
                            world.now + interval.toNanos(), () -> positionDue(ticket))));
  }

  private void positionDue(Ticket ticket) {
    if (!ticket.acquisition().isWaiting()) {
      return;
    }
    if (ticket.wasPlaced() && world.mirror.isCurrent()) {
      Notice.Position position = new Notice.Position(views.recentPlaces(ticket, PLACES_NANOS));
      int ahead = Notice.Place.most(position.places());
      if (ticket.moved(ahead)) {
        acquisitions.tell(ticket, position);
      }
    }
    armPosition(ticket);
  }

  /** Gives an acquisition without its stream a while in which the same request may come again. */
  void linger(Ticket ticket) {
    ticket
        .timers()
        .lingersUntil(
            world.timers,
            world.timers.at(
                world.now + world.settings.linger().toNanos(), () -> lingerDue(ticket)));
  }

  /** What was granted ahead, and nobody has come for, has been given back elsewhere. */
  void giveBackUnclaimed(Ticket ticket) {
    if (isGrantedBy(Hold.Proof.AHEAD, ticket)
        && ticket.target().isEmpty()
        && ticket.acquisition().isLive()) {
      acquisitions.giveBack(ticket);
    }
  }

  private static boolean isGrantedBy(Hold.Proof proof, Ticket ticket) {
    return ticket.holds().stream().anyMatch(hold -> hold.isGrantedBy(proof));
  }

  private void lingerDue(Ticket ticket) {
    // Who names its token was granted it elsewhere, and knows.
    boolean known = ticket.heard() || isGrantedBy(Hold.Proof.CLIENT, ticket);
    boolean unheardGrant = ticket.acquisition().isHeld() && !known;
    if (ticket.target().isEmpty() && (ticket.acquisition().isWaiting() || unheardGrant)) {
      acquisitions.abandon(ticket);
    }
  }
}
