package io.lockkeeper.server.core.interleaving;

import io.lockkeeper.server.core.Kernel;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.TimeEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** A real kernel, and what it knows of its sessions. */
final class TinyCoordinator extends TinyActor {

  /** A lock session as this coordinator has it. */
  final class Connection {
    final SessionKey key;
    final TinyZooKeeper.Session session;
    private final TinyChannel writes;
    private final TinyChannel answers;
    private final int epoch;
    private boolean over;

    Connection(SessionKey key, TinyZooKeeper.Session session, int epoch) {
      this.key = key;
      this.session = session;
      this.epoch = epoch;
      TinyCoordinator self = TinyCoordinator.this;
      // What a process has sent still arrives when it is dead; refused, nobody hears of it.
      writes =
          world.channel(
              self + " writes " + key.value(), world.zooKeeper, () -> !cut && (!dead || isOurs()));
      answers = world.channel(self + " hears " + key.value(), self, () -> reaches());
    }

    boolean isOurs() {
      return (session.epoch == epoch || world.has(TinyWorld.Mistake.EPOCH_IGNORED))
          && !session.ended;
    }

    /** Writes; every answer proves the session as of when the write was sent. */
    void write(Object what, Supplier<Optional<StoreEvent>> change) {
      long sentAt = world.now;
      raw(
          List.of(what, sentAt),
          () -> {
            Optional<StoreEvent> result = change.get();
            answer(
                List.of(sentAt, result),
                () -> {
                  on(new SessionEvent.SessionProved(key, sentAt, sentAt));
                  result.ifPresent(TinyCoordinator.this::on);
                });
          });
    }

    /** Writes what is answered in its own way; every write is fenced. */
    void raw(Object what, Runnable change) {
      if (over) {
        return;
      }
      writes.send(
          what,
          () -> {
            if (isOurs()) {
              change.run();
            } else {
              end(true);
            }
          });
    }

    void answer(StoreEvent event) {
      answer(event, () -> on(event));
    }

    private void answer(Object what, Runnable arrival) {
      if (!dead) {
        answers.send(what, arrival);
      }
    }

    void end(boolean deposed) {
      over = true;
      writes.clear();
      answer(new SessionEvent.SessionEnded(key, deposed));
    }

    void prove() {
      boolean atOnce = passing && writes.isEmpty() && answers.isEmpty() && reaches() && isOurs();
      if (passing) {
        received(atOnce ? 1 : 2, world.now);
      }
      if (atOnce) {
        on(new SessionEvent.SessionProved(key, world.now, world.now));
      } else if (!passing || writes.isEmpty()) {
        write("proof", Optional::empty);
      }
    }
  }

  final Kernel kernel;
  final Map<SessionKey, Connection> connections = new LinkedHashMap<>();

  /** Whether its process is gone. */
  boolean dead;

  /** Whether ZooKeeper is out of its reach, and nothing else is. */
  boolean cut;

  private final TinyWorld world;
  private final String name;

  /** Where it keeps its state: who begins there next says that it is dead for certain. */
  private final String home;

  private final TinyChannel mirror;
  private final TinyEffects effects;
  private Optional<TinyCoordinator> suspect = Optional.empty();
  private boolean paused;
  private long pausedAt;
  private boolean passing;

  TinyCoordinator(TinyWorld world, String name, String home) {
    this.world = world;
    this.name = name;
    this.home = home;
    this.kernel = new Kernel(CoreSettings.defaults(), TinyEffects.SIZES);
    this.effects = new TinyEffects(world, this);
    this.mirror = world.channel("mirror of " + name, this, this::reaches);
  }

  @Override
  long state() {
    if (dead) {
      return 0;
    }
    long state = mix(super.state(), (cut ? 1 : 0) + (paused ? 2 : 0));
    for (Connection connection : connections.values()) {
      state = mix(state, mix(connection.epoch, connection.over ? 1 : 0));
    }
    return state;
  }

  void start() {
    kernel.start(world.now).forEach(effect -> effect.applyTo(effects));
    // Somebody watches all of it, so that others' entries are read.
    kernel
        .on(new ClientEvent.WatchBegan(Set.of(), ""), world.now)
        .forEach(effect -> effect.applyTo(effects));
    on(new StoreEvent.RebuildStarted(Set.of(TinyZooKeeper.LOCK)));
    mirrored(new StoreEvent.QueueListed(TinyZooKeeper.LOCK, world.zooKeeper.listed(), List.of()));
    mirrored(new StoreEvent.MirrorCurrent());
  }

  /** The process is killed: it hears nothing more, and nobody hears of it. */
  void die() {
    dead = true;
    mirror.clear();
    connections.values().forEach(connection -> connection.answers.clear());
    world.onDeath(this);
  }

  /** The process stands still. */
  void pause() {
    paused = true;
    pausedAt = world.now;
  }

  /** The process goes on, and notices for how long it stood still before anything else. */
  void goOn() {
    if (paused) {
      paused = false;
      if (world.now > pausedAt) {
        on(new TimeEvent.Stalled(world.now - pausedAt));
      }
    }
  }

  /** Runs what is due. */
  void tick() {
    on(new TimeEvent.Tick());
  }

  /** What one of its sessions is called, by whoever opened it. */
  String claim(SessionKey key) {
    return name + " " + key.value();
  }

  /** Finds that a coordinator does not answer, rightly or not, and what that one looked after. */
  void suspects(TinyCoordinator other) {
    suspect = Optional.of(other);
    for (TinyZooKeeper.Session session : world.zooKeeper.ownedBy(other)) {
      on(new SessionEvent.OrphanFound(session.claim));
    }
  }

  boolean mayAdopt(TinyZooKeeper.Session session) {
    return suspect.filter(other -> other == session.owner).isPresent();
  }

  /** Returns whether all who owned the session are dead for certain, as far as this one can say. */
  boolean isLeftBehind(TinyZooKeeper.Session session) {
    boolean alone = session.alone || world.has(TinyWorld.Mistake.EARLIER_OWNERS_FORGOTTEN);
    return alone && session.owner != this && session.owner.home.equals(home);
  }

  boolean isRunning() {
    return !dead && !paused;
  }

  boolean reaches() {
    return isRunning() && !cut;
  }

  /** Returns whether it would take a client back, whoever owns the session. */
  boolean serves(LeaseId lease) {
    return !dead && kernel.lease(Caller.ANYBODY, lease, 0, world.now).isPresent();
  }

  void on(Event event) {
    if (!dead) {
      kernel.on(event, world.now).forEach(effect -> effect.applyTo(effects));
    }
  }

  void mirrored(StoreEvent event) {
    if (!dead) {
      mirror.send(event, () -> on(event));
    }
  }

  /** Lets everything happen that is due up to a time; proofs are answered if they can be. */
  void passTo(long target) {
    long before = world.now;
    received(target, before);
    passing = true;
    while (isRunning() && kernel.nextDeadline().isPresent()) {
      long next = kernel.nextDeadline().getAsLong();
      if (next > target) {
        break;
      }
      world.now = Math.max(world.now, next);
      tick();
    }
    passing = false;
    world.now = before;
  }

  @Override
  public String toString() {
    return name;
  }
}
