package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * One lock session of one coordinator, with the connection that it has at the moment: writes arrive
 * and are answered in order, each late by chance. What is under way when the connection breaks is
 * in doubt: some of it was done.
 */
final class SimConnection {

  static final long TIMEOUT = 10 * Sim.SECOND;

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

  private final Sim sim;
  private final SimCoordinator coordinator;
  private final SessionKey key;
  private final SimZooKeeper.Session session = new SimZooKeeper.Session();
  private final List<Op> outstanding = new ArrayList<>();
  private Op openClaim = new Op(Optional::empty, Optional::empty, false);
  private Link link = Link.DOWN;
  private boolean ended;
  private int epoch;
  private long lastArrival;
  private long lastReply;
  private long lastPost;

  SimConnection(Sim sim, SimCoordinator coordinator, SessionKey key) {
    this.sim = sim;
    this.coordinator = coordinator;
    this.key = key;
  }

  void open() {
    Op claim =
        new Op(
            () -> {
              sim.zooKeeper.barrier();
              return Optional.empty();
            },
            Optional::empty,
            true);
    outstanding.add(0, claim);
    openClaim = claim;
    sim.after(sim.delay(500), this::reconnect);
  }

  SimZooKeeper.Session session() {
    return session;
  }

  /** Asks for a write that is repeated until it is certain. */
  void write(Supplier<Optional<StoreEvent>> apply, Supplier<Optional<StoreEvent>> whatCameOfIt) {
    ask(new Op(apply, whatCameOfIt, true));
  }

  /** Asks for a write that only proves that the session lives. */
  void prove() {
    ask(
        new Op(
            () -> {
              sim.zooKeeper.barrier();
              return Optional.empty();
            },
            Optional::empty,
            false));
  }

  void close() {
    write(
        () -> {
          sim.zooKeeper.end(session);
          return Optional.of(new SessionEvent.SessionEnded(key, false));
        },
        Optional::empty);
  }

  /** What a client of ZooKeeper that only pings believes. */
  boolean looksConnected() {
    return link != Link.DOWN;
  }

  private void ask(Op op) {
    if (!ended) {
      outstanding.add(op);
      if (link == Link.UP) {
        send(op);
      }
    }
  }

  private void send(Op op) {
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
    if (session.alive) {
      op.result = op.apply.get();
    }
  }

  private void answered(Op op, boolean alive) {
    if (!alive) {
      end();
      return;
    }
    outstanding.remove(op);
    long provenAt = op.sentAt + (sim.has(Sim.Mutant.PROOF_DATED_LATE) ? 5 * Sim.SECOND : 0);
    if (op == openClaim) {
      post(new SessionEvent.SessionOpened(key, TIMEOUT, provenAt));
      return;
    }
    Optional<StoreEvent> result = op.result;
    if (result.filter(SessionEvent.SessionEnded.class::isInstance).isPresent()) {
      end();
      return;
    }
    post(new SessionEvent.SessionProved(key, provenAt));
    result.ifPresent(this::post);
  }

  private void end() {
    if (!ended) {
      ended = true;
      epoch++;
      link = Link.DOWN;
      outstanding.clear();
      post(new SessionEvent.SessionEnded(key, false));
    }
  }

  /** Events of one session stay in their order. */
  private void post(StoreEvent event) {
    lastPost = Math.max(lastPost, sim.now + (sim.chance(50) ? 0 : sim.delay(20)));
    sim.at(lastPost, () -> coordinator.deliver(event));
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
    // The last that the server heard was at the latest now.
    sim.after(TIMEOUT, () -> expireUnlessBack(cutIn));
    sim.after(noticed, () -> onDisconnected(cutIn));
    sim.after(noticed + back, this::reconnect);
  }

  /** The coordinator is gone: the session lives on until it expires. */
  void abandon() {
    ended = true;
    if (link == Link.UP) {
      epoch++;
      int cutIn = epoch;
      applySomeOfWhatIsUnderWay();
      link = Link.DOWN;
      sim.after(TIMEOUT, () -> expireUnlessBack(cutIn));
    }
  }

  private void applySomeOfWhatIsUnderWay() {
    for (Op op : new ArrayList<>(outstanding)) {
      if (!op.arrived) {
        if (sim.chance(40)) {
          return;
        }
        applyTo(op);
      }
    }
  }

  private void expireUnlessBack(int cutIn) {
    if (cutIn == epoch) {
      sim.zooKeeper.end(session);
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
      end();
      return;
    }
    epoch++;
    link = Link.UP;
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
