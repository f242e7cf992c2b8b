package io.lockkeeper.server.core.request;

import io.lockkeeper.server.core.acquire.AcquisitionLifecycle;
import io.lockkeeper.server.core.acquire.AdoptionGrace;
import io.lockkeeper.server.core.acquire.Claims;
import io.lockkeeper.server.core.acquire.Grants;
import io.lockkeeper.server.core.acquire.PlacementPlanner;
import io.lockkeeper.server.core.acquire.WaitTimeouts;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Occurrence;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionEvent;
import io.lockkeeper.server.core.state.AdoptedState;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import io.lockkeeper.server.core.state.Placement;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Takes clients' requests about acquisitions. */
public final class AcquireHandler {

  private final CoreState core;
  private final SessionPool pool;
  private final AcquisitionLifecycle lifecycle;
  private final Leases leases;
  private final PlacementPlanner planner;
  private final Grants grants;
  private final WaitTimeouts timeouts;
  private final AdoptionGrace grace;
  private final Claims claims;

  public AcquireHandler(
      CoreState core,
      SessionPool pool,
      AcquisitionLifecycle lifecycle,
      Leases leases,
      PlacementPlanner planner,
      Grants grants,
      WaitTimeouts timeouts,
      AdoptionGrace grace,
      Claims claims) {
    this.claims = claims;
    this.timeouts = timeouts;
    this.grace = grace;
    this.planner = planner;
    this.grants = grants;
    this.core = core;
    this.pool = pool;
    this.lifecycle = lifecycle;
    this.leases = leases;
  }

  /** Begins an acquisition, or goes on with the one that the request names. */
  public void acquire(ClientEvent.Acquire event) {
    if (event.command().lease().isEmpty()) {
      acquireForStream(event);
      return;
    }
    Optional<Lease> lease = leases.findOpen(event.lease());
    if (lease.isEmpty()) {
      refuse(event, leases.unknown(event.lease()));
      return;
    }
    core.accounts.claim(lease.get(), core.caller);
    String requestId = event.command().requestId();
    Optional<Acquisition> known = Optional.ofNullable(lease.get().acquisitions().get(requestId));
    Optional<Lease.Ended> ended = lease.get().ending(requestId);
    if (known.isPresent() && !isOver(known.get())) {
      again(event, known.get());
    } else if (ended.isPresent()) {
      again(event, lease.get(), ended.get(), known.isEmpty());
    } else if (lease.get().wasReleasedEarly(requestId)) {
      endIfOurs(event, lease.get(), new Notice.Released());
    } else if (event.command().heldTokens().isEmpty()) {
      plan(event, lease.get());
    } else {
      goOn(event, lease.get());
    }
  }

  /**
   * A client that holds comes back, and its acquisition is not known: it is never queued anew. Of a
   * lease that no other coordinator served, everything that its client can hold is known.
   */
  private void goOn(ClientEvent.Acquire event, Lease lease) {
    Optional<List<Placement>> placements =
        lease.isAdopted() ? PlacementPlanner.resumed(lease, event.command()) : Optional.empty();
    Optional<LockSession> session = pool.find(lease.session());
    if (placements.isPresent() && session.isPresent()) {
      if (enqueue(event, lease, session.get(), placements.get())) {
        placements.get().forEach(this::replaceNameless);
      }
    } else {
      tellGone(event, lease);
    }
  }

  private void tellGone(ClientEvent.Acquire event, Lease lease) {
    endIfOurs(event, lease, RequestMatching.gone());
  }

  /** What says nothing of whose it is gives way to the request that it was for. */
  private void replaceNameless(Placement placement) {
    placement
        .beside()
        .map(Hold::acquisition)
        .filter(Acquisition::isNameless)
        .ifPresent(lifecycle::giveBack);
  }

  private void endIfOurs(ClientEvent.Acquire event, Lease lease, Notice ending) {
    ifOurs(event, lease, () -> end(event, Optional.of(lease), lease.epoch(), ending));
  }

  /** Where another coordinator has the session, it is there: the client is sent after it. */
  private void ifOurs(ClientEvent.Acquire event, Lease lease, Runnable answer) {
    pool.find(lease.session()).ifPresent(own -> pool.ask(own, answer, () -> move(event)));
  }

  private void plan(ClientEvent.Acquire event, Lease lease) {
    Optional<LockSession> session = pool.find(lease.session());
    if (session.isEmpty() || !session.get().isInContact()) {
      refuse(event, Failure.Reason.UNAVAILABLE, CoreState.NO_CONTACT);
      return;
    }
    carryOut(event, Optional.of(lease), session.get());
  }

  /**
   * Does what planning says; without a lease, the stream becomes one if there is a place to queue.
   */
  private void carryOut(ClientEvent.Acquire event, Optional<Lease> known, LockSession session) {
    Optional<Failure> refusal = core.accounts.refusal(core.caller, known, event.command());
    if (refusal.isPresent()) {
      refuse(event, refusal.get());
      return;
    }
    PlacementPlanner.Plan plan = planner.plan(event.command(), known);
    if (plan instanceof PlacementPlanner.Plan.Ended ended) {
      end(event, known, session.epoch(), ended.ending());
    } else if (plan instanceof PlacementPlanner.Plan.Refused refused) {
      refuse(event, refused.failure());
    } else if (plan instanceof PlacementPlanner.Plan.Parts placements) {
      Lease lease =
          known.orElseGet(
              () -> leases.openForStream(event.lease(), session, event.command().holder()));
      enqueue(event, lease, session, placements.placements());
    }
  }

  /** Tells the client at once that it will not be granted what it asks for. */
  private void end(ClientEvent.Acquire event, Optional<Lease> lease, long epoch, Notice ending) {
    String requestId = event.command().requestId();
    core.emit(new Effect.Count(Occurrence.atOnce(event.id(), event.command(), ending)));
    core.emit(new Effect.Tell(event.stream(), requestId, epoch, 1, ending));
    lease.ifPresent(l -> l.remember(Lease.Ended.of(event.command(), ending)));
  }

  private static boolean isOver(Acquisition acquisition) {
    return acquisition.lastNotice().isPresent() && acquisition.lastNotice().get().isFinal();
  }

  private void acquireForStream(ClientEvent.Acquire event) {
    Optional<Failure> refusal = leases.refusal();
    if (refusal.isPresent()) {
      refuse(event, refusal.get());
      return;
    }
    Optional<LockSession> session = pool.forNewLease();
    if (session.isEmpty()) {
      refuse(event, Failure.Reason.TOO_MANY, leases.tooManySessions());
      return;
    }
    carryOut(event, Optional.empty(), session.get());
  }

  /** Returns whether there was room for it. */
  private boolean enqueue(
      ClientEvent.Acquire event, Lease lease, LockSession session, List<Placement> placements) {
    boolean held = !lease.isStream() && !event.command().heldTokens().isEmpty();
    Optional<AdoptedState> adoptedState =
        held && lease.isAdopted()
            ? Optional.of(AdoptedState.ofRepeated(event.command(), core.now, lease.awakeAtNanos()))
            : Optional.empty();
    Acquisition acquisition =
        Acquisition.of(event.id(), lease, event.command(), placements, adoptedState);
    long bytes = core.pathSizes.bytesOf(acquisition.planned());
    long most = core.settings.maxSessionPathBytes();
    if (held && !session.mayOwn(bytes, most)) {
      // What its client holds had room where it was granted: this was granted nowhere.
      tellGone(event, lease);
      return false;
    }
    if (!lease.isStream() && !held && !session.hasRoomFor(lease, bytes, most)) {
      refuse(
          event,
          Failure.Reason.LEASE_FULL,
          "the lease's entries take its share of the "
              + most
              + " bytes of paths that a ZooKeeper session may own; use another lease");
      return false;
    }
    take(acquisition, session, bytes, Optional.empty());
    subscribe(event, acquisition);
    if (held) {
      claims.onClaimed(acquisition);
      grace.repeated(acquisition, event.command());
    } else {
      timeouts.arm(acquisition);
    }
    lifecycle.create(acquisition);
    grants.decide(acquisition);
    if (!held) {
      grants.tellArrival(acquisition);
    }
    return true;
  }

  private void take(
      Acquisition acquisition, LockSession session, long bytes, Optional<Hold.Proof> proof) {
    session.addPathBytes(acquisition, bytes);
    core.add(acquisition);
    for (Hold hold : acquisition.holds()) {
      hold.awaitMirror();
      proof.ifPresent(hold::grant);
    }
  }

  /**
   * The session was another coordinator's for a while, and a level was granted here ahead of its
   * creation before, which never took place. Its client may not know any of that, and give back
   * what the level was to be beside: so it is created now, for whoever may rely on it.
   */
  public void createAgain(Acquisition before, Lease lease, LockSession session) {
    List<Long> tokens = before.holds().stream().map(hold -> hold.token().value()).toList();
    AcquireCommand command = before.command().holding(tokens);
    if (lease.acquisitions().containsKey(command.requestId())) {
      return;
    }
    PlacementPlanner.resumed(lease, command)
        .ifPresent(
            placements -> {
              UUID next =
                  new UUID(
                      before.id().getMostSignificantBits(),
                      before.id().getLeastSignificantBits() + 1);
              AdoptedState adoptedState =
                  new AdoptedState(placements.size(), core.now, lease.awakeAtNanos());
              Acquisition acquisition =
                  Acquisition.of(next, lease, command, placements, Optional.of(adoptedState));
              long bytes = core.pathSizes.bytesOf(acquisition.planned());
              take(acquisition, session, bytes, Optional.of(Hold.Proof.AHEAD));
              lifecycle.create(acquisition);
            });
  }

  private void subscribe(ClientEvent.Acquire event, Acquisition acquisition) {
    if (event.session()) {
      acquisition.subscribe(Optional.empty());
    } else {
      acquisition.subscribe(Optional.of(event.stream()));
      core.streams.put(event.stream(), new CoreState.Subscriber.ForAcquisition(acquisition));
    }
  }

  /** The same request came again: it finds its place or its grant. */
  private void again(ClientEvent.Acquire event, Acquisition acquisition) {
    if (!RequestMatching.isSame(acquisition, event.command())) {
      refuse(event, Failure.Reason.REQUEST_ID_IN_USE, inUse(event));
      return;
    }
    long told = acquisition.noticeSequence();
    acquisition.stream()
        .filter(old -> !old.equals(event.stream()))
        .ifPresent(
            old -> {
              core.streams.remove(old);
              core.emit(new Effect.Supersede(old));
            });
    subscribe(event, acquisition);
    acquisition.cameBack(core.now);
    acquisition.notifyContention(event.command().notifyContention());
    boolean knows = RequestMatching.knows(event.command(), acquisition.holds());
    if (knows) {
      claims.onClaimed(acquisition);
    }
    if (acquisition.state().ending().isPresent()
        && RequestMatching.mayKnow(event.command(), acquisition.holds())) {
      // It was granted elsewhere: for its client it is a loss.
      lifecycle.apply(acquisition, new AcquisitionEvent.TakenAway(RequestMatching.gone()));
    }
    grace.repeated(acquisition, event.command());
    grants.decide(acquisition);
    if (knows) {
      lifecycle.boundAgain(acquisition);
    }
    if (told == acquisition.noticeSequence()) {
      lifecycle.replay(acquisition);
    }
  }

  /**
   * Tells an ending again, after a proof of the session. Another coordinator may have it by now,
   * and hold what is left of the request, or have queued the same request again for a client that
   * did not receive its ending. Only a loss of which nothing is left needs no proof.
   *
   * @param certain whether nothing of it is left
   */
  private void again(ClientEvent.Acquire event, Lease lease, Lease.Ended ended, boolean certain) {
    if (!RequestMatching.isSame(ended, event.command())) {
      refuse(event, Failure.Reason.REQUEST_ID_IN_USE, inUse(event));
      return;
    }
    Notice ending = RequestMatching.ending(ended, event.command());
    Effect told =
        new Effect.Tell(
            event.stream(), event.command().requestId(), lease.epoch(), ended.sequence(), ending);
    if (certain && ended.isLoss()) {
      core.emit(told);
    } else {
      ifOurs(event, lease, () -> core.emit(told));
    }
  }

  private void move(ClientEvent.Acquire event) {
    refuse(event, Failure.Reason.MOVED, CoreState.NO_CONTACT);
  }

  private static String inUse(ClientEvent.Acquire event) {
    return "request_id '"
        + event.command().requestId()
        + "' names another request of this lease, for other locks";
  }

  private void refuse(ClientEvent.Acquire event, Failure.Reason reason, String message) {
    refuse(event, new Failure(reason, message));
  }

  private void refuse(ClientEvent.Acquire event, Failure failure) {
    core.emit(new Effect.Refuse(event.stream(), event.command().requestId(), failure));
  }
}
