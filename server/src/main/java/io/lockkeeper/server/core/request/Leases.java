package io.lockkeeper.server.core.request;

import io.lockkeeper.server.core.acquire.AcquisitionLifecycle;
import io.lockkeeper.server.core.acquire.AdoptionGrace;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LeaseName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionEvent;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Lease;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The life of leases: opened or adopted, renewed, attached to streams, ended, forgotten. */
public final class Leases {

  private static final String SECRET_USED =
      "the lease that was opened with this secret has ended: choose another secret";

  private final CoreState core;
  private final SessionPool pool;
  private final AcquisitionLifecycle lifecycle;
  private final AdoptionGrace grace;

  public Leases(
      CoreState core, SessionPool pool, AcquisitionLifecycle lifecycle, AdoptionGrace grace) {
    this.core = core;
    this.pool = pool;
    this.lifecycle = lifecycle;
    this.grace = grace;
  }

  /** Returns why no new lease can be taken now, or empty. */
  public Optional<Failure> refusal() {
    if (core.draining) {
      return Optional.of(
          new Failure(Failure.Reason.LEAVING, "the coordinator is about to leave: ask another"));
    }
    if (!pool.anyInContact()) {
      return Optional.of(
          new Failure(Failure.Reason.UNAVAILABLE, "the coordinator has no contact with ZooKeeper"));
    }
    if (core.leases.size() >= core.settings.maxLeases()) {
      return Optional.of(
          new Failure(
              Failure.Reason.TOO_MANY,
              "the coordinator serves its limit of " + core.settings.maxLeases() + " leases"));
    }
    return core.accounts.refusalOfLease(core.caller);
  }

  /**
   * Opens a lease on a session that has room for it, or finds the one that the same request has
   * opened.
   */
  public void open(ClientEvent.OpenLease event) {
    Optional<Lease> known = find(event.lease());
    if (known.isPresent() || core.endedLeases.containsKey(event.lease())) {
      openAgain(event, known);
      return;
    }
    Optional<Failure> refusal = refusal();
    if (refusal.isPresent()) {
      core.reply(event.call(), new Answer.Failed(refusal.get()));
      return;
    }
    Optional<LockSession> session = pool.forNewLease();
    if (session.isEmpty()) {
      core.fail(event.call(), Failure.Reason.TOO_MANY, tooManySessions());
      return;
    }
    Lease lease = Lease.opening(event, core.caller, session.get().key(), session.get().epoch());
    register(lease, session.get());
    lease.renew(core.now);
    armExpiry(lease);
    core.emit(
        new StoreEffect.RecordLease(
            lease.session(),
            lease.id(),
            event.ttl().toMillis(),
            event.holder(),
            event.secretHash(),
            lease.identity()));
  }

  /** The client has chosen the secret, and with it the id. */
  private void openAgain(ClientEvent.OpenLease event, Optional<Lease> known) {
    Optional<Lease> open = known.filter(lease -> lease.state() == Lease.State.OPEN);
    if (isForeign(event.lease())) {
      // Somebody else has chosen the same secret, or has had it stolen.
      core.fail(event.call(), Failure.Reason.SECRET_USED, SECRET_USED);
    } else if (open.filter(lease -> lease.hasSecret(event.secretHash())).isPresent()) {
      renew(open.get());
      core.reply(event.call(), opened(open.get()));
    } else if (known.filter(lease -> !lease.wasOpen()).isPresent()) {
      core.fail(
          event.call(), Failure.Reason.UNAVAILABLE, "the lease is being opened: send it again");
    } else {
      core.fail(event.call(), Failure.Reason.SECRET_USED, SECRET_USED);
    }
  }

  private Answer.LeaseOpened opened(Lease lease) {
    return new Answer.LeaseOpened(
        lease.id(), lease.ttlNanos(), lifecycle.validForNanos(lease), lease.epoch());
  }

  /** Says why no lease has room. */
  public String tooManySessions() {
    return "the coordinator has its limit of "
        + core.settings.maxSessions()
        + " ZooKeeper sessions, and all are full";
  }

  /** Makes a stream a lease. */
  public Lease openForStream(LeaseId id, LockSession session, String holder) {
    Lease lease = Lease.ofStream(id, core.caller, session.key(), session.epoch(), holder);
    register(lease, session);
    return lease;
  }

  /** Takes a lease that another coordinator served before; returns it. */
  public Lease adopt(Lease lease, LockSession session) {
    register(lease, session);
    if (!lease.isStream()) {
      if (!lease.isDeadlineKnown()) {
        lease.renew(core.now);
      }
      armExpiry(lease);
    }
    return lease;
  }

  private void register(Lease lease, LockSession session) {
    core.add(lease);
    session.add(lease, core.pathSizes.leaseBytes());
  }

  public void onRecorded(StoreEvent.LeaseRecorded event) {
    recordedOn(event.session(), event.lease()).ifPresent(this::onRecorded);
  }

  private void onRecorded(Lease lease) {
    lease.recordIsWritten();
    if (lease.isEnding()) {
      erase(lease);
    } else {
      lease.opened();
      lease.takeOpener().ifPresent(call -> core.reply(call, opened(lease)));
    }
  }

  public void onRefused(StoreEvent.LeaseRefused event) {
    recordedOn(event.session(), event.lease())
        .ifPresent(
            lease -> {
              Failure.Reason why = reasonOf(event);
              lease.takeOpener().ifPresent(call -> core.fail(call, why, event.message()));
              if (event.taken()) {
                // It lives at another coordinator: who wants it closed must ask there.
                lease.closers().forEach(call -> core.fail(call, why, event.message()));
                lease.closers().clear();
              }
              lease.erased();
              end(lease, LeaseEnd.CLOSED);
            });
  }

  private static Failure.Reason reasonOf(StoreEvent.LeaseRefused event) {
    if (event.taken()) {
      return Failure.Reason.MOVED;
    }
    return event.passing() ? Failure.Reason.UNAVAILABLE : Failure.Reason.STORE_REFUSED;
  }

  /**
   * Returns the lease that the store speaks of. The same lease may have come here on another
   * session meanwhile, where a client has asked two coordinators to open it and we have adopted the
   * other one's session.
   */
  private Optional<Lease> recordedOn(SessionKey session, LeaseId id) {
    return find(id).filter(lease -> lease.session().equals(session));
  }

  public void onErased(StoreEvent.LeaseErased event) {
    recordedOn(event.session(), event.lease())
        .ifPresent(
            lease -> {
              lease.erased();
              forgetIfOver(lease);
            });
  }

  /**
   * Renews a lease that has not ended. Its deadline may have passed: only a tick ends it, since a
   * pause of the process, whose time is given back, is noticed before each tick.
   */
  public void keepAlive(ClientEvent.KeepAlive event) {
    Optional<Lease> lease = named(event.lease()).filter(l -> l.state() != Lease.State.RECORDING);
    if (lease.isEmpty()) {
      answerGone(event.call(), event.lease());
      return;
    }
    Lease open = lease.get();
    if (open.isEnding()) {
      answerEnding(event.call(), open);
      return;
    }
    core.accounts.claim(open, core.caller);
    renew(open);
    long validFor = lifecycle.validForNanos(open);
    if (validFor <= 0) {
      core.fail(
          event.call(),
          Failure.Reason.UNAVAILABLE,
          "the coordinator cannot vouch for the lease now");
    } else {
      core.reply(event.call(), new Answer.LeaseRenewed(validFor, open.epoch()));
    }
  }

  /** Its end is not written yet: if the session is another's by now, the lease may live there. */
  private void answerEnding(CallId call, Lease lease) {
    Optional<LockSession> session = pool.find(lease.session());
    if (session.isPresent()) {
      pool.ask(
          session.get(),
          () -> core.reply(call, new Answer.LeaseGone(lease.end())),
          () -> core.fail(call, Failure.Reason.MOVED, CoreState.NO_CONTACT));
    } else {
      core.fail(call, Failure.Reason.UNAVAILABLE, CoreState.NO_CONTACT);
    }
  }

  private void answerGone(CallId call, LeaseId id) {
    Optional<CoreState.EndedLease> ended = Optional.ofNullable(core.endedLeases.get(id));
    if (ended.isPresent() && !isForeign(id)) {
      core.reply(call, new Answer.LeaseGone(ended.get().end()));
    } else {
      core.reply(call, new Answer.Failed(unknown(id)));
    }
  }

  /**
   * Returns what to say of a lease that is not served here, or not to the caller: he is not told
   * that there is one.
   */
  public Failure unknown(LeaseId id) {
    if (isForeign(id)) {
      // What is said where all coordinators were asked.
      return new Failure(Failure.Reason.FOREIGN_LEASE, Failure.nobodyServes(id.tag()));
    }
    return new Failure(
        Failure.Reason.UNKNOWN_LEASE,
        Optional.ofNullable(core.endedLeases.get(id))
            .map(ended -> "lease " + id.tag() + "… has ended: " + ended.end())
            .orElse("no lease with the id " + id.tag() + "… is served here"));
  }

  /** Returns whether a lease is, or was as far as is remembered, somebody else's. */
  private boolean isForeign(LeaseId id) {
    Optional<Lease> known = find(id);
    if (known.isPresent()) {
      return !known.get().isUsableBy(core.caller);
    }
    return Optional.ofNullable(core.endedLeases.get(id))
        .map(CoreState.EndedLease::identity)
        .filter(
            identity ->
                !identity.isEmpty()
                    && !identity.equals(core.caller.identity())
                    && !core.caller.operator())
        .isPresent();
  }

  /** Ends a lease at the wish of its client. */
  public void close(ClientEvent.CloseLease event) {
    Optional<Lease> found = named(event.lease());
    if (found.isPresent()) {
      found.get().closers().add(event.call());
      end(found.get(), LeaseEnd.CLOSED);
    } else if (core.endedLeases.containsKey(event.lease()) && !isForeign(event.lease())) {
      core.reply(event.call(), new Answer.LeaseClosed(true));
    } else {
      core.reply(event.call(), new Answer.Failed(unknown(event.lease())));
    }
  }

  /** Ends a lease at the wish of an operator. */
  public void closeByForce(ClientEvent.ForceCloseLease event) {
    Optional<Lease> found = find(event.lease());
    if (found.isPresent()) {
      found.get().closers().add(event.call());
      end(found.get(), LeaseEnd.FORCED, byForce(event.reason()));
    } else if (event.lease() instanceof LeaseName.ById named
        && core.endedLeases.containsKey(named.id())) {
      core.reply(event.call(), new Answer.LeaseClosed(true));
    } else {
      core.fail(
          event.call(),
          Failure.Reason.UNKNOWN_LEASE,
          "no lease " + event.lease().tag() + "… is served here");
    }
  }

  private static String byForce(String reason) {
    return "an operator closed the lease" + (reason.isEmpty() ? "" : ": " + reason);
  }

  private Optional<Lease> find(LeaseName name) {
    return name instanceof LeaseName.ByTag tagged
        ? Optional.ofNullable(core.leasesByTag.get(tagged.high()))
        : find(((LeaseName.ById) name).id());
  }

  /** Takes no more leases; those that are streams end, because their streams are about to. */
  public void drain() {
    core.draining = true;
    core.leases.values().stream()
        .filter(lease -> lease.isStream() && !lease.isAdopted())
        .toList()
        .forEach(
            lease -> {
              acquisitionsOf(lease).forEach(this::askElsewhere);
              end(lease, LeaseEnd.COORDINATOR_LEFT);
            });
  }

  private void renew(Lease lease) {
    if (!core.leaving) {
      lease.renew(core.now);
    }
  }

  /** Rejects a request that has no ending yet: its client sends it to another coordinator. */
  private void askElsewhere(Acquisition waiter) {
    if (waiter.state().isWaiting() || waiter.state().ending().isPresent()) {
      lifecycle.refuse(
          waiter,
          new Failure(
              Failure.Reason.LEAVING, "the coordinator is about to leave: send the request again"));
    }
  }

  /** Gives every lease back the time in which its keep-alives could not be read. */
  public void onStalled(long nanos) {
    core.leases.values().stream()
        .filter(lease -> !lease.isStream() && !lease.isEnding() && !core.leaving)
        .forEach(lease -> lease.extend(nanos));
  }

  private void armExpiry(Lease lease) {
    lease.expiryTimer(Optional.of(core.timers.at(lease.deadlineNanos(), () -> expiryDue(lease))));
  }

  private void expiryDue(Lease lease) {
    if (lease.isEnding()) {
      return;
    }
    if (lease.deadlineNanos() - core.now > 0) {
      armExpiry(lease);
    } else {
      end(lease, LeaseEnd.EXPIRED);
    }
  }

  /**
   * Returns the leases on a session. One that went to another coordinator and came back on another
   * session since is not among them.
   */
  public List<Lease> on(LockSession session) {
    return session.leases().stream()
        .flatMap(id -> find(id).stream())
        .filter(lease -> lease.session().equals(session.key()))
        .toList();
  }

  public Optional<Lease> find(LeaseId id) {
    return Optional.ofNullable(core.leases.get(id));
  }

  /** Returns a lease that the caller names, if he may use it. */
  public Optional<Lease> named(LeaseId id) {
    return find(id).filter(found -> found.isUsableBy(core.caller));
  }

  /** Returns a lease that the caller names and under which things can be done. */
  public Optional<Lease> findOpen(LeaseId id) {
    Optional<Lease> lease = named(id);
    return lease.isPresent() && lease.get().state() == Lease.State.OPEN ? lease : Optional.empty();
  }

  /** Makes a stream the one that hears of a lease. */
  public void attach(ClientEvent.AttachLease event) {
    Optional<Lease> found = findOpen(event.lease());
    if (found.isEmpty()) {
      core.reply(event.call(), new Answer.Failed(unknown(event.lease())));
      return;
    }
    Lease lease = found.get();
    if (!lease.hasSecret(event.secretHash())) {
      core.fail(event.call(), Failure.Reason.WRONG_SECRET, "the secret is not the lease's");
      return;
    }
    core.accounts.claim(lease, core.caller);
    lease.stream()
        .ifPresent(
            old -> {
              core.streams.remove(old);
              core.emit(new Effect.Supersede(old));
            });
    lease.acquisitions().values().forEach(acquisition -> acquisition.cameBack(core.now));
    grace.attendAll(lease);
    lease.attach(Optional.of(event.stream()));
    core.streams.put(event.stream(), new CoreState.Subscriber.ForLease(lease));
    renew(lease);
    core.reply(
        event.call(),
        new Answer.LeaseAttached(
            lease.id(), lease.ttlNanos(), lifecycle.validForNanos(lease), lease.epoch()));
    retell(lease, event.stream());
  }

  private void retell(Lease lease, StreamId stream) {
    tellEndings(lease, stream, lease.losses());
    List<Acquisition> told = new ArrayList<>(lease.acquisitions().values());
    told.removeIf(acquisition -> acquisition.stream().isPresent());
    List<Acquisition> ended =
        told.stream()
            .filter(acquisition -> acquisition.lastNotice().filter(Notice::isFinal).isPresent())
            .toList();
    told.removeAll(ended);
    told.forEach(lifecycle::replay);
    if (!ended.isEmpty() || lease.hasUnheardEndings()) {
      retellEnded(lease, stream, ended);
    }
  }

  private void tellEndings(Lease lease, StreamId stream, List<Lease.Ended> endings) {
    for (Lease.Ended ended : endings) {
      String requestId = ended.command().requestId();
      if (!lease.acquisitions().containsKey(requestId)) {
        core.emit(
            new Effect.Tell(stream, requestId, lease.epoch(), ended.sequence(), ended.notice()));
      }
    }
  }

  /**
   * Tells endings after a proof of the session. Another coordinator may have it by now: these
   * acquisitions, whose deletions are not certain yet, may be held there, and requests that ended
   * here unheard may have been queued there again.
   */
  private void retellEnded(Lease lease, StreamId stream, List<Acquisition> ended) {
    Runnable replay =
        () ->
            lease.stream()
                .filter(stream::equals)
                .ifPresent(
                    still -> {
                      tellEndings(lease, stream, lease.takeUnheardEndings());
                      ended.forEach(lifecycle::replay);
                    });
    pool.find(lease.session()).ifPresent(session -> pool.ask(session, replay, () -> {}));
  }

  /** Ends a lease with all that it holds. */
  public void end(Lease lease, LeaseEnd why) {
    end(lease, why, "");
  }

  private void end(Lease lease, LeaseEnd why, String message) {
    if (!lease.isEnding()) {
      // What held is lost, and what waited is withdrawn: so each must know which it is.
      grace.attendAll(lease);
    }
    if (beginEnd(lease, why)) {
      acquisitionsOf(lease).forEach(acquisition -> lifecycle.leaseEnded(acquisition, why, message));
      tellEnd(lease, why, message);
      erase(lease);
    }
    forgetIfOver(lease);
  }

  /** Before it is known that the record is written, it may turn out to be another session's. */
  private void erase(Lease lease) {
    if (lease.isRecorded() && lease.isRecordWritten()) {
      pool.erase(lease);
    }
  }

  /**
   * Ends a lease whose session cannot be proved alive. What it owns is deleted as soon as that is
   * possible and still ours to do.
   */
  public void loseBound(Lease lease) {
    if (beginEnd(lease, LeaseEnd.SESSION_LOST)) {
      acquisitionsOf(lease).forEach(t -> lifecycle.apply(t, new AcquisitionEvent.BoundLost()));
      tellEnd(lease, LeaseEnd.SESSION_LOST);
      erase(lease);
    }
    forgetIfOver(lease);
  }

  /** Ends a lease whose session is gone. */
  public void loseSession(Lease lease) {
    boolean first = beginEnd(lease, LeaseEnd.SESSION_LOST);
    lease.erased();
    acquisitionsOf(lease).forEach(t -> lifecycle.apply(t, new AcquisitionEvent.SessionGone()));
    if (first) {
      tellEnd(lease, LeaseEnd.SESSION_LOST);
    }
    forgetIfOver(lease);
  }

  private boolean beginEnd(Lease lease, LeaseEnd why) {
    if (lease.isEnding()) {
      return false;
    }
    if (lease.wasOpen()) {
      // One that was never open may be open elsewhere, or be opened by the same request yet.
      core.endedLeases.put(lease.id(), new CoreState.EndedLease(why, lease.identity()));
    }
    lease.ending(why);
    lease.expiryTimer().ifPresent(core.timers::cancel);
    lease
        .takeOpener()
        .ifPresent(
            call -> core.fail(call, Failure.Reason.UNAVAILABLE, "the lease could not be recorded"));
    return true;
  }

  private void tellEnd(Lease lease, LeaseEnd why) {
    tellEnd(lease, why, "");
  }

  private void tellEnd(Lease lease, LeaseEnd why, String message) {
    lease.stream()
        .ifPresent(
            stream -> {
              core.streams.remove(stream);
              core.emit(new Effect.TellLeaseEnd(stream, why, message));
            });
    lease.attach(Optional.empty());
  }

  private static List<Acquisition> acquisitionsOf(Lease lease) {
    return new ArrayList<>(lease.acquisitions().values());
  }

  /** Forgets the lease if nothing of it is left. */
  public void forgetIfOver(Lease lease) {
    if (lease.isStream() && lease.acquisitions().isEmpty()) {
      beginEnd(lease, LeaseEnd.CLOSED);
    }
    if (!lease.isEnding() || !lease.acquisitions().isEmpty() || lease.isRecorded()) {
      return;
    }
    if (core.remove(lease)) {
      lease.closers().forEach(call -> core.reply(call, new Answer.LeaseClosed(false)));
      pool.find(lease.session()).ifPresent(session -> leaveSession(lease, session));
    }
  }

  private void leaveSession(Lease lease, LockSession session) {
    session.remove(lease, core.pathSizes.leaseBytes());
    pool.closeEmpty(session);
  }
}
