package io.lockkeeper.server.core;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Forgets what another coordinator serves from now on. Nothing of it has ended, so nobody is told
 * an ending: clients come back elsewhere, and find what they had.
 */
final class Handovers {

  private static final String MOVED = "another coordinator serves the lease now";

  private final World world;
  private final Sessions sessions;
  private final LeaseEndings endings;
  private final Map<LeaseId, List<Ticket>> grantedAhead = new HashMap<>();

  Handovers(World world, Sessions sessions, LeaseEndings endings) {
    this.world = world;
    this.sessions = sessions;
    this.endings = endings;
  }

  /**
   * Forgets a lease whose session is another coordinator's now. What was granted here ahead of its
   * creation no entry tells: should the session come back, its client may still rely on it.
   */
  void forget(Lease lease) {
    if (lease.isStream()) {
      // Nobody can serve it elsewhere: its stream is here, or it is what is left of one.
      endings.loseSession(lease);
      return;
    }
    List<Ticket> ahead =
        lease.tickets().values().stream()
            .filter(ticket -> ticket.isReliedOn() && !ticket.isAnswered())
            .toList();
    if (!ahead.isEmpty()) {
      grantedAhead.put(lease.id(), ahead);
      world.timers.at(lease.deadlineNanos(), () -> grantedAhead.remove(lease.id(), ahead));
    }
    lease.expiryTimer().ifPresent(world.timers::cancel);
    lease.takeOpener().ifPresent(this::failMoved);
    lease.closers().forEach(this::failMoved);
    sendAway(lease, MOVED);
    List.copyOf(lease.tickets().values()).forEach(this::forget);
    lease.tickets().clear();
    lease.holds().clear();
    world.leases.remove(lease.id(), lease);
    world.endedLeases.remove(lease.id());
    world.leasesByTag.remove(lease.id().high(), lease);
    sessions
        .find(lease.session())
        .ifPresent(
            session -> {
              session.addPathBytes(-lease.pathBytes() - world.pathSizes.leaseBytes());
              session.leases().remove(lease.id());
              sessions.closeEmpty(session);
            });
  }

  /** Returns what was granted to a lease here ahead of its creation, and forgets it. */
  List<Ticket> takeGrantedAhead(LeaseId lease) {
    return Optional.ofNullable(grantedAhead.remove(lease)).orElse(List.of());
  }

  /**
   * The lease's session has been without contact for long: a peer that has contact may have adopted
   * it, and its client may find it there, or come back. Where no peer has, it is served best here.
   */
  void onForsaken(Lease lease) {
    if (world.servingPeers > 0) {
      sendAway(
          lease, "the coordinator has lost contact with ZooKeeper: another may serve the lease");
    }
  }

  /** Ends the stream of a lease; the lease lives on. */
  private void sendAway(Lease lease, String reason) {
    lease.stream()
        .ifPresent(
            stream -> {
              world.streams.remove(stream);
              world.emit(new Effect.SendAway(stream, reason));
            });
    lease.attach(Optional.empty());
  }

  private void forget(Ticket ticket) {
    ticket.become(Acquisition.ended());
    ticket.timers().stopAll(world.timers);
    ticket.releaseCalls().forEach(this::failMoved);
    ticket.stream()
        .ifPresent(
            stream -> {
              world.streams.remove(stream);
              Failure moved = new Failure(Failure.Kind.MOVED, MOVED + ": repeat the request");
              world.emit(new Effect.Refuse(stream, ticket.command().requestId(), moved));
            });
    world.tickets.remove(ticket.id());
    ticket.holds().forEach(hold -> hold.entryIn(world.mirror).ifPresent(Entry::unbind));
  }

  private void failMoved(CallId call) {
    world.fail(call, Failure.Kind.MOVED, MOVED);
  }
}
