package io.lockkeeper.server.core;

import io.lockkeeper.server.core.Acquisition.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Carries acquisitions through their lives: applies events and does what follows from them. */
final class Acquisitions {

  /** What was refused is tried again after this long, then after twice as long, and so on. */
  private static final long AGAIN_NANOS = Duration.ofMillis(200).toNanos();

  private static final int MAX_DOUBLED = 5;

  private final World world;
  private final Sessions sessions;
  private final Views views;
  private final Holds holds;
  private final Deletions deletions;
  private final Barriers barriers;
  private final Losses losses;

  Acquisitions(
      World world,
      Sessions sessions,
      Views views,
      Holds holds,
      Deletions deletions,
      Barriers barriers,
      Losses losses) {
    this.losses = losses;
    this.barriers = barriers;
    this.world = world;
    this.sessions = sessions;
    this.views = views;
    this.holds = holds;
    this.deletions = deletions;
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
    boolean released = after.state() == State.RELEASING && ticket.isGivenBack();
    if (before.isHeld() && released) {
      world.follow(new FollowUp.Releasing(ticket));
    }
    if (before.state() != State.ENDED && after.state() == State.ENDED) {
      forget(ticket);
    }
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
      boolean left = ticket.acquisition().state() == State.LEAVING;
      boolean lost =
          left && (ticket.wasGranted() || (ticket.mayHaveHeld() && !ticket.isGivenBack()));
      giveUp(ticket, lost);
    } else if (action instanceof Acquisition.Action.AnswerReleases answer) {
      answerReleases(ticket, answer.outcome());
    }
  }

  /** Asks ZooKeeper for the entries. */
  void create(Ticket ticket) {
    world.emit(
        new Effect.CreateEntries(
            ticket.lease().session(),
            ticket.id(),
            ticket.planned(),
            ticket.details(),
            (int) ticket.command().lockDelay().toMillis()));
  }

  /** ZooKeeper has created the entries. */
  void created(Ticket ticket, List<StoreEvent.CreatedEntry> entries) {
    ticket.created(entries);
    apply(ticket, new AcquisitionEvent.Created());
    deletions.onAnswered(ticket);
  }

  /**
   * ZooKeeper has refused to create the entries. What was granted at once, beside what its owner
   * holds, is tried again: its client relies on it, and the entry beside it stays meanwhile.
   */
  void refused(Ticket ticket, String message) {
    if (!ticket.isReliedOn()) {
      ticket.refused();
      apply(ticket, new AcquisitionEvent.Refused(message));
      deletions.onAnswered(ticket);
    } else if (world.mirror.isCurrent() && isWithoutBase(ticket, Hold::isSeen)) {
      loseWithoutBase(ticket);
    } else {
      int before = ticket.triesAgain();
      long pause = AGAIN_NANOS << Math.min(before, MAX_DOUBLED);
      world.timers.at(world.now + pause, () -> tryAgain(ticket));
      // What the mirror has never shown is gone if it does not show it when it has seen all.
      barriers.pass(passed -> loseWithoutBase(ticket, passed));
    }
  }

  private void loseWithoutBase(Ticket ticket, boolean passed) {
    boolean waits = ticket.isToTryAgain() && world.tickets.get(ticket.id()) == ticket;
    if (passed && waits && isWithoutBase(ticket, base -> base.ticket().isAnswered())) {
      loseWithoutBase(ticket);
    }
  }

  private void tryAgain(Ticket ticket) {
    if (ticket.isToTryAgain() && ticket.isReliedOn()) {
      ticket.triedAgain();
      create(ticket);
    }
  }

  /** Returns whether an entry of which {@code known} is true is gone that it was to be beside. */
  private boolean isWithoutBase(Ticket ticket, Predicate<Hold> known) {
    return ticket.holds().stream()
        .flatMap(hold -> hold.beside().stream())
        .anyMatch(base -> known.test(base) && base.entryIn(world.mirror).isEmpty());
  }

  /** The entry of a hold is gone: so are those that were refused a place beside it. */
  void baseGone(Hold base) {
    for (Hold follower : base.followers()) {
      if (follower.ticket().isToTryAgain() && follower.beside().filter(base::equals).isPresent()) {
        loseWithoutBase(follower.ticket());
      }
    }
  }

  private void loseWithoutBase(Ticket ticket) {
    ticket.refused();
    apply(
        ticket,
        ticket.acquisition().isHeld()
            ? new AcquisitionEvent.Removed()
            : new AcquisitionEvent.Refused("the entry is gone beside which it was to be placed"));
    deletions.onAnswered(ticket);
  }

  /** The client gives the acquisition back, wherever it stands. */
  void release(Ticket ticket, CallId call) {
    ticket.releaseCalls().add(call);
    giveBack(ticket);
  }

  /** The client needs the acquisition no more. */
  void giveBack(Ticket ticket) {
    ticket.giveBack();
    apply(ticket, new AcquisitionEvent.ReleaseAsked());
    deletions.proceed(ticket);
  }

  /** The lease has ended. */
  void leaseEnded(Ticket ticket, LeaseEnd end) {
    apply(ticket, new AcquisitionEvent.LeaseEnded(end));
    deletions.proceed(ticket);
  }

  /**
   * Gives up what the acquisition has.
   *
   * @param lost whether a holder was lost, so that its guard stays for the lock delay that is about
   *     to begin
   */
  private void giveUp(Ticket ticket, boolean lost) {
    for (Hold hold : ticket.holds()) {
      if (lost) {
        hold.lose();
      } else {
        hold.release();
      }
    }
    ticket.leavesBehind(holds.leave(ticket));
    deletions.begin(ticket);
    if (ticket.isToTryAgain()) {
      ticket.refused();
      deletions.onAnswered(ticket);
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
    world.emit(new Effect.Count(losses.counted(ticket, notice)));
    Optional<StreamId> target = ticket.target();
    if (target.isPresent()) {
      send(target.get(), ticket, sequence, notice);
    }
    if (notice.isFinal()) {
      ticket.lease().remember(Lease.Ended.of(ticket, notice, sequence));
    }
  }

  private void send(StreamId stream, Ticket ticket, long sequence, Notice notice) {
    world.emit(new Effect.Tell(stream, ticket.command().requestId(), sequence, notice));
  }

  /** Tells the newest state again, to a stream that has just come. */
  void replay(Ticket ticket) {
    Optional<StreamId> target = ticket.target();
    // A grant whose release has arrived may be another's already: its ending is told in time.
    boolean releasing = ticket.acquisition().state() == State.RELEASING;
    if (target.isEmpty() || ticket.lastNotice().isEmpty() || releasing) {
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
      return new Notice.Granted(granted.lease(), granted.grants(), validForNanos(ticket));
    }
    return last instanceof Notice.Queued ? new Notice.Queued(views.briefPlaces(ticket)) : last;
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

  /** Grants what is proved to be held. */
  void grant(Ticket ticket) {
    holds.grant(ticket);
    bound(ticket);
    List<Notice.Grant> grants = new ArrayList<>(ticket.holds().size());
    for (Hold hold : ticket.holds()) {
      int count = 1 + holds.levelsBeside(hold);
      Optional<Departure> last = world.mirror.lastDeparture(hold.lock());
      grants.add(new Notice.Grant(hold.lock(), hold.token(), last, count));
    }
    Notice.Granted granted =
        new Notice.Granted(ticket.lease().id(), List.copyOf(grants), validForNanos(ticket));
    apply(ticket, new AcquisitionEvent.Admitted(granted));
  }

  private void bound(Ticket ticket) {
    holds.bound(ticket, () -> heldForTooLong(ticket));
  }

  /** The client of what was granted elsewhere says again how long it may be held. */
  void boundAgain(Ticket ticket) {
    if (ticket.acquisition().isHeld() && ticket.revival().flatMap(Revival::maxHold).isPresent()) {
      bound(ticket);
    }
  }

  private void heldForTooLong(Ticket ticket) {
    Notice.Lost ending = new Notice.Lost(Notice.LossReason.MAX_HOLD, "held for max_hold");
    for (Ticket loser : holds.nestedIn(ticket)) {
      if (loser.mayEnd()) {
        takeAway(loser, ending);
      }
    }
  }

  /** Takes the locks away from an acquisition that holds them, or waits for others as well. */
  void takeAway(Ticket ticket, Notice.Lost ending) {
    apply(
        ticket,
        ticket.acquisition().isWaiting() && !ticket.mayHaveHeld()
            ? new AcquisitionEvent.Removed()
            : new AcquisitionEvent.TakenAway(ending));
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
          "the queue has its limit of " + world.settings.maxWaiters() + " entries",
          () -> placeAgain(ticket));
    } else if (isTry(ticket)) {
      boolean delayed = ahead == 0;
      expireWait(
          ticket,
          Notice.RefusalReason.TIMED_OUT,
          delayed ? "the lock is closed: a lock_delay is running" : "the lock is taken",
          () -> placeAgain(ticket));
    } else {
      ticket.moved(ahead);
      apply(ticket, new AcquisitionEvent.Placed(new Notice.Queued(places)));
      world.follow(new FollowUp.Waiting(ticket));
    }
  }

  private void placeAgain(Ticket ticket) {
    if (ticket.acquisition().isWaiting() && !ticket.wasPlaced()) {
      place(ticket);
    }
  }

  private static boolean isTry(Ticket ticket) {
    Optional<Duration> wait = ticket.command().waitTimeout();
    return wait.isPresent() && wait.get().isZero();
  }

  /** Ends a wait that has no prospect, if it may be ended here: see {@link Ticket#mayEnd}. */
  void expireWait(Ticket ticket, Notice.RefusalReason reason, String message) {
    expireWait(ticket, reason, message, () -> expireWait(ticket, reason, message));
  }

  /**
   * The same where the reason may be over soon. A client that came back may have been granted it by
   * another coordinator that has the session by now: then it is not ended before that is known.
   *
   * @param again what to do when it is known
   */
  void expireWait(Ticket ticket, Notice.RefusalReason reason, String message, Runnable again) {
    if (!ticket.acquisition().isWaiting() || !ticket.mayEnd()) {
      return;
    }
    Optional<LockSession> unproven =
        sessions
            .find(ticket.lease().session())
            .filter(session -> ticket.cameBackSince(session.provenAtNanos()));
    if (unproven.isPresent()) {
      if (!ticket.asksToEnd(true)) {
        Runnable known =
            () -> {
              ticket.asksToEnd(false);
              again.run();
            };
        sessions.ask(unproven.get(), known, () -> world.timers.at(world.now + AGAIN_NANOS, known));
      }
    } else {
      apply(
          ticket,
          new AcquisitionEvent.WaitExpired(
              new Notice.NotAcquired(reason, message, views.holdersFor(ticket))));
    }
  }

  /** Gives back what nobody has asked for again in time, if it may be ended here. */
  void abandon(Ticket ticket) {
    if (ticket.mayEnd()) {
      apply(ticket, new AcquisitionEvent.ReleaseAsked());
    }
  }

  private void forget(Ticket ticket) {
    Lease lease = ticket.lease();
    world.tickets.remove(ticket.id());
    lease.tickets().remove(ticket.command().requestId(), ticket);
    ticket.timers().stopAll(world.timers);
    ticket.holds().forEach(Hold::leavePlace);
    ticket.stream().ifPresent(world.streams::remove);
    sessions
        .find(lease.session())
        .ifPresent(session -> session.addPathBytes(ticket, -ticket.pathBytes()));
    world.follow(new FollowUp.Gone(lease));
  }
}
