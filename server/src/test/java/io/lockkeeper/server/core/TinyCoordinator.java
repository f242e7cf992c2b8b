package io.lockkeeper.server.core;

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
      writes = world.channel(self + " writes " + key.value(), world.zooKeeper, () -> !cut);
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
            answers.send(
                List.of(sentAt, result),
                () -> {
                  on(new SessionEvent.SessionProved(key, sentAt));
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
      answers.send(event, () -> on(event));
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
        on(new SessionEvent.SessionProved(key, world.now));
      } else if (!passing || writes.isEmpty()) {
        write("proof", Optional::empty);
      }
    }
  }

  final Kernel kernel;
  final Map<SessionKey, Connection> connections = new LinkedHashMap<>();
  boolean dead;
  boolean cut;
  private final TinyWorld world;
  private final String name;
  private final TinyChannel mirror;
  private final TinyEffects effects;
  private boolean passing;

  TinyCoordinator(TinyWorld world, String name) {
    this.world = world;
    this.name = name;
    this.kernel = new Kernel(CoreSettings.defaults(), TinyEffects.SIZES);
    this.effects = new TinyEffects(world, this);
    this.mirror = world.channel("mirror of " + name, this, this::reaches);
  }

  @Override
  long state() {
    long state = super.state();
    for (Connection connection : connections.values()) {
      state = mix(state, mix(connection.epoch, connection.over ? 1 : 0));
      state = mix(state, connection.session.state());
    }
    return state;
  }

  void start() {
    kernel.start(world.now).forEach(effect -> effect.applyTo(effects));
    on(new StoreEvent.RebuildStarted(Set.of()));
    on(new StoreEvent.MirrorCurrent());
  }

  boolean reaches() {
    return !dead && !cut;
  }

  void on(Event event) {
    if (!dead) {
      kernel.on(event, world.now).forEach(effect -> effect.applyTo(effects));
    }
  }

  void mirrored(StoreEvent event) {
    mirror.send(event, () -> on(event));
  }

  /** Lets everything happen that is due up to a time; proofs are answered if they can be. */
  void passTo(long target) {
    long before = world.now;
    received(target, before);
    passing = true;
    while (!dead && kernel.nextDeadline().isPresent()) {
      long next = kernel.nextDeadline().getAsLong();
      if (next > target) {
        break;
      }
      world.now = Math.max(world.now, next);
      on(new TimeEvent.Tick());
    }
    passing = false;
    world.now = before;
  }

  @Override
  public String toString() {
    return name;
  }
}
