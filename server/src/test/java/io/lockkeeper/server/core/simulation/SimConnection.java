package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * One lock session as one coordinator knows it, with the connection that it has at the moment:
 * writes arrive and are answered in order, each late by chance. What is under way when the
 * connection breaks is in doubt: some of it was done. Every write checks the claim: after somebody
 * else has taken that, nothing is done.
 */
final class SimConnection {

  static final long TIMEOUT = 10 * Sim.SECOND;

  /** What the bound is short of the timeout: half a tick. */
  private static final long MARGIN = Sim.SECOND;

  /** What the connection is. */
  private enum Link {
    UP,
    /** Nothing gets through, and the client has not noticed. */
    SILENT,
    DOWN
  }

  /** One write. */
  private static final class Op {
    final Supplier<Optional<StoreEvent>> apply;
    final Supplier<Optional<StoreEvent>> whatCameOfIt;
    final boolean repeatable;
    long sentAt;
    boolean arrived;
    boolean deposed;
    Optional<StoreEvent> result = Optional.empty();

    Op(
        Supplier<Optional<StoreEvent>> apply,
        Supplier<Optional<StoreEvent>> whatCameOfIt,
        boolean repeatable) {
      this.apply = apply;
      this.whatCameOfIt = whatCameOfIt;
      this.repeatable = repeatable;
    }
  }

  /** Makes the event that says that the session is ours, from when that was proved. */
  interface Opening {
    SessionEvent opened(long provenAt, long attachedAt);
  }

  /** A proof, and when the coordinator heard of it. */
  private record Proof(long sentAt, long heardAt) {}

  private final Sim sim;
  private final SimCoordinator coordinator;
  private final SessionKey key;
  private final SimSession session;
  private final List<Op> outstanding = new ArrayList<>();
  private Optional<SimClaims.Claim> claim = Optional.empty();
  private int claimVersion;
  private Op first = new Op(Optional::empty, Optional::empty, false);
  private Opening opening =
      (provenAt, attachedAt) ->
          new SessionEvent.SessionProved(new SessionKey(0), provenAt, attachedAt);
  private Link link = Link.DOWN;
  private final SimTouches touches;
  private final List<Proof> proofs = new ArrayList<>();
  private boolean leaving;
  private boolean ended;
  private Optional<Promises> promises = Optional.empty();
  private int epoch;
  private long lastArrival;
  private long lastReply;
  private long lastPost;
  private long askedAt;
  private long attachedAt;
  private long touchedAt;

  SimConnection(Sim sim, SimCoordinator coordinator, SessionKey key, SimSession session) {
    this.sim = sim;
    this.coordinator = coordinator;
    this.key = key;
    this.session = session;
    touches = new SimTouches(sim, coordinator, session);
  }

  void open() {
    begin(
        () -> {
          sim.zooKeeper.barrier();
          if (claim.isEmpty()) {
            claim = Optional.of(sim.claims.make(session, coordinator));
          }
          return Optional.empty();
        },
        (at, attached) -> new SessionEvent.SessionOpened(key, TIMEOUT, at, attached));
    sim.after(sim.delay(500), () -> coordinator.take(this::reconnect));
  }

  /** Attaches to a session whose claim has just become ours, and takes stock of it. */
  void adopt(SimClaims.Claim taken, Supplier<Optional<StoreEvent>> stock, Opening asItWasFound) {
    claim = Optional.of(taken);
    claimVersion = taken.version;
    begin(stock, asItWasFound);
    sim.after(sim.delay(100), () -> coordinator.take(this::reconnect));
  }

  private void begin(Supplier<Optional<StoreEvent>> apply, Opening event) {
    first = new Op(apply, Optional::empty, true);
    outstanding.add(0, first);
    opening = event;
  }

  SimSession session() {
    return session;
  }

  boolean isEnded() {
    return ended;
  }

  /** Returns whether the session is this coordinator's, as ZooKeeper has it. */
  boolean isOurs() {
    return claim.filter(c -> c.version == claimVersion).isPresent();
  }

  /** Asks for a write that is repeated until it is certain. */
  void write(Supplier<Optional<StoreEvent>> apply, Supplier<Optional<StoreEvent>> whatCameOfIt) {
    ask(new Op(apply, whatCameOfIt, true));
  }

  /** Asks for a write that only proves that the session lives. */
  void prove() {
    if (sim.has(Sim.Mutant.PROOF_TAKEN_FOR_TOUCH) && sim.now - askedAt < TIMEOUT / 4) {
      return;
    }
    ask(
        new Op(
            () -> {
              sim.zooKeeper.barrier();
              return Optional.empty();
            },
            Optional::empty,
            false));
  }

  /** Closes the session: for good and for everybody, so nothing may be left on it. */
  void close() {
    write(
        () -> {
          SimRules.check(
              session.isEmpty(),
              () -> "a session is closed that owns " + session.nodes + session.leases.keySet());
          sim.zooKeeper.end(session);
          forgetClaim();
          return Optional.of(new SessionEvent.SessionEnded(key, false));
        },
        Optional::empty);
  }

  /** Takes what is to be recorded when the session is left. */
  void promises(Promises recorded) {
    promises = Optional.of(recorded);
  }

  /** Sends nothing more, and leaves the session within so many milliseconds. */
  void leave(int millis) {
    leaving = true;
    sim.after(sim.delay(millis), () -> coordinator.take(this::handOver));
  }

  /** Leaves the session: an empty one for good, another to whoever adopts it. */
  void handOver() {
    if (!ended) {
      if (promises.isPresent() && isOurs() && link == Link.UP && !sim.chance(10)) {
        applySomeOfWhatIsUnderWay();
        claim.orElseThrow().promises = promises;
        claim.orElseThrow().version = ++claimVersion;
      }
      boolean all = sim.has(Sim.Mutant.CLOSED_WHEN_LEFT);
      boolean wasEmpty = (all || session.isEmpty()) && isOurs();
      abandon();
      // What was under way may have filled it.
      boolean close = wasEmpty && (all || session.isEmpty());
      if (close) {
        sim.zooKeeper.end(session);
        forgetClaim();
      }
      coordinator.deliver(new SessionEvent.SessionEnded(key, !close));
    }
  }

  private void forgetClaim() {
    claim.filter(c -> isOurs()).ifPresent(sim.claims::remove);
  }

  /** What a client of ZooKeeper that only pings believes. */
  boolean looksConnected() {
    return link != Link.DOWN;
  }

  private void ask(Op op) {
    if (!ended) {
      askedAt = sim.now;
      outstanding.add(op);
      if (link == Link.UP) {
        send(op);
      }
    }
  }

  private void send(Op op) {
    if (leaving) {
      return;
    }
    op.sentAt = sim.now;
    op.arrived = false;
    int sentIn = epoch;
    lastArrival = Math.max(lastArrival, sim.now + sim.delay(150));
    sim.at(
        lastArrival,
        () -> {
          if (sentIn == epoch) {
            arrive(op);
          }
        });
  }

  private void arrive(Op op) {
    int arrivedIn = epoch;
    boolean alive = session.alive;
    applyTo(op);
    lastReply = Math.max(lastReply, sim.now + sim.delay(150));
    sim.at(
        lastReply,
        () -> {
          if (arrivedIn == epoch) {
            answered(op, alive);
          }
        });
  }

  private void applyTo(Op op) {
    op.arrived = true;
    touches.heard();
    op.deposed = claim.isPresent() && !isOurs() && !sim.has(Sim.Mutant.EPOCH_UNCHECKED);
    if (session.alive && !op.deposed) {
      op.result = op.apply.get();
    }
  }

  private void answered(Op op, boolean alive) {
    if (!alive || op.deposed) {
      end(alive);
      return;
    }
    outstanding.remove(op);
    long proof = op.sentAt + (sim.has(Sim.Mutant.PROOF_DATED_LATE) ? 5 * Sim.SECOND : 0);
    long attached = sim.has(Sim.Mutant.PROOF_TAKEN_FOR_TOUCH) ? proof : attachedAt;
    Runnable heard = () -> proved(proof, attached);
    if (op == first) {
      post(opening.opened(proof, attached), heard);
      return;
    }
    Optional<StoreEvent> result = op.result;
    if (result.filter(SessionEvent.SessionEnded.class::isInstance).isPresent()) {
      end(false);
      return;
    }
    post(new SessionEvent.SessionProved(key, proof, attached), heard);
    result.ifPresent(this::post);
  }

  /** The leader's clock was set at the earliest when what a follower must have told was sent. */
  private void proved(long sentAt, long attached) {
    proofs.add(new Proof(sentAt, sim.now));
    touchedAt = Math.max(touchedAt, attached);
    proofs.stream()
        .filter(proof -> proof.heardAt() + SimTouches.MOST_LAG <= sentAt)
        .forEach(proof -> touchedAt = Math.max(touchedAt, proof.sentAt()));
    proofs.removeIf(proof -> proof.sentAt() < touchedAt);
  }

  /** Returns whether the coordinator has to take the session for lost. */
  boolean isBoundLost() {
    return sim.now - touchedAt >= TIMEOUT - MARGIN - SimTouches.MOST_LAG / 8;
  }

  /** The session is gone, or somebody else's. */
  void end(boolean deposed) {
    if (!ended) {
      ended = true;
      disconnect();
      outstanding.clear();
      if (!session.alive) {
        forgetClaim();
      }
      post(new SessionEvent.SessionEnded(key, deposed));
    }
  }

  /** Events of one session stay in their order. */
  private void post(StoreEvent event) {
    post(event, () -> {});
  }

  private void post(StoreEvent event, Runnable heard) {
    lastPost = Math.max(lastPost, sim.now + (sim.chance(50) ? 0 : sim.delay(20)));
    sim.at(
        lastPost,
        () -> {
          coordinator.take(heard);
          coordinator.deliver(event);
        });
  }

  /** Breaks the connection; {@code noticed} later the client knows, and later still it is back. */
  void cut(long noticed, long back) {
    if (link != Link.UP || ended) {
      return;
    }
    link = Link.SILENT;
    epoch++;
    int cutIn = epoch;
    applySomeOfWhatIsUnderWay();
    touches.lose();
    sim.after(noticed, () -> coordinator.take(() -> onDisconnected(cutIn)));
    sim.after(noticed + back, () -> coordinator.take(this::reconnect));
  }

  /** The process has stood still and goes on; after too long a time the connection is gone. */
  void thaw(long nanos) {
    if (nanos > TIMEOUT * 2 / 3) {
      cut(0, sim.delay(1_000));
    }
  }

  /** Lets go of the connection: the session lives on until it expires. */
  void abandon() {
    ended = true;
    if (link == Link.UP) {
      applySomeOfWhatIsUnderWay();
    }
    disconnect();
  }

  private void disconnect() {
    epoch++;
    link = Link.DOWN;
    touches.lose();
  }

  private void applySomeOfWhatIsUnderWay() {
    for (Op op : new ArrayList<>(outstanding)) {
      if (!op.arrived && op.sentAt != 0) {
        if (sim.chance(40)) {
          return;
        }
        applyTo(op);
      }
    }
  }

  private void onDisconnected(int cutIn) {
    if (cutIn == epoch && link == Link.SILENT) {
      link = Link.DOWN;
      post(new SessionEvent.SessionSuspended(key));
    }
  }

  private void reconnect() {
    if (ended || link == Link.UP) {
      return;
    }
    if (!session.alive) {
      end(false);
      return;
    }
    epoch++;
    link = Link.UP;
    attachedAt = sim.now;
    touches.connect();
    lastArrival = sim.now;
    lastReply = sim.now;
    for (Op op : new ArrayList<>(outstanding)) {
      resolve(op);
    }
  }

  private void resolve(Op op) {
    Optional<StoreEvent> came = op.sentAt == 0 ? Optional.empty() : op.whatCameOfIt.get();
    if (came.isPresent()) {
      outstanding.remove(op);
      post(came.get());
    } else if (op.repeatable) {
      send(op);
    } else {
      outstanding.remove(op);
    }
  }
}
