package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Attaches streams to leases, and tells them how things stand. */
final class Resumes {

  private final World world;
  private final Sessions sessions;
  private final Acquisitions acquisitions;
  private final Leases leases;
  private final Dormancy dormancy;

  Resumes(
      World world, Sessions sessions, Acquisitions acquisitions, Leases leases, Dormancy dormancy) {
    this.world = world;
    this.sessions = sessions;
    this.acquisitions = acquisitions;
    this.leases = leases;
    this.dormancy = dormancy;
  }

  void attach(ClientEvent.AttachLease event) {
    Optional<Lease> found = leases.findOpen(event.lease());
    if (found.isEmpty()) {
      world.fail(event.call(), Failure.Kind.UNKNOWN_LEASE, leases.unknown(event.lease()));
      return;
    }
    Lease lease = found.get();
    if (!lease.hasSecret(event.secretHash())) {
      world.fail(event.call(), Failure.Kind.WRONG_SECRET, "the secret is not the lease's");
      return;
    }
    lease.stream()
        .ifPresent(
            old -> {
              world.streams.remove(old);
              world.emit(new Effect.Supersede(old));
            });
    lease.tickets().values().forEach(ticket -> ticket.cameBack(world.now));
    dormancy.attendAll(lease);
    lease.attach(Optional.of(event.stream()));
    world.streams.put(event.stream(), new World.Subscriber.ForLease(lease));
    lease.renew(world.now);
    world.reply(
        event.call(),
        new Answer.LeaseAttached(lease.id(), lease.ttlNanos(), acquisitions.validForNanos(lease)));
    retell(lease, event.stream());
  }

  private void retell(Lease lease, StreamId stream) {
    for (Lease.Ended ended : lease.takeEndingsToTell()) {
      String requestId = ended.command().requestId();
      if (!lease.tickets().containsKey(requestId)) {
        world.emit(new Effect.Tell(stream, requestId, ended.sequence(), ended.notice()));
      }
    }
    List<Ticket> told = new ArrayList<>(lease.tickets().values());
    told.removeIf(ticket -> ticket.stream().isPresent());
    List<Ticket> ended =
        told.stream()
            .filter(ticket -> ticket.lastNotice().filter(Notice::isFinal).isPresent())
            .toList();
    told.removeAll(ended);
    told.forEach(acquisitions::replay);
    if (!ended.isEmpty()) {
      retellEnded(lease, stream, ended);
    }
  }

  /**
   * The deletions of these are not certain yet: if the session is another's by now, they may be
   * held there.
   */
  private void retellEnded(Lease lease, StreamId stream, List<Ticket> ended) {
    Runnable replay =
        () ->
            lease.stream()
                .filter(stream::equals)
                .ifPresent(still -> ended.forEach(acquisitions::replay));
    sessions.find(lease.session()).ifPresent(session -> sessions.ask(session, replay, () -> {}));
  }
}
