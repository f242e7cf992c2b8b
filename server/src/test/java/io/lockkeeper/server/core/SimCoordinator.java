package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** A real kernel, with everything around it simulated. */
final class SimCoordinator implements EffectHandler {

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

  final Kernel kernel;
  final Map<SessionKey, SimConnection> connections = new LinkedHashMap<>();
  final Map<UUID, SimHolds.Life> lives = new LinkedHashMap<>();
  final SimMirrorFeed feed;
  boolean mirrorIsCurrent;

  /** The newest transaction that the mirror has heard of. */
  long seenZxid;

  boolean crashed;
  private final Sim sim;
  private final SimStore store;
  private final SimSaboteur saboteur;
  private final CoreSettings settings;
  private final Map<StreamId, SimClient> streams = new HashMap<>();
  private final Map<CallId, SimClient> calls = new HashMap<>();
  private final Map<StreamId, Long> lastDown = new HashMap<>();
  private final List<Runnable> unread = new ArrayList<>();
  private boolean paused;
  private long armedFor = Long.MIN_VALUE;

  SimCoordinator(Sim sim, CoreSettings settings) {
    this.sim = sim;
    this.settings = settings;
    this.kernel = new Kernel(settings, SIZES);
    this.feed = new SimMirrorFeed(sim, this);
    this.store = new SimStore(sim, this);
    this.saboteur = new SimSaboteur(sim, this);
  }

  void start() {
    kernel.start(sim.now).forEach(effect -> effect.applyTo(this));
    feed.start();
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

  private void take(Runnable step) {
    if (crashed) {
      return;
    }
    if (paused) {
      unread.add(step);
    } else {
      step.run();
    }
  }

  private void step(Event event) {
    sim.note(event);
    if (event instanceof StoreEvent.MirrorStale) {
      mirrorIsCurrent = false;
    } else if (event instanceof StoreEvent.MirrorCurrent) {
      mirrorIsCurrent = true;
    }
    sim.rules.beforeStep(this, event);
    saboteur.beforeStep(event);
    List<Effect> effects = kernel.on(saboteur.changed(event), sim.now);
    saboteur.afterStep();
    sim.holds.afterStep(this);
    boolean keepLate =
        sim.has(Sim.Mutant.LATE_CREATE_KEPT) && event instanceof StoreEvent.EntriesCreated;
    for (Effect each : effects) {
      Effect effect = saboteur.changed(each);
      if (keepLate && effect instanceof Effect.DeleteEntries delete) {
        sim.after(1, () -> deliver(new StoreEvent.EntriesDeleted(delete.id())));
      } else {
        effect.applyTo(this);
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
      deliver(new SessionEvent.SessionProved(key, sim.now));
    }
  }

  /** The process stands still for a while; what arrives is read afterwards. */
  void pause(long nanos) {
    if (paused || crashed) {
      return;
    }
    paused = true;
    sim.after(
        nanos,
        () -> {
          paused = false;
          if (crashed) {
            return;
          }
          if (nanos > 500 * Sim.MILLI) {
            step(new TimeEvent.Stalled(nanos));
          }
          List<Runnable> arrived = List.copyOf(unread);
          unread.clear();
          arrived.forEach(Runnable::run);
          step(new TimeEvent.Tick());
        });
  }

  /** The process dies; another takes its place, and knows nothing. */
  void crash() {
    crashed = true;
    connections.values().forEach(SimConnection::abandon);
    sim.coordinators.remove(this);
    SimCoordinator next = new SimCoordinator(sim, settings);
    sim.coordinators.add(next);
    next.start();
    sim.clients.stream()
        .filter(client -> client.coordinator() == this)
        .forEach(client -> sim.after(sim.delay(300), client::onCoordinatorGone));
  }

  /** A client's message arrives. */
  void fromClient(SimClient client, ClientEvent event) {
    if (crashed) {
      return;
    }
    if (event instanceof ClientEvent.Acquire acquire) {
      streams.put(acquire.stream(), client);
    } else if (event instanceof ClientEvent.AttachLease attach) {
      streams.put(attach.stream(), client);
    }
    deliver(event);
  }

  void expectAnswer(CallId call, SimClient client) {
    calls.put(call, client);
  }

  private void down(StreamId stream, Runnable message) {
    long at = Math.max(lastDown.getOrDefault(stream, 0L), sim.now + sim.delay(250));
    lastDown.put(stream, at);
    sim.at(at, message);
  }

  SimConnection on(SessionKey key) {
    return Optional.ofNullable(connections.get(key)).orElseThrow();
  }

  @Override
  public void openSession(SessionEffect.OpenSession effect) {
    SimConnection connection = new SimConnection(sim, this, effect.session());
    connections.put(effect.session(), connection);
    connection.open();
  }

  @Override
  public void closeSession(SessionEffect.CloseSession effect) {
    on(effect.session()).close();
  }

  @Override
  public void proveSession(SessionEffect.ProveSession effect) {
    on(effect.session()).prove();
  }

  @Override
  public void createEntries(Effect.CreateEntries effect) {
    store.create(on(effect.session()), effect);
  }

  @Override
  public void deleteEntries(Effect.DeleteEntries effect) {
    store.delete(on(effect.session()), effect);
  }

  @Override
  public void recordLease(Effect.RecordLease effect) {
    SimConnection connection = on(effect.session());
    connection.write(
        () -> {
          if (sim.chance(2)) {
            return Optional.of(new StoreEvent.LeaseRefused(effect.lease(), "refused by chance"));
          }
          sim.zooKeeper.recordLease(connection.session(), effect.lease());
          return Optional.of(new StoreEvent.LeaseRecorded(effect.lease()));
        },
        () ->
            connection.session().leases.contains(effect.lease())
                ? Optional.of(new StoreEvent.LeaseRecorded(effect.lease()))
                : Optional.empty());
  }

  @Override
  public void eraseLease(Effect.EraseLease effect) {
    SimConnection connection = on(effect.session());
    connection.write(
        () -> {
          sim.zooKeeper.eraseLease(connection.session(), effect.lease());
          return Optional.of(new StoreEvent.LeaseErased(effect.lease()));
        },
        Optional::empty);
  }

  @Override
  public void barrier(Effect.Barrier effect) {
    feed.barrier(effect.barrier());
  }

  @Override
  public void readDetails(Effect.ReadDetails effect) {
    feed.read(effect.lock(), effect.entry());
  }

  @Override
  public void amend(Effect.Amend effect) {
    store.amend(effect);
  }

  @Override
  public void setLimit(Effect.SetLimit effect) {
    store.setLimit(effect);
  }

  @Override
  public void removeGuard(Effect.RemoveGuard effect) {
    store.removeGuard(effect);
  }

  @Override
  public void tell(Effect.Tell effect) {
    sim.note(effect);
    sim.rules.onTell(this, effect);
    SimClient client = streams.get(effect.stream());
    long toldAt = sim.now;
    down(effect.stream(), () -> client.onTell(effect, toldAt));
  }

  @Override
  public void count(Effect.Count effect) {
    sim.note(effect);
  }

  @Override
  public void refuse(Effect.Refuse effect) {
    sim.rules.onRefuse(effect);
    SimClient client = streams.get(effect.stream());
    down(effect.stream(), () -> client.onRefused(effect.requestId()));
  }

  @Override
  public void tellLeaseEnd(Effect.TellLeaseEnd effect) {
    SimClient client = streams.get(effect.stream());
    sim.rules.onLeaseEnd(client);
    down(effect.stream(), client::onLeaseEnded);
  }

  @Override
  public void adoptSession(SessionEffect.AdoptSession effect) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void sendAway(Effect.SendAway effect) {
    sim.note(effect);
  }

  @Override
  public void supersede(Effect.Supersede effect) {
    sim.note(effect);
  }

  @Override
  public void reply(Effect.Reply effect) {
    if (sim.has(Sim.Mutant.ANSWERS_LOST) && sim.chance(1)) {
      return;
    }
    sim.note(effect);
    sim.rules.onReply(effect);
    SimClient client = calls.get(effect.call());
    sim.after(sim.delay(250), () -> client.onAnswer(effect.call(), effect.answer()));
  }

  @Override
  public void publish(Effect.Publish effect) {
    sim.note(effect.change().cause());
  }

  @Override
  public void publishGap(Effect.PublishGap effect) {
    sim.note(effect);
  }
}
