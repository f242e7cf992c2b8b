package io.lockkeeper.server.core;

import java.util.Optional;

/**
 * Takes clients' wishes about acquisitions that there are: release, where do I stand, my stream is
 * gone.
 */
final class Releases {

  private final World world;
  private final Views views;
  private final Acquisitions acquisitions;
  private final Leases leases;
  private final LeaseEndings endings;
  private final Waits waits;
  private final Sessions sessions;
  private final Dormancy dormancy;

  Releases(
      World world,
      Views views,
      Acquisitions acquisitions,
      Leases leases,
      LeaseEndings endings,
      Waits waits,
      Dormancy dormancy,
      Sessions sessions) {
    this.sessions = sessions;
    this.waits = waits;
    this.dormancy = dormancy;
    this.world = world;
    this.views = views;
    this.acquisitions = acquisitions;
    this.leases = leases;
    this.endings = endings;
  }

  void release(ClientEvent.Release event) {
    Optional<Lease> lease = leases.find(event.lease());
    if (lease.isEmpty() || lease.get().isEnding()) {
      world.fail(event.call(), Failure.Kind.UNKNOWN_LEASE, leases.unknown(event.lease()));
      return;
    }
    Optional<Ticket> ticket = dormancy.find(lease.get(), event.requestId());
    if (ticket.isEmpty()) {
      releaseAgain(event, lease.get());
    } else if (event.token() != 0 && !hasToken(ticket.get(), event.token())) {
      world.fail(
          event.call(),
          Failure.Kind.WRONG_TOKEN,
          "fencing token " + event.token() + " is not that of this acquisition");
    } else {
      acquisitions.release(ticket.get(), event.call());
    }
  }

  private static boolean hasToken(Ticket ticket, long token) {
    return ticket.holds().stream()
        .anyMatch(hold -> hold.hasToken() && hold.token().value() == token);
  }

  private void releaseAgain(ClientEvent.Release event, Lease lease) {
    if (lease.ending(event.requestId()).isPresent()) {
      world.reply(event.call(), new Answer.ReleaseDone(Answer.ReleaseOutcome.ALREADY_RELEASED, 0));
      return;
    }
    Optional<LockSession> session = sessions.find(lease.session());
    if (session.isEmpty()) {
      world.fail(event.call(), Failure.Kind.UNAVAILABLE, World.NO_CONTACT);
      return;
    }
    // Another coordinator may have adopted the lease, and know what this one does not.
    sessions.ask(
        session.get(),
        () -> answerUnknown(event, lease),
        () -> world.fail(event.call(), Failure.Kind.MOVED, World.NO_CONTACT));
  }

  private void answerUnknown(ClientEvent.Release event, Lease lease) {
    if (lease.isAdopted()) {
      // The coordinator that served the lease before may have released it.
      world.reply(event.call(), new Answer.ReleaseDone(Answer.ReleaseOutcome.ALREADY_RELEASED, 0));
    } else {
      world.fail(event.call(), Failure.Kind.UNKNOWN_ACQUISITION, unknown(event.requestId()));
    }
  }

  static String unknown(String requestId) {
    return "no acquisition with the request_id '" + requestId + "' was made under this lease";
  }

  void queryPosition(ClientEvent.QueryPosition event) {
    Optional<Lease> lease = leases.findOpen(event.lease());
    if (lease.isEmpty()) {
      world.fail(event.call(), Failure.Kind.UNKNOWN_LEASE, leases.unknown(event.lease()));
      return;
    }
    Optional<Ticket> ticket = dormancy.find(lease.get(), event.requestId());
    if (ticket.isEmpty()) {
      world.fail(event.call(), Failure.Kind.UNKNOWN_ACQUISITION, unknown(event.requestId()));
    } else if (!ticket.get().acquisition().isWaiting()) {
      world.fail(event.call(), Failure.Kind.NOT_WAITING, "the acquisition does not wait");
    } else {
      world.reply(
          event.call(), new Answer.PositionTold(new Notice.Position(views.places(ticket.get()))));
    }
  }

  /**
   * A stream is gone. What was the stream's ends; what is a lease's waits for the same request to
   * come again.
   */
  void streamClosed(ClientEvent.StreamClosed event) {
    Optional<World.Subscriber> subscriber =
        Optional.ofNullable(world.streams.remove(event.stream()));
    if (subscriber.isEmpty()) {
      return;
    }
    if (subscriber.get() instanceof World.Subscriber.ForLease forLease) {
      forLease.lease().attach(Optional.empty());
    } else if (subscriber.get() instanceof World.Subscriber.ForTicket forTicket) {
      Ticket ticket = forTicket.ticket();
      ticket.subscribe(Optional.empty());
      if (ticket.lease().isStream()) {
        endings.end(ticket.lease(), LeaseEnd.CLOSED);
      } else {
        waits.linger(ticket);
      }
    }
  }
}
