package io.lockkeeper.server.core;

import io.lockkeeper.server.core.Acquisition.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Carries acquisitions through their lives: applies events and does what follows from them. */
final class Acquisitions {

  private final World world;
  private final Sessions sessions;
  private final Views views;
  private final Holds holds;
  private Hooks hooks = new Hooks(ticket -> {}, lease -> {}, ticket -> {});

  /**
   * What others do when an acquisition moves.
   *
   * @param onReleasing the holder has released; its deletion is on its way
   * @param onTicketGone nothing of one of the lease's acquisitions is left
   * @param onWaiting an acquisition has begun to wait
   */
  record Hooks(
      java.util.function.Consumer<Ticket> onReleasing,
      java.util.function.Consumer<Lease> onTicketGone,
      java.util.function.Consumer<Ticket> onWaiting) {}

  Acquisitions(World world, Sessions sessions, Views views, Holds holds) {
    this.world = world;
    this.sessions = sessions;
    this.views = views;
    this.holds = holds;
  }

  void connect(Hooks value) {
    hooks = value;
  }

  /** Gives the event to the acquisition's state machine and does what it asks for. */
  void apply(Ticket ticket, AcquisitionEvent event) {
    Acquisition before = ticket.acquisition();
    Acquisition.Transition transition = before.on(event);
    Acquisition after = transition.next();
    ticket.become(after);
    if (before.isWaiting() && !after.isWaiting()) {
      ticket.timers().stopWaiting(world.timers);
    }
    if (before.isHeld() && !after.isHeld()) {
      ticket.timers().stopHolding(world.timers);
    }
    for (Acquisition.Action action : transition.actions()) {
      perform(ticket, action);
    }
    // Only a client that says so has stopped using the lock for certain.
    boolean released = after.state() == State.RELEASING && !ticket.releaseCalls().isEmpty();
    if (before.isHeld() && released) {
      hooks.onReleasing().accept(ticket);
    }
    if (before.state() != State.ENDED && after.state() == State.ENDED) {
      forget(ticket);
    } else if (isLeavingNothing(ticket)) {
      apply(ticket, new AcquisitionEvent.Deleted());
    }
  }

  /** Nothing is to be deleted in ZooKeeper where everything was shared. */
  private static boolean isLeavingNothing(Ticket ticket) {
    State state = ticket.acquisition().state();
    return (state == State.RELEASING || state == State.LEAVING) && ticket.leaving().isEmpty();
  }

  private void perform(Ticket ticket, Acquisition.Action action) {
    if (action instanceof Acquisition.Action.Tell tell) {
      tell(ticket, tell.notice());
    } else if (action instanceof Acquisition.Action.Refuse refuse) {
      Failure failure = new Failure(Failure.Kind.STORE_REFUSED, refuse.message());
      ticket
          .target()
          .ifPresent(
              stream ->
                  world.emit(new Effect.Refuse(stream, ticket.command().requestId(), failure)));
    } else if (action instanceof Acquisition.Action.Delete) {
      boolean asked = !ticket.releaseCalls().isEmpty();
      boolean left = ticket.acquisition().state() == State.LEAVING;
      boolean lost = left && (ticket.wasGranted() || (ticket.mayHaveHeld() && !asked));
      giveUp(ticket, !lost);
    } else if (action instanceof Acquisition.Action.AnswerReleases answer) {
      answerReleases(ticket, answer.outcome());
    }
  }

  /** ZooKeeper has refused its entries; what it shares with others of its owner it gives up. */
  void refused(Ticket ticket, String message) {
    giveUp(ticket, true);
    apply(ticket, new AcquisitionEvent.Refused(message));
  }

  /**
   * Gives up the acquisition's share of its holds, and deletes those that nobody shares any more.
   *
   * @param clean whether guards go too: a holder who was lost leaves its own behind, for the lock
   *     delay that is about to begin
   */
  private void giveUp(Ticket ticket, boolean clean) {
    List<EntryRef> last = ticket.leave(clean);
    holds.left(ticket);
    if (!last.isEmpty()) {
      SessionKey session = ticket.lease().session();
      Effect deletion = new Effect.DeleteEntries(session, ticket.id(), last);
      if (world.draining && ticket.lease().isStream() && ticket.wasGranted()) {
        sessions.emitDeletionLate(deletion);
      } else {
        sessions.emitDeletion(session, deletion);
      }
    }
  }

  private void answerReleases(Ticket ticket, Answer.ReleaseOutcome outcome) {
    boolean shared = outcome == Answer.ReleaseOutcome.RELEASED && ticket.remainingHolds() > 0;
    Answer answer =
        shared
            ? new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, ticket.remainingHolds())
            : new Answer.ReleaseDone(outcome, 0);
    for (CallId call : ticket.releaseCalls()) {
      world.reply(call, answer);
    }
    ticket.releaseCalls().clear();
  }

  /** Tells the client, and remembers an ending for those who ask again. */
  void tell(Ticket ticket, Notice notice) {
    long sequence = ticket.tell(notice);
    world.emit(new Effect.Count(notice));
    Optional<StreamId> target = ticket.target();
    if (target.isPresent() && !isUnordered(ticket, notice)) {
      send(target.get(), ticket, sequence, notice);
    }
    if (notice.isFinal()) {
      ticket
          .lease()
          .endings()
          .put(
              ticket.command().requestId(),
              new Lease.Ended(
                  ticket.command(), notice, sequence, ticket.heard(), Repeats.isRough(ticket)));
    }
  }

  /**
   * Grants come in the order of the request: where only entries tell of it, it is repeated first.
   */
  private static boolean isUnordered(Ticket ticket, Notice notice) {
    return notice instanceof Notice.Granted
        && ticket.revival().isPresent()
        && ticket.revival().get().isUnordered();
  }

  private void send(StreamId stream, Ticket ticket, long sequence, Notice notice) {
    world.emit(new Effect.Tell(stream, ticket.command().requestId(), sequence, notice));
  }

  /** Tells the newest state again, to a stream that has just come. */
  void replay(Ticket ticket) {
    Optional<StreamId> target = ticket.target();
    // A grant whose release has arrived may be another's already: its ending is told in time.
    boolean releasing = ticket.acquisition().state() == State.RELEASING;
    boolean told = ticket.lastNotice().filter(last -> !isUnordered(ticket, last)).isPresent();
    if (target.isEmpty() || !told || releasing) {
      return;
    }
    ticket.markHeard();
    send(
        target.get(),
        ticket,
        ticket.noticeSequence(),
        ticket.lastNotice().map(last -> refreshed(ticket, last)).get());
    boolean jeopardy =
        sessions.find(ticket.lease().session()).filter(LockSession::isSuspended).isPresent();
    if (ticket.acquisition().isHeld() && jeopardy) {
      tell(ticket, new Notice.Jeopardy(validForNanos(ticket)));
    }
    if (ticket.acquisition().isHeld()) {
      ticket.description().asked().ifPresent(asked -> tell(ticket, asked.notice(world.now)));
    }
  }

  private Notice refreshed(Ticket ticket, Notice last) {
    if (last instanceof Notice.Granted granted) {
      return new Notice.Granted(granted.lease(), ordered(ticket, granted), validForNanos(ticket));
    }
    return last instanceof Notice.Queued ? new Notice.Queued(views.briefPlaces(ticket)) : last;
  }

  /** Returns the grants in the order of the request, which may have been learned since. */
  private static List<Notice.Grant> ordered(Ticket ticket, Notice.Granted granted) {
    return ticket.holds().stream()
        .flatMap(hold -> granted.grants().stream().filter(g -> g.lock().equals(hold.lock())))
        .toList();
  }

  /**
   * Returns how long what the lease holds is good from now on: the nearer of its own end and its
   * session's bound.
   */
  long validForNanos(Lease lease) {
    Optional<LockSession> session = sessions.find(lease.session());
    long bound = session.isPresent() ? sessions.boundLeftNanos(session.get()) : 0;
    if (lease.isStream()) {
      return bound;
    }
    long own = Math.max(0, lease.deadlineNanos() - world.now);
    return Math.min(bound, Math.min(lease.ttlNanos(), own));
  }

  /** The same for one acquisition, whose holds may be limited in time. */
  long validForNanos(Ticket ticket) {
    return Math.min(validForNanos(ticket.lease()), holds.leftNanos(ticket));
  }

  void grant(Ticket ticket) {
    holds.grant(ticket, this::takeAway);
    List<Notice.Grant> grants = new ArrayList<>(ticket.holds().size());
    for (Hold hold : ticket.holds()) {
      int count = 1 + hold.holdersBeside(ticket);
      Optional<Departure> last = world.mirror.lastDeparture(hold.lock());
      grants.add(new Notice.Grant(hold.lock(), hold.token(), last, count));
    }
    Notice.Granted granted =
        new Notice.Granted(ticket.lease().id(), List.copyOf(grants), validForNanos(ticket));
    apply(ticket, new AcquisitionEvent.Admitted(granted));
  }

  /** Takes locks away from all who share their entries. */
  void takeAll(List<Hold> taken, Notice.Lost ending) {
    takeAway(taken.stream().flatMap(h -> h.users().stream()).distinct().toList(), ending);
  }

  private void takeAway(List<Ticket> losers, Notice.Lost ending) {
    for (Ticket loser : losers) {
      // Who waits for more than it shares cannot have all any more.
      apply(
          loser,
          loser.acquisition().isWaiting()
              ? new AcquisitionEvent.Removed()
              : new AcquisitionEvent.TakenAway(ending));
    }
  }

  /** The acquisition has its place and is not first: it waits, if it may. */
  void place(Ticket ticket) {
    List<Notice.Place> places = views.places(ticket);
    int ahead = Notice.Place.most(places);
    if (!ticket.mayEnd()) {
      ticket.moved(ahead);
      apply(ticket, new AcquisitionEvent.Placed(new Notice.Queued(places)));
    } else if (ahead >= world.settings.maxWaiters()) {
      expireWait(
          ticket,
          Notice.RefusalReason.QUEUE_FULL,
          "the queue has its limit of " + world.settings.maxWaiters() + " entries");
    } else if (isTry(ticket)) {
      boolean delayed = ahead == 0;
      expireWait(
          ticket,
          Notice.RefusalReason.TIMED_OUT,
          delayed ? "the lock is closed: a lock_delay is running" : "the lock is taken");
    } else {
      ticket.moved(ahead);
      apply(ticket, new AcquisitionEvent.Placed(new Notice.Queued(places)));
      hooks.onWaiting().accept(ticket);
    }
  }

  private static boolean isTry(Ticket ticket) {
    Optional<Duration> wait = ticket.command().waitTimeout();
    return wait.isPresent() && wait.get().isZero();
  }

  void expireWait(Ticket ticket, Notice.RefusalReason reason, String message) {
    apply(
        ticket,
        new AcquisitionEvent.WaitExpired(
            new Notice.NotAcquired(reason, message, views.holdersFor(ticket))));
  }

  private void forget(Ticket ticket) {
    Lease lease = ticket.lease();
    world.tickets.remove(ticket.id());
    lease.tickets().remove(ticket.command().requestId(), ticket);
    for (Hold hold : ticket.goesOn()) {
      hold.followers().remove(ticket);
    }
    ticket.stream().ifPresent(world.streams::remove);
    sessions.find(lease.session()).ifPresent(session -> session.addPathBytes(-ticket.pathBytes()));
    hooks.onTicketGone().accept(lease);
  }
}
