package io.lockkeeper.server.core;

import java.util.Optional;

/** Takes clients' requests about acquisitions. */
final class Requests {

  /** How long a request that may not wait lasts at most, when ZooKeeper does not answer. */
  private static final long TRY_BOUND_NANOS = 5_000_000_000L;

  /** How old a place may be that is told unasked. */
  private static final long PLACES_NANOS = 100_000_000L;

  private final World world;
  private final Sessions sessions;
  private final Views views;
  private final Acquisitions acquisitions;
  private final Leases leases;

  Requests(World world, Sessions sessions, Views views, Acquisitions acquisitions, Leases leases) {
    this.world = world;
    this.sessions = sessions;
    this.views = views;
    this.acquisitions = acquisitions;
    this.leases = leases;
  }

  void acquire(ClientEvent.Acquire event) {
    if (event.command().lease().isEmpty()) {
      acquireForStream(event);
      return;
    }
    Optional<Lease> lease = leases.findOpen(event.lease());
    if (lease.isEmpty()) {
      refuse(event, Failure.Kind.UNKNOWN_LEASE, leases.unknown(event.lease()));
      return;
    }
    String requestId = event.command().requestId();
    Optional<Ticket> known = Optional.ofNullable(lease.get().tickets().get(requestId));
    Optional<Lease.Ended> ended = Optional.ofNullable(lease.get().endings().get(requestId));
    if (known.isPresent() && !isOver(known.get())) {
      again(event, known.get());
    } else if (ended.isPresent()) {
      again(event, ended.get());
    } else {
      sessions
          .find(lease.get().session())
          .flatMap(session -> refusal(event, session))
          .ifPresentOrElse(
              failure -> world.emit(new Effect.Refuse(event.stream(), requestId, failure)),
              () -> enqueue(event, lease.get()));
    }
  }

  private static boolean isOver(Ticket ticket) {
    return ticket.lastNotice().filter(Notice::isFinal).isPresent();
  }

  private void acquireForStream(ClientEvent.Acquire event) {
    Optional<Failure> refusal = leases.refusal();
    if (refusal.isPresent()) {
      refuse(event, refusal.get().kind(), refusal.get().message());
      return;
    }
    Optional<LockSession> session = sessions.forNewLease();
    if (session.isEmpty()) {
      refuse(event, Failure.Kind.TOO_MANY, leases.tooManySessions());
      return;
    }
    Optional<Failure> refused = refusalByQueue(event);
    if (refused.isPresent()) {
      refuse(event, refused.get().kind(), refused.get().message());
      return;
    }
    enqueue(event, leases.openForStream(event.lease(), session.get(), event.command().holder()));
  }

  private Optional<Failure> refusal(ClientEvent.Acquire event, LockSession session) {
    if (!session.isSure()) {
      return Optional.of(
          new Failure(Failure.Kind.UNAVAILABLE, "the coordinator has no contact with ZooKeeper"));
    }
    long bytes = session.pathBytes() + acquisitions.pathBytes(event.command());
    if (bytes > world.settings.maxSessionPathBytes()) {
      return Optional.of(
          new Failure(
              Failure.Kind.LEASE_FULL,
              "the lease's ZooKeeper session owns its limit of "
                  + world.settings.maxSessionPathBytes()
                  + " bytes of paths; use another lease"));
    }
    return refusalByQueue(event);
  }

  private Optional<Failure> refusalByQueue(ClientEvent.Acquire event) {
    for (AcquireCommand.WantedLock wanted : event.command().locks()) {
      Optional<LockQueue> queue = world.mirror.queue(wanted.name()).filter(q -> !q.isEmpty());
      if (queue.isEmpty()) {
        continue;
      }
      Mode.Family family = queue.get().entries().iterator().next().mode().family();
      if (family != wanted.mode().family()) {
        return Optional.of(
            new Failure(
                Failure.Kind.WRONG_KIND,
                "lock '" + wanted.name() + "' is in use as another kind: " + family));
      }
      if (queue.get().size() >= world.settings.maxWaiters()) {
        return Optional.of(
            new Failure(
                Failure.Kind.QUEUE_FULL,
                "the queue of lock '"
                    + wanted.name()
                    + "' has its limit of "
                    + world.settings.maxWaiters()
                    + " entries"));
      }
    }
    return Optional.empty();
  }

  private void enqueue(ClientEvent.Acquire event, Lease lease) {
    Ticket ticket = new Ticket(event.id(), lease, event.command());
    world.tickets.put(ticket.id(), ticket);
    lease.tickets().put(event.command().requestId(), ticket);
    sessions
        .find(lease.session())
        .ifPresent(session -> session.addPathBytes(acquisitions.pathBytes(event.command())));
    subscribe(event, ticket);
    armWait(ticket);
    armPosition(ticket);
    world.emit(
        new Effect.CreateEntries(
            lease.session(), ticket.id(), event.command().locks(), ticket.details()));
  }

  private void subscribe(ClientEvent.Acquire event, Ticket ticket) {
    if (event.session()) {
      ticket.subscribe(Optional.empty());
    } else {
      ticket.subscribe(Optional.of(event.stream()));
      world.streams.put(event.stream(), new World.Subscriber.ForTicket(ticket));
    }
  }

  private void armWait(Ticket ticket) {
    ticket
        .command()
        .waitTimeout()
        .map(timeout -> timeout.isZero() ? TRY_BOUND_NANOS : timeout.toNanos())
        .ifPresent(
            nanos ->
                ticket.waitTimer(
                    Optional.of(
                        world.timers.at(
                            world.now + nanos,
                            () ->
                                acquisitions.expireWait(
                                    ticket,
                                    Notice.RefusalReason.TIMED_OUT,
                                    "not granted within the wait timeout")))));
  }

  private void armPosition(Ticket ticket) {
    ticket
        .command()
        .positionInterval()
        .ifPresent(
            interval ->
                ticket.positionTimer(
                    Optional.of(
                        world.timers.at(
                            world.now + interval.toNanos(), () -> positionDue(ticket)))));
  }

  private void positionDue(Ticket ticket) {
    if (!ticket.acquisition().isWaiting()) {
      return;
    }
    if (ticket.wasPlaced() && world.mirror.isCurrent()) {
      Notice.Position position = new Notice.Position(views.recentPlaces(ticket, PLACES_NANOS));
      int ahead = position.places().stream().mapToInt(Notice.Place::ahead).max().orElse(0);
      if (ticket.moved(ahead)) {
        acquisitions.tell(ticket, position);
      }
    }
    armPosition(ticket);
  }

  /** The same request came again: it finds its place or its grant. */
  private void again(ClientEvent.Acquire event, Ticket ticket) {
    if (!ticket.command().asksTheSameAs(event.command())) {
      refuse(event, Failure.Kind.REQUEST_ID_IN_USE, inUse(event));
      return;
    }
    ticket.stream()
        .filter(old -> !old.equals(event.stream()))
        .ifPresent(
            old -> {
              world.streams.remove(old);
              world.emit(new Effect.Supersede(old));
            });
    subscribe(event, ticket);
    acquisitions.replay(ticket);
  }

  private void again(ClientEvent.Acquire event, Lease.Ended ended) {
    if (ended.command().asksTheSameAs(event.command())) {
      world.emit(
          new Effect.Tell(
              event.stream(), event.command().requestId(), ended.sequence(), ended.notice()));
    } else {
      refuse(event, Failure.Kind.REQUEST_ID_IN_USE, inUse(event));
    }
  }

  private static String inUse(ClientEvent.Acquire event) {
    return "request_id '"
        + event.command().requestId()
        + "' names another request of this lease, for other locks";
  }

  private void refuse(ClientEvent.Acquire event, Failure.Kind kind, String message) {
    world.emit(
        new Effect.Refuse(event.stream(), event.command().requestId(), new Failure(kind, message)));
  }
}
