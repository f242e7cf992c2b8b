package io.lockkeeper.server.core;

import java.util.List;
import java.util.Optional;

/** Opens leases, renews them, takes them over. */
final class Leases {

  private final World world;
  private final Sessions sessions;
  private final Acquisitions acquisitions;
  private final LeaseEndings endings;

  Leases(World world, Sessions sessions, Acquisitions acquisitions, LeaseEndings endings) {
    this.world = world;
    this.sessions = sessions;
    this.acquisitions = acquisitions;
    this.endings = endings;
  }

  /** Returns why no new lease can be taken now, or empty. */
  Optional<Failure> refusal() {
    if (world.draining) {
      return Optional.of(
          new Failure(Failure.Kind.UNAVAILABLE, "the coordinator is about to leave: ask another"));
    }
    if (!sessions.anyInContact()) {
      return Optional.of(
          new Failure(Failure.Kind.UNAVAILABLE, "the coordinator has no contact with ZooKeeper"));
    }
    if (world.leases.size() >= world.settings.maxLeases()) {
      return Optional.of(
          new Failure(
              Failure.Kind.TOO_MANY,
              "the coordinator serves its limit of " + world.settings.maxLeases() + " leases"));
    }
    return Optional.empty();
  }

  void open(ClientEvent.OpenLease event) {
    Optional<Failure> refusal = refusal();
    if (refusal.isPresent()) {
      world.reply(event.call(), new Answer.Failed(refusal.get()));
      return;
    }
    Optional<LockSession> session = sessions.forNewLease();
    if (session.isEmpty()) {
      world.fail(event.call(), Failure.Kind.TOO_MANY, tooManySessions());
      return;
    }
    Lease lease = Lease.opening(event, session.get().key());
    register(lease, session.get());
    session.get().addPathBytes(world.pathSizes.leaseBytes());
    lease.renew(world.now);
    armExpiry(lease);
    world.emit(
        new Effect.RecordLease(
            lease.session(),
            lease.id(),
            event.ttl().toMillis(),
            event.holder(),
            event.secretHash()));
  }

  String tooManySessions() {
    return "the coordinator has its limit of "
        + world.settings.maxSessions()
        + " ZooKeeper sessions, and all are full";
  }

  /** Makes a stream a lease. */
  Lease openForStream(LeaseId id, LockSession session, String holder) {
    Lease lease = Lease.ofStream(id, session.key(), holder);
    register(lease, session);
    return lease;
  }

  /** Takes a lease that another coordinator served before; returns it. */
  Lease adopt(Lease lease, LockSession session) {
    register(lease, session);
    if (!lease.isStream()) {
      session.addPathBytes(world.pathSizes.leaseBytes());
      lease.renew(world.now);
      armExpiry(lease);
    }
    return lease;
  }

  private void register(Lease lease, LockSession session) {
    world.leases.put(lease.id(), lease);
    world.leasesByTag.put(lease.id().high(), lease);
    session.leases().add(lease.id());
  }

  void onRecorded(LeaseId id) {
    find(id)
        .filter(lease -> lease.state() == Lease.State.RECORDING)
        .ifPresent(
            lease -> {
              lease.opened();
              lease
                  .takeOpener()
                  .ifPresent(
                      call ->
                          world.reply(
                              call,
                              new Answer.LeaseOpened(
                                  id, lease.ttlNanos(), acquisitions.validForNanos(lease))));
            });
  }

  void onRefused(StoreEvent.LeaseRefused event) {
    find(event.lease())
        .ifPresent(
            lease -> {
              lease
                  .takeOpener()
                  .ifPresent(call -> world.fail(call, Failure.Kind.STORE_REFUSED, event.message()));
              lease.erased();
              endings.end(lease, LeaseEnd.CLOSED);
            });
  }

  void onErased(LeaseId id) {
    find(id)
        .ifPresent(
            lease -> {
              lease.erased();
              endings.settle(lease);
            });
  }

  void keepAlive(ClientEvent.KeepAlive event) {
    Optional<Lease> lease = find(event.lease()).filter(l -> l.state() != Lease.State.RECORDING);
    if (lease.isEmpty()) {
      answerGone(event.call(), event.lease());
      return;
    }
    Lease open = lease.get();
    if (!open.isEnding() && !open.isStream() && open.deadlineNanos() - world.now <= 0) {
      endings.end(open, LeaseEnd.EXPIRED);
    }
    if (open.isEnding()) {
      answerEnding(event.call(), open);
      return;
    }
    open.renew(world.now);
    long validFor = acquisitions.validForNanos(open);
    if (validFor <= 0) {
      world.fail(
          event.call(), Failure.Kind.UNAVAILABLE, "the coordinator cannot vouch for the lease now");
    } else {
      world.reply(event.call(), new Answer.LeaseRenewed(validFor));
    }
  }

  /** Its end is not written yet: if the session is another's by now, the lease may live there. */
  private void answerEnding(CallId call, Lease lease) {
    Optional<LockSession> session = sessions.find(lease.session());
    if (session.isPresent()) {
      sessions.ask(
          session.get(),
          () -> world.reply(call, new Answer.LeaseGone(lease.end())),
          () -> world.fail(call, Failure.Kind.MOVED, World.NO_CONTACT));
    } else {
      world.fail(call, Failure.Kind.UNAVAILABLE, World.NO_CONTACT);
    }
  }

  private void answerGone(CallId call, LeaseId id) {
    Optional<LeaseEnd> end = Optional.ofNullable(world.endedLeases.get(id));
    if (end.isPresent()) {
      world.reply(call, new Answer.LeaseGone(end.get()));
    } else {
      world.fail(call, Failure.Kind.UNKNOWN_LEASE, unknown(id));
    }
  }

  /** Returns what to say of a lease that is not served here. */
  String unknown(LeaseId id) {
    return Optional.ofNullable(world.endedLeases.get(id))
        .map(end -> "lease " + id.tag() + "… has ended: " + end)
        .orElse("no lease with the id " + id.tag() + "… is served here");
  }

  void close(ClientEvent.CloseLease event) {
    Optional<Lease> found = find(event.lease());
    if (found.isPresent()) {
      found.get().closers().add(event.call());
      endings.end(found.get(), LeaseEnd.CLOSED);
    } else if (world.endedLeases.containsKey(event.lease())) {
      world.reply(event.call(), new Answer.LeaseClosed(true));
    } else {
      world.fail(event.call(), Failure.Kind.UNKNOWN_LEASE, unknown(event.lease()));
    }
  }

  /** Takes no more leases; those that are streams end, because their streams are about to. */
  void drain() {
    world.draining = true;
    world.leases.values().stream()
        .filter(lease -> lease.isStream() && !lease.isAdopted())
        .toList()
        .forEach(lease -> endings.end(lease, LeaseEnd.CLOSED));
  }

  /** Gives every lease back the time in which its keep-alives could not be read. */
  void onStalled(long nanos) {
    world.leases.values().stream()
        .filter(lease -> !lease.isStream() && !lease.isEnding())
        .forEach(lease -> lease.extend(nanos));
  }

  private void armExpiry(Lease lease) {
    lease.expiryTimer(Optional.of(world.timers.at(lease.deadlineNanos(), () -> expiryDue(lease))));
  }

  private void expiryDue(Lease lease) {
    if (lease.isEnding()) {
      return;
    }
    if (lease.deadlineNanos() - world.now > 0) {
      armExpiry(lease);
    } else {
      endings.end(lease, LeaseEnd.EXPIRED);
    }
  }

  /**
   * Returns the leases on a session. One that went to another coordinator and came back on another
   * session since is not among them.
   */
  List<Lease> on(LockSession session) {
    return session.leases().stream()
        .flatMap(id -> find(id).stream())
        .filter(lease -> lease.session().equals(session.key()))
        .toList();
  }

  Optional<Lease> find(LeaseId id) {
    return Optional.ofNullable(world.leases.get(id));
  }

  /** Returns a lease under which things can be done. */
  Optional<Lease> findOpen(LeaseId id) {
    Optional<Lease> lease = find(id);
    return lease.isPresent() && lease.get().state() == Lease.State.OPEN ? lease : Optional.empty();
  }
}
