package io.lockkeeper.server.core;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Takes clients' requests about acquisitions. */
final class Requests {

  private final World world;
  private final Sessions sessions;
  private final Acquisitions acquisitions;
  private final Leases leases;
  private final Plans plans;
  private final Grants grants;
  private final Waits waits;
  private final Dormancy dormancy;

  Requests(
      World world,
      Sessions sessions,
      Acquisitions acquisitions,
      Leases leases,
      Plans plans,
      Grants grants,
      Waits waits,
      Dormancy dormancy) {
    this.waits = waits;
    this.dormancy = dormancy;
    this.plans = plans;
    this.grants = grants;
    this.world = world;
    this.sessions = sessions;
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
    Optional<Lease.Ended> ended = lease.get().ending(requestId);
    if (known.isPresent() && !isOver(known.get())) {
      again(event, known.get());
    } else if (ended.isPresent()) {
      again(event, lease.get(), ended.get(), known.isEmpty());
    } else if (event.command().heldTokens().isEmpty()) {
      plan(event, lease.get());
    } else {
      goOn(event, lease.get());
    }
  }

  /** A client that holds comes back, and its acquisition is not known: it is never queued anew. */
  private void goOn(ClientEvent.Acquire event, Lease lease) {
    Optional<List<Part>> parts = Plans.resumed(lease, event.command());
    Optional<LockSession> session = sessions.find(lease.session());
    if (parts.isPresent() && session.isPresent()) {
      if (enqueue(event, lease, session.get(), parts.get())) {
        parts.get().forEach(this::replaceNameless);
      }
    } else {
      ifOurs(event, lease, () -> end(event, Optional.of(lease), Repeats.gone()));
    }
  }

  /** What says nothing of whose it is gives way to the request that it was for. */
  private void replaceNameless(Part part) {
    part.beside().map(Hold::ticket).filter(Ticket::isNameless).ifPresent(acquisitions::giveBack);
  }

  /** Where another coordinator has the session, it is there: the client is sent after it. */
  private void ifOurs(ClientEvent.Acquire event, Lease lease, Runnable answer) {
    sessions.find(lease.session()).ifPresent(own -> sessions.ask(own, answer, () -> move(event)));
  }

  private void plan(ClientEvent.Acquire event, Lease lease) {
    Optional<LockSession> session = sessions.find(lease.session());
    if (session.isEmpty() || !session.get().isInContact()) {
      refuse(event, Failure.Kind.UNAVAILABLE, World.NO_CONTACT);
      return;
    }
    carryOut(event, Optional.of(lease), session.get());
  }

  /**
   * Does what planning says; without a lease, the stream becomes one if there is a place to queue.
   */
  private void carryOut(ClientEvent.Acquire event, Optional<Lease> known, LockSession session) {
    Plans.Plan plan = plans.plan(event.command(), known);
    if (plan instanceof Plans.Plan.Ended ended) {
      end(event, known, ended.ending());
    } else if (plan instanceof Plans.Plan.Refused refused) {
      refuse(event, refused.failure().kind(), refused.failure().message());
    } else if (plan instanceof Plans.Plan.Parts parts) {
      Lease lease =
          known.orElseGet(
              () -> leases.openForStream(event.lease(), session, event.command().holder()));
      enqueue(event, lease, session, parts.parts());
    }
  }

  /** Tells the client at once that it will not be granted what it asks for. */
  private void end(ClientEvent.Acquire event, Optional<Lease> lease, Notice ending) {
    String requestId = event.command().requestId();
    world.emit(new Effect.Count(ending));
    world.emit(new Effect.Tell(event.stream(), requestId, 1, ending));
    lease.ifPresent(l -> l.remember(Lease.Ended.of(event.command(), ending)));
  }

  private static boolean isOver(Ticket ticket) {
    return ticket.lastNotice().isPresent() && ticket.lastNotice().get().isFinal();
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
    carryOut(event, Optional.empty(), session.get());
  }

  /** Returns whether there was room for it. */
  private boolean enqueue(
      ClientEvent.Acquire event, Lease lease, LockSession session, List<Part> parts) {
    boolean held = !lease.isStream() && !event.command().heldTokens().isEmpty();
    Optional<Revival> revival =
        held && lease.isAdopted()
            ? Optional.of(Revival.ofRepeated(event.command(), world.now, lease.awakeAtNanos()))
            : Optional.empty();
    Ticket ticket = Ticket.of(event.id(), lease, event.command(), parts, revival);
    long bytes = world.pathSizes.bytesOf(ticket.planned());
    // What its client holds had room where it was granted.
    if (!lease.isStream()
        && !held
        && !session.hasRoomFor(lease, bytes, world.settings.maxSessionPathBytes())) {
      refuse(
          event,
          Failure.Kind.LEASE_FULL,
          "the lease's entries take its share of the "
              + world.settings.maxSessionPathBytes()
              + " bytes of paths that a ZooKeeper session may own; use another lease");
      return false;
    }
    take(ticket, session, bytes, held ? Optional.of(Hold.Proof.CLIENT) : Optional.empty());
    subscribe(event, ticket);
    if (held) {
      dormancy.repeated(ticket, event.command());
    } else {
      waits.arm(ticket);
    }
    acquisitions.create(ticket);
    grants.settle(ticket);
    return true;
  }

  private void take(Ticket ticket, LockSession session, long bytes, Optional<Hold.Proof> proof) {
    world.tickets.put(ticket.id(), ticket);
    ticket.lease().tickets().put(ticket.command().requestId(), ticket);
    session.addPathBytes(ticket, bytes);
    for (Hold hold : ticket.holds()) {
      hold.awaitMirror();
      proof.ifPresent(hold::grant);
    }
  }

  /**
   * The session was another coordinator's for a while, and a level was granted here ahead of its
   * creation before, which never took place. Its client may not know any of that, and give back
   * what the level was to be beside: so it is created now, for whoever may rely on it.
   */
  void createAgain(Ticket before, Lease lease, LockSession session) {
    List<Long> tokens = before.holds().stream().map(hold -> hold.token().value()).toList();
    AcquireCommand command = before.command().holding(tokens);
    if (lease.tickets().containsKey(command.requestId())) {
      return;
    }
    Plans.resumed(lease, command)
        .ifPresent(
            parts -> {
              UUID next =
                  new UUID(
                      before.id().getMostSignificantBits(),
                      before.id().getLeastSignificantBits() + 1);
              Revival revival = new Revival(parts.size(), world.now, lease.awakeAtNanos());
              Ticket ticket = Ticket.of(next, lease, command, parts, Optional.of(revival));
              long bytes = world.pathSizes.bytesOf(ticket.planned());
              take(ticket, session, bytes, Optional.of(Hold.Proof.AHEAD));
              acquisitions.create(ticket);
            });
  }

  private void subscribe(ClientEvent.Acquire event, Ticket ticket) {
    if (event.session()) {
      ticket.subscribe(Optional.empty());
    } else {
      ticket.subscribe(Optional.of(event.stream()));
      world.streams.put(event.stream(), new World.Subscriber.ForTicket(ticket));
    }
  }

  /** The same request came again: it finds its place or its grant. */
  private void again(ClientEvent.Acquire event, Ticket ticket) {
    if (!Repeats.isSame(ticket, event.command())) {
      refuse(event, Failure.Kind.REQUEST_ID_IN_USE, inUse(event));
      return;
    }
    long told = ticket.noticeSequence();
    ticket.stream()
        .filter(old -> !old.equals(event.stream()))
        .ifPresent(
            old -> {
              world.streams.remove(old);
              world.emit(new Effect.Supersede(old));
            });
    subscribe(event, ticket);
    ticket.cameBack(world.now);
    boolean knows = Repeats.knows(event.command(), ticket.holds());
    if (knows) {
      confirm(ticket);
    }
    dormancy.repeated(ticket, event.command());
    grants.settle(ticket);
    if (knows) {
      acquisitions.boundAgain(ticket);
    }
    if (told == ticket.noticeSequence()) {
      acquisitions.replay(ticket);
    }
  }

  /** The client names its tokens: whoever granted them, it holds. */
  private void confirm(Ticket ticket) {
    if (ticket.acquisition().isWaiting()) {
      // Somebody else has granted it: no clock of ours may say otherwise before we know who.
      if (ticket.revival().isPresent()) {
        ticket.holds().forEach(hold -> hold.grant(Hold.Proof.CLIENT));
      }
      ticket.timers().stopWaiting(world.timers);
      sessions
          .find(ticket.lease().session())
          .ifPresent(session -> sessions.ask(session, () -> {}, () -> {}));
    }
  }

  /**
   * Tells an ending again.
   *
   * @param certain whether nothing of it is left: otherwise another coordinator may have the
   *     session by now, and what is left of it be held there
   */
  private void again(ClientEvent.Acquire event, Lease lease, Lease.Ended ended, boolean certain) {
    if (!Repeats.isSame(ended, event.command())) {
      refuse(event, Failure.Kind.REQUEST_ID_IN_USE, inUse(event));
      return;
    }
    Notice ending = Repeats.ending(ended, event.command());
    Effect told =
        new Effect.Tell(event.stream(), event.command().requestId(), ended.sequence(), ending);
    if (certain && ending.equals(ended.notice())) {
      world.emit(told);
    } else {
      // Its client was granted it elsewhere, perhaps after this coordinator was deposed.
      ifOurs(event, lease, () -> world.emit(told));
    }
  }

  private void move(ClientEvent.Acquire event) {
    refuse(event, Failure.Kind.MOVED, World.NO_CONTACT);
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
