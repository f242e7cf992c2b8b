package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.Kernel;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.ClientRequest;
import io.lockkeeper.server.core.api.CoreCounts;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.LifecycleEvent;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.TimeEvent;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.PathSizes;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.state.AccountsCheck;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** A real kernel in a process that pauses, dies, leaves, and begins anew. */
final class SimCoordinator {

  private static final PathSizes SIZES =
      new PathSizes() {
        @Override
        public int entryBytes(LockName lock, Mode mode) {
          return 100;
        }

        @Override
        public int leaseBytes() {
          return 50;
        }
      };

  /** How long it waits when it leaves for what is to be deleted. */
  private static final int SETTLING_MILLIS = 1_500;

  /** How long the handover of its sessions may take. */
  private static final int HAND_OVER_MILLIS = 2_000;

  final Kernel kernel;
  final Map<SessionKey, SimConnection> connections = new LinkedHashMap<>();
  final Map<UUID, SimHolds.Life> lives = new LinkedHashMap<>();
  final Set<SimLink> links = new LinkedHashSet<>();
  final SimMirrorFeed feed;
  final SimMember member;
  final SimPeers peers;

  /** Where it keeps its state, zero for nowhere: whoever begins there next knows it is dead. */
  final int home;

  boolean mirrorIsCurrent;

  /** The newest transaction that the mirror has heard of. */
  long seenZxid;

  /** Whether its process is spared, so that it has time to gather what it should forget. */
  boolean lasts;

  /** Whether its process is gone. */
  boolean crashed;

  /** What the events that it has taken say is frozen. */
  final Set<String> frozen = new LinkedHashSet<>();

  private final Sim sim;
  private final int number;
  private final SimEffects effects;
  private final SimSaboteur saboteur;
  private final SimContention contention;
  private final CoreSettings settings;
  private final List<Runnable> unread = new ArrayList<>();
  private boolean started;
  private boolean paused;
  private boolean leaving;
  private long cutFromClientsUntil;
  private long armedFor = Long.MIN_VALUE;

  SimCoordinator(Sim sim, CoreSettings settings, int home) {
    this.sim = sim;
    this.settings = settings;
    this.home = home;
    this.number = (int) sim.name();
    this.kernel = new Kernel(settings, SIZES);
    this.feed = new SimMirrorFeed(sim, this);
    this.member = new SimMember(sim, this);
    this.peers = new SimPeers(sim, this);
    this.effects = new SimEffects(sim, this);
    this.saboteur = new SimSaboteur(sim, this);
    this.contention = new SimContention(sim, this);
  }

  void start() {
    started = true;
    member.start();
    kernel.start(sim.now).forEach(effect -> effect.applyTo(effects));
    // Somebody watches all of it, so that others' entries are read.
    kernel
        .on(new ClientEvent.WatchBegan(Set.of(), ""), sim.now)
        .forEach(effect -> effect.applyTo(effects));
    feed.start();
    peers.start();
  }

  /** Takes an event, now or when the pause is over. */
  void deliver(Event event) {
    take(() -> step(event));
  }

  /** Takes an event of the mirror, which has then seen everything up to a transaction. */
  void deliver(StoreEvent event, long zxid) {
    take(
        () -> {
          seenZxid = zxid;
          step(event);
        });
  }

  /** Does something in the process: now, when the pause is over, or never. */
  void take(Runnable step) {
    if (crashed) {
      return;
    }
    if (paused) {
      unread.add(step);
    } else {
      step.run();
    }
  }

  private void step(Event taken) {
    Event event = taken instanceof ClientRequest asked ? asked.request() : taken;
    sim.note(this, event);
    if (event instanceof StoreEvent.MirrorStale) {
      mirrorIsCurrent = false;
    } else if (event instanceof StoreEvent.MirrorCurrent) {
      mirrorIsCurrent = true;
    }
    sim.freezes.onTaken(this, event);
    sim.rules.beforeStep(this, event);
    sim.losses.beforeStep(this, event);
    sim.known.beforeStep(this, event);
    contention.beforeStep(event);
    saboteur.beforeStep(event);
    List<Effect> wanted = kernel.on(saboteur.changed(taken), sim.now);
    saboteur.afterStep();
    AccountsCheck.check(kernel.core);
    sim.holds.afterStep(this);
    contention.afterStep(wanted);
    sim.known.afterStep(this, event);
    sim.losses.afterStep(this, event);
    boolean keepLate =
        sim.has(Sim.Mutant.LATE_CREATE_KEPT) && event instanceof StoreEvent.EntriesCreated;
    for (Effect each : saboteur.hastened(wanted)) {
      Effect effect = saboteur.changed(each);
      if (keepLate && effect instanceof StoreEffect.DeleteEntries delete) {
        sim.after(1, () -> deliver(new StoreEvent.EntriesDeleted(delete.id())));
      } else {
        effect.applyTo(effects);
      }
    }
    kernel.nextDeadline().ifPresent(this::arm);
  }

  private void arm(long deadline) {
    if (deadline != armedFor) {
      armedFor = deadline;
      sim.at(deadline, () -> tick(deadline));
    }
  }

  private void tick(long deadline) {
    if (deadline == armedFor) {
      armedFor = Long.MIN_VALUE;
      connections.forEach(this::pretendProof);
      deliver(new TimeEvent.Tick());
    }
  }

  private void pretendProof(SessionKey key, SimConnection connection) {
    if (sim.has(Sim.Mutant.BOUND_IGNORED)
        || (sim.has(Sim.Mutant.PINGS_COUNT_AS_PROOFS) && connection.looksConnected())) {
      deliver(new SessionEvent.SessionProved(key, sim.now, sim.now));
    }
  }

  /** Returns whether it says that it can renew leases. */
  boolean isServing() {
    return started
        && !crashed
        && !paused
        && kernel.counts(sim.now).sessions().stream().anyMatch(CoreCounts.SessionCounts::sure);
  }

  boolean isPaused() {
    return paused;
  }

  /** The process stands still for a while; what arrives is read afterwards. */
  void pause(long nanos) {
    if (paused || crashed || !started) {
      return;
    }
    sim.note(this, "pauses");
    paused = true;
    member.vanishUnlessBack();
    List.copyOf(links).forEach(SimLink::stall);
    sim.after(nanos, () -> goOn(nanos));
  }

  private void goOn(long nanos) {
    paused = false;
    if (crashed) {
      return;
    }
    member.cut(0);
    connections.values().forEach(connection -> connection.thaw(nanos));
    if (nanos > SimConnection.TIMEOUT * 2 / 3) {
      feed.cut(0, sim.delay(1_000));
    }
    if (nanos > 500 * Sim.MILLI) {
      step(new TimeEvent.Stalled(nanos));
    }
    List<Runnable> arrived = List.copyOf(unread);
    unread.clear();
    arrived.forEach(this::take);
    deliver(new TimeEvent.Tick());
  }

  /** ZooKeeper is out of reach, and nothing else is. */
  void cutFromZooKeeper(long noticed, long back) {
    if (!started) {
      return;
    }
    sim.note(this, "cut off");
    connections.values().forEach(connection -> connection.cut(noticed, back));
    feed.cut(noticed, back);
    member.cut(noticed + back);
  }

  /** Clients are out of reach, and nothing else is. */
  void cutFromClients(long nanos) {
    cutFromClientsUntil = sim.now + nanos;
    List.copyOf(links).forEach(SimLink::cut);
  }

  boolean refusesConnections() {
    return !started || leaving || sim.now < cutFromClientsUntil;
  }

  /** The process dies; another takes its place, and knows nothing. */
  void crash() {
    if (!started || lasts) {
      return;
    }
    die();
    List.copyOf(links).stream()
        .filter(link -> sim.chance(10))
        .forEach(link -> link.client.vanish());
  }

  private void dieHandingOn() {
    if (sim.chaos && !crashed) {
      crash();
    }
  }

  private void die() {
    sim.note(this, "dies");
    crashed = true;
    member.vanishUnlessBack();
    connections.values().forEach(SimConnection::abandon);
    sim.coordinators.remove(this);
    sim.ended.add(this);
    List.copyOf(links).forEach(SimLink::die);
    feed.stop();
    SimCoordinator next = new SimCoordinator(sim, settings, home);
    sim.coordinators.add(next);
    // A process takes longer to start than the end of a connection to be noticed.
    sim.after(SimLink.NOTICED_MILLIS * Sim.MILLI + sim.delay(4_000), next::start);
  }

  /** It leaves in good order: gives everything to its peers, and ends. */
  void drain() {
    if (started && !leaving && !paused && !crashed && !lasts) {
      leaving = true;
      step(new LifecycleEvent.Draining());
      sim.after(sim.delay(SETTLING_MILLIS), () -> take(this::leave));
    }
  }

  private void leave() {
    step(new LifecycleEvent.Leaving());
    // A slow ZooKeeper makes the handover slow, and clients and events come meanwhile.
    int millis = sim.chance(50) ? 100 : HAND_OVER_MILLIS;
    List.copyOf(connections.values()).forEach(connection -> connection.leave(millis));
    sim.after(millis * Sim.MILLI, () -> take(this::endLeaving));
  }

  private void endLeaving() {
    List.copyOf(connections.values()).forEach(SimConnection::handOver);
    member.leave();
    sim.after(sim.delay(500), () -> take(this::die));
  }

  /** A client's message arrives. */
  void fromClient(SimLink link, ClientEvent event) {
    if (!crashed) {
      effects.expect(link, event);
      sim.rules.expectAnswers(event, this);
      deliver(new ClientRequest(link.client.caller, event));
      if (event instanceof ClientEvent.Release && sim.diesHandingOn && sim.chance(5)) {
        sim.after(sim.delay(200), this::dieHandingOn);
      }
    }
  }

  /** Returns whether the client of a request wants it no more. */
  boolean wasLeft(String requestId) {
    return sim.requests.get(requestId).left;
  }

  SimConnection on(SessionKey key) {
    return connections.get(key);
  }

  /** Returns whether a session is this coordinator's still, as ZooKeeper has it. */
  boolean serves(SimSession session) {
    return !crashed && sim.claims.of(session).filter(claim -> claim.owner == this).isPresent();
  }

  @Override
  public String toString() {
    return "c" + number;
  }
}
