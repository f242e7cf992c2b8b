package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.queue.Mirror;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionEvent;
import io.lockkeeper.server.core.state.AcquisitionState;
import io.lockkeeper.server.core.state.AcquisitionState.State;
import io.lockkeeper.server.core.state.AdoptedState;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.FollowUp;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Carries acquisitions through their lives: applies events and does what follows from them. */
public final class AcquisitionLifecycle {

  /** What was refused is tried again after this long, then after twice as long, and so on. */
  private static final long AGAIN_NANOS = Duration.ofMillis(200).toNanos();

  /** Before a wait is ended, the interval of checking whether the queue shows who holds. */
  private static final long UNSEEN_AGAIN_NANOS = Duration.ofSeconds(1).toNanos();

  private static final int MAX_DOUBLED = 5;

  private final CoreState core;
  private final SessionPool pool;
  private final Views views;
  private final Reentrancy reentrancy;
  private final Deletions deletions;
  private final Barriers barriers;
  private final Occurrences occurrences;
  private final Contention contention;

  public AcquisitionLifecycle(
      CoreState core,
      SessionPool pool,
      Views views,
      Reentrancy reentrancy,
      Deletions deletions,
      Barriers barriers,
      Occurrences occurrences,
      Contention contention) {
    this.occurrences = occurrences;
    this.contention = contention;
    this.barriers = barriers;
    this.core = core;
    this.pool = pool;
    this.views = views;
    this.reentrancy = reentrancy;
    this.deletions = deletions;
  }

  /** Gives the event to the acquisition's state machine and does what it asks for. */
  public void apply(Acquisition acquisition, AcquisitionEvent event) {
    AcquisitionState before = acquisition.state();
    AcquisitionState.Transition transition = before.on(event);
    AcquisitionState after = transition.next();
    acquisition.become(after);
    if (before.isWaiting() && !after.isWaiting()) {
      acquisition.timers().stopWaiting(core.timers);
    }
    if (!before.isHeld() && after.isHeld()) {
      acquisition.times().granted(core.now);
    }
    if (before.isHeld() && !after.isHeld()) {
      acquisition.timers().stopHolding(core.timers);
      acquisition.times().ended(core.now);
    }
    for (AcquisitionState.Action action : transition.actions()) {
      perform(acquisition, action);
    }
    // Only a client that says so has stopped using the lock for certain.
    boolean released = after.state() == State.RELEASING && acquisition.isGivenBack();
    if (before.isHeld() && released) {
      core.follow(new FollowUp.Releasing(acquisition));
    }
    if (after.state() == State.CANCELLED && acquisition.isToTryAgain()) {
      // Its creation was refused, and is not tried again: no answer will come.
      acquisition.refused();
      apply(acquisition, new AcquisitionEvent.Refused(""));
      deletions.onAnswered(acquisition);
    }
    if (before.state() != State.ENDED && after.state() == State.ENDED) {
      forget(acquisition);
    }
  }

  private void perform(Acquisition acquisition, AcquisitionState.Action action) {
    if (action instanceof AcquisitionState.Action.Tell tell) {
      tell(acquisition, tell.notice());
    } else if (action instanceof AcquisitionState.Action.Refuse refuse) {
      Failure failure =
          new Failure(
              refuse.passing() ? Failure.Reason.UNAVAILABLE : Failure.Reason.STORE_REFUSED,
              refuse.message());
      refuse(acquisition, failure);
    } else if (action instanceof AcquisitionState.Action.Delete) {
      boolean left = acquisition.state().state() == State.LEAVING;
      boolean lost =
          left
              && (acquisition.wasGranted()
                  || (views.mayHaveHeld(acquisition) && !acquisition.isGivenBack()));
      giveUp(acquisition, lost);
    } else if (action instanceof AcquisitionState.Action.AnswerReleases answer) {
      answerReleases(acquisition, answer.outcome());
    }
  }

  /** Rejects the request on the stream that it came on; a stream of its own ends with that. */
  public void refuse(Acquisition acquisition, Failure failure) {
    acquisition
        .target()
        .ifPresent(
            stream ->
                core.emit(new Effect.Refuse(stream, acquisition.command().requestId(), failure)));
    acquisition.stream().ifPresent(core.streams::remove);
    acquisition.subscribe(Optional.empty());
  }

  /** Asks ZooKeeper for the entries. */
  public void create(Acquisition acquisition) {
    core.emit(
        new StoreEffect.CreateEntries(
            acquisition.lease().session(),
            acquisition.id(),
            acquisition.planned(),
            acquisition.details(),
            (int) acquisition.command().lockDelay().toMillis()));
  }

  /** ZooKeeper has created the entries. */
  public void created(Acquisition acquisition, List<StoreEvent.CreatedEntry> entries) {
    acquisition.created(entries);
    apply(acquisition, new AcquisitionEvent.Created());
    deletions.onAnswered(acquisition);
  }

  /**
   * ZooKeeper has refused to create the entries. What was granted at once, beside what its owner
   * holds, is tried again: its client relies on it, and the entry beside it stays meanwhile.
   */
  public void refused(Acquisition acquisition, String message, boolean passing) {
    if (!acquisition.isReliedOn()) {
      acquisition.refused();
      apply(acquisition, new AcquisitionEvent.Refused(message, passing));
      deletions.onAnswered(acquisition);
    } else if (core.mirror.isCurrent() && isWithoutBase(acquisition, Hold::isSeen)) {
      loseWithoutBase(acquisition);
    } else {
      int before = acquisition.triesAgain();
      long pause = AGAIN_NANOS << Math.min(before, MAX_DOUBLED);
      core.timers.at(core.now + pause, () -> tryAgain(acquisition));
      // What the mirror has never shown is gone if it does not show it when it has seen all.
      barriers.pass(passed -> loseWithoutBase(acquisition, passed));
    }
  }

  private void loseWithoutBase(Acquisition acquisition, boolean passed) {
    boolean waits =
        acquisition.isToTryAgain() && core.acquisitions.get(acquisition.id()) == acquisition;
    if (passed && waits && isWithoutBase(acquisition, base -> base.acquisition().isAnswered())) {
      loseWithoutBase(acquisition);
    }
  }

  private void tryAgain(Acquisition acquisition) {
    if (acquisition.isToTryAgain() && acquisition.isReliedOn()) {
      acquisition.triedAgain();
      create(acquisition);
    }
  }

  /** Returns whether an entry of which {@code known} is true is gone that it was to be beside. */
  private boolean isWithoutBase(Acquisition acquisition, Predicate<Hold> known) {
    return acquisition.holds().stream()
        .flatMap(hold -> hold.beside().stream())
        .anyMatch(base -> known.test(base) && base.entryIn(core.mirror).isEmpty());
  }

  /** The entry of a hold is gone: so are those that were refused a place beside it. */
  void baseGone(Hold base) {
    for (Hold follower : base.followers()) {
      if (follower.acquisition().isToTryAgain()
          && follower.beside().filter(base::equals).isPresent()) {
        loseWithoutBase(follower.acquisition());
      }
    }
  }

  /**
   * An entry has vanished without our doing. Where its session may have ended by now, that is the
   * cause: the mirror may show it before the session hears of its end.
   */
  public void entryGone(Acquisition acquisition) {
    boolean lives = boundLeftNanos(acquisition.lease()) > 0;
    if (!lives) {
      apply(acquisition, new AcquisitionEvent.BoundLost());
    } else if (acquisition.isClaimed()) {
      apply(acquisition, new AcquisitionEvent.TakenAway(removed("")));
    } else {
      apply(acquisition, new AcquisitionEvent.Removed());
    }
  }

  private static Notice.Lost removed(String message) {
    return new Notice.Lost(Notice.LossReason.REMOVED, message);
  }

  private void loseWithoutBase(Acquisition acquisition) {
    acquisition.refused();
    if (acquisition.state().isHeld()) {
      entryGone(acquisition);
    } else {
      if (acquisition.isClaimed()) {
        apply(acquisition, new AcquisitionEvent.TakenAway(removed("")));
      }
      apply(
          acquisition,
          new AcquisitionEvent.Refused("the entry is gone beside which it was to be placed"));
    }
    deletions.onAnswered(acquisition);
  }

  /** The client gives the acquisition back, wherever it stands. */
  public void release(Acquisition acquisition, CallId call) {
    acquisition.releaseCalls().add(call);
    giveBack(acquisition);
  }

  /** Its entries cannot be deleted for now: those who wait for that are told so. */
  public void deletionDelayed(Acquisition acquisition, String message) {
    if (acquisition.state().ending().isPresent()) {
      refuse(acquisition, new Failure(Failure.Reason.UNAVAILABLE, message));
    }
    for (CallId call : acquisition.releaseCalls()) {
      core.fail(call, Failure.Reason.UNAVAILABLE, message);
    }
    acquisition.releaseCalls().clear();
  }

  /** The client needs the acquisition no more. */
  public void giveBack(Acquisition acquisition) {
    acquisition.giveBack();
    apply(acquisition, new AcquisitionEvent.ReleaseAsked());
    deletions.proceed(acquisition);
  }

  /** The lease has ended. */
  public void leaseEnded(Acquisition acquisition, LeaseEnd end, String message) {
    apply(acquisition, new AcquisitionEvent.LeaseEnded(end, message));
    deletions.proceed(acquisition);
  }

  /**
   * Gives up what the acquisition has.
   *
   * @param lost whether a holder was lost, so that its guard stays for the lock delay that is about
   *     to begin
   */
  private void giveUp(Acquisition acquisition, boolean lost) {
    for (Hold hold : acquisition.holds()) {
      if (lost) {
        hold.lose();
      } else {
        hold.release();
      }
    }
    acquisition.leavesBehind(reentrancy.leave(acquisition));
    deletions.begin(acquisition);
    if (acquisition.isToTryAgain()) {
      acquisition.refused();
      deletions.onAnswered(acquisition);
    }
  }

  private void answerReleases(Acquisition acquisition, Answer.ReleaseOutcome outcome) {
    boolean shared = outcome == Answer.ReleaseOutcome.RELEASED && acquisition.remainingHolds() > 0;
    Answer answer =
        shared
            ? new Answer.ReleaseDone(
                Answer.ReleaseOutcome.DECREMENTED, acquisition.remainingHolds())
            : new Answer.ReleaseDone(outcome, 0);
    for (CallId call : acquisition.releaseCalls()) {
      core.reply(call, answer);
    }
    acquisition.releaseCalls().clear();
  }

  /** Tells the client, and remembers an ending for those who ask again. */
  public void tell(Acquisition acquisition, Notice notice) {
    long sequence = acquisition.tell(notice);
    core.emit(new Effect.Count(occurrences.of(acquisition, notice)));
    Optional<StreamId> target = acquisition.target();
    if (target.isPresent()) {
      send(target.get(), acquisition, sequence, notice);
    }
    if (notice.isFinal()) {
      acquisition.lease().remember(Lease.Ended.of(acquisition, notice, sequence));
    }
  }

  private void send(StreamId stream, Acquisition acquisition, long sequence, Notice notice) {
    core.emit(
        new Effect.Tell(
            stream,
            acquisition.command().requestId(),
            acquisition.lease().epoch(),
            sequence,
            notice));
  }

  /** Tells the newest state again, to a stream that has just come. */
  public void replay(Acquisition acquisition) {
    Optional<StreamId> target = acquisition.target();
    // A grant whose release has arrived may be another's already. Its ending is told in time, and
    // so is that of a request that no longer waits.
    boolean ending =
        acquisition.state().state() == State.RELEASING || acquisition.state().ending().isPresent();
    if (target.isEmpty() || acquisition.lastNotice().isEmpty() || ending) {
      return;
    }
    acquisition.markHeard();
    send(
        target.get(),
        acquisition,
        acquisition.numberAgain(),
        acquisition.lastNotice().map(last -> refreshed(acquisition, last)).get());
    if (acquisition.state().isHeld()) {
      replayContact(acquisition);
      acquisition
          .description()
          .asked()
          .ifPresent(asked -> tell(acquisition, asked.notice(core.now)));
      acquisition.forgetContention();
      tellContention(acquisition);
    }
  }

  /** Its client may have missed a jeopardy, or the end of one. */
  private void replayContact(Acquisition acquisition) {
    boolean jeopardy =
        pool.find(acquisition.lease().session()).filter(LockSession::isSuspended).isPresent();
    if (jeopardy) {
      tell(acquisition, new Notice.Jeopardy(vouchedForNanos(acquisition)));
    } else if (acquisition.isWarned()) {
      tell(acquisition, new Notice.Safe(validForNanos(acquisition)));
    }
  }

  private Notice refreshed(Acquisition acquisition, Notice last) {
    if (last instanceof Notice.Granted granted) {
      return new Notice.Granted(granted.lease(), granted.grants(), validForNanos(acquisition));
    }
    return last instanceof Notice.Queued ? new Notice.Queued(views.briefPlaces(acquisition)) : last;
  }

  /**
   * Returns how long what the lease holds is good from now on: the nearer of its own end and its
   * session's bound.
   */
  public long validForNanos(Lease lease) {
    long bound = boundLeftNanos(lease);
    if (lease.isStream()) {
      return bound;
    }
    long own = Math.max(0, lease.deadlineNanos() - core.now);
    return Math.min(bound, Math.min(lease.ttlNanos(), own));
  }

  private long boundLeftNanos(Lease lease) {
    return pool.find(lease.session()).map(pool::boundLeftNanos).orElse(0L);
  }

  /** The same for one acquisition, whose holds may be limited in time. */
  public long validForNanos(Acquisition acquisition) {
    return Math.min(validForNanos(acquisition.lease()), reentrancy.leftNanos(acquisition));
  }

  /**
   * Returns how long the session vouches for an acquisition if it is not proved again. The lease's
   * own end is left out: keep-alives move it on meanwhile, and its client counts it for itself.
   */
  public long vouchedForNanos(Acquisition acquisition) {
    return Math.min(boundLeftNanos(acquisition.lease()), reentrancy.leftNanos(acquisition));
  }

  /** Grants what is proved to be held. */
  void grant(Acquisition acquisition) {
    reentrancy.grant(acquisition);
    bound(acquisition);
    List<Notice.Grant> grants = new ArrayList<>(acquisition.holds().size());
    for (Hold hold : acquisition.holds()) {
      int count = 1 + reentrancy.levelsBeside(hold);
      Optional<HoldEnd> last = core.mirror.lastDeparture(hold.lock()).map(Mirror.Departure::end);
      int waiters = contention.waiters(acquisition, hold.lock());
      grants.add(new Notice.Grant(hold.lock(), hold.token(), last, count, waiters));
    }
    Notice.Granted granted =
        new Notice.Granted(
            acquisition.lease().id(), List.copyOf(grants), validForNanos(acquisition));
    apply(acquisition, new AcquisitionEvent.Admitted(granted));
    tellContention(acquisition);
  }

  /** Tells a holder, if it wants to know and does not, that somebody waits. */
  public void tellContention(Acquisition acquisition) {
    tellOnce(acquisition, () -> contention.of(acquisition));
  }

  /** The same of somebody whose entry is on its way. */
  void tellArrival(Acquisition acquisition, LockName lock) {
    tellOnce(acquisition, () -> contention.ofArriving(acquisition, lock));
  }

  private void tellOnce(Acquisition acquisition, Supplier<Optional<Notice.Contended>> contended) {
    if (acquisition.state().isHeld() && !acquisition.isContentionTold()) {
      contended.get().ifPresent(notice -> tell(acquisition, notice));
    }
  }

  private void bound(Acquisition acquisition) {
    reentrancy.bound(acquisition, () -> heldForTooLong(acquisition));
  }

  /** The client of what was granted elsewhere says again how long it may be held. */
  public void boundAgain(Acquisition acquisition) {
    if (acquisition.state().isHeld()
        && acquisition.adoptedState().flatMap(AdoptedState::maxHold).isPresent()) {
      bound(acquisition);
    }
  }

  private void heldForTooLong(Acquisition acquisition) {
    Notice.Lost ending = new Notice.Lost(Notice.LossReason.MAX_HOLD, "held for max_hold");
    for (Acquisition loser : reentrancy.nestedIn(acquisition)) {
      if (loser.mayEnd()) {
        takeAway(loser, ending);
      }
    }
  }

  /** Takes the locks away from an acquisition that holds them, or waits for others as well. */
  public void takeAway(Acquisition acquisition, Notice.Lost ending) {
    apply(
        acquisition,
        !acquisition.state().isHeld() && !acquisition.mayHaveHeld()
            ? new AcquisitionEvent.Removed()
            : new AcquisitionEvent.TakenAway(ending));
  }

  /** The acquisition has its place and is not first: it waits, if it may. */
  void place(Acquisition acquisition) {
    List<Notice.Place> places = views.places(acquisition);
    int ahead = Notice.Place.most(places);
    if (!acquisition.mayEnd()) {
      acquisition.moved(ahead);
      apply(acquisition, new AcquisitionEvent.Placed(new Notice.Queued(places)));
    } else if (ahead >= core.settings.maxWaiters()) {
      expireWait(
          acquisition,
          Notice.RefusalReason.QUEUE_FULL,
          "the queue has its limit of " + core.settings.maxWaiters() + " entries",
          () -> placeAgain(acquisition));
    } else if (isTry(acquisition)) {
      boolean delayed = ahead == 0;
      expireWait(
          acquisition,
          Notice.RefusalReason.TIMED_OUT,
          views
              .whyFrozen(acquisition)
              .orElse(
                  delayed ? "the lock is closed: a lock_delay is running" : "the lock is taken"),
          () -> placeAgain(acquisition));
    } else {
      acquisition.moved(ahead);
      apply(acquisition, new AcquisitionEvent.Placed(new Notice.Queued(places)));
      core.follow(new FollowUp.Waiting(acquisition));
    }
  }

  private void placeAgain(Acquisition acquisition) {
    if (acquisition.state().isWaiting() && !acquisition.wasPlaced()) {
      place(acquisition);
    }
  }

  private static boolean isTry(Acquisition acquisition) {
    Optional<Duration> wait = acquisition.command().waitTimeout();
    return wait.isPresent() && wait.get().isZero();
  }

  /** Ends a wait that has no prospect, if it may be ended here: see {@link Acquisition#mayEnd}. */
  void expireWait(Acquisition acquisition, Notice.RefusalReason reason, String message) {
    expireWait(acquisition, reason, message, () -> expireWait(acquisition, reason, message));
  }

  /**
   * The same where the reason may be over soon. A client that came back may have been granted it by
   * another coordinator that has the session by now: then it is not ended before that is known.
   *
   * @param again what to do when it is known
   */
  public void expireWait(
      Acquisition acquisition, Notice.RefusalReason reason, String message, Runnable again) {
    expireWait(acquisition, reason, message, Optional.empty(), again);
  }

  /** The same for a wait that would have closed a cycle. */
  public void refuseCycle(Acquisition acquisition, Notice.WaitCycle cycle, Runnable again) {
    expireWait(
        acquisition,
        Notice.RefusalReason.WOULD_DEADLOCK,
        "a cycle of waits",
        Optional.of(cycle),
        again);
  }

  private void expireWait(
      Acquisition acquisition,
      Notice.RefusalReason reason,
      String message,
      Optional<Notice.WaitCycle> cycle,
      Runnable again) {
    if (!acquisition.state().isWaiting() || !acquisition.mayEnd()) {
      return;
    }
    if (views.mayHoldUnseen(acquisition)) {
      core.timers.at(core.now + UNSEEN_AGAIN_NANOS, again);
      return;
    }
    Optional<LockSession> unproven =
        pool.find(acquisition.lease().session())
            .filter(session -> acquisition.cameBackSince(session.provenAtNanos()));
    if (unproven.isPresent()) {
      if (!acquisition.asksToEnd(true)) {
        Runnable known =
            () -> {
              acquisition.asksToEnd(false);
              again.run();
            };
        pool.ask(unproven.get(), known, () -> core.timers.at(core.now + AGAIN_NANOS, known));
      }
    } else {
      apply(
          acquisition,
          new AcquisitionEvent.WaitExpired(
              new Notice.NotAcquired(
                  reason,
                  message,
                  cycle,
                  acquisition.command().locks().stream()
                      .map(AcquireCommand.WantedLock::name)
                      .toList(),
                  views.holdersFor(acquisition))));
    }
  }

  /** Gives back what nobody has asked for again in time, if it may be ended here. */
  void abandon(Acquisition acquisition) {
    if (acquisition.mayEnd()) {
      apply(acquisition, new AcquisitionEvent.ReleaseAsked());
    }
  }

  private void forget(Acquisition acquisition) {
    Lease lease = acquisition.lease();
    core.remove(acquisition);
    lease.acquisitions().remove(acquisition.command().requestId(), acquisition);
    acquisition.timers().stopAll(core.timers);
    acquisition.holds().forEach(Hold::leavePlace);
    acquisition.stream().ifPresent(core.streams::remove);
    pool.find(lease.session())
        .ifPresent(session -> session.addPathBytes(acquisition, -acquisition.pathBytes()));
    core.follow(new FollowUp.Gone(lease));
  }
}
