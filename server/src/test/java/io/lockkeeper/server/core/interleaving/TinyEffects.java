package io.lockkeeper.server.core.interleaving;

import io.lockkeeper.server.core.Bench;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.EffectHandler;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.PathSizes;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.client.Connection;
import java.util.List;
import java.util.Optional;

/** Carries out what one kernel of a tiny world wants. */
final class TinyEffects implements EffectHandler, StoreEffect.Store {

  static final PathSizes SIZES =
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

  private final TinyWorld world;
  private final TinyCoordinator coordinator;

  TinyEffects(TinyWorld world, TinyCoordinator coordinator) {
    this.world = world;
    this.coordinator = coordinator;
  }

  private TinyCoordinator.Connection on(SessionKey key) {
    return coordinator.connections.get(key);
  }

  private TinyCoordinator.Connection connect(
      SessionKey key, TinyZooKeeper.Session session, int epoch) {
    TinyCoordinator.Connection connection = coordinator.new Connection(key, session, epoch);
    coordinator.connections.put(key, connection);
    return connection;
  }

  @Override
  public void store(StoreEffect effect) {
    effect.applyTo((StoreEffect.Store) this);
  }

  @Override
  public void openSession(StoreEffect.OpenSession effect) {
    TinyCoordinator.Connection connection =
        connect(
            effect.session(),
            world.zooKeeper.open(coordinator.claim(effect.session()), coordinator),
            0);
    long sentAt = world.now;
    connection.raw(
        List.of(effect, sentAt),
        () ->
            connection.answer(
                new SessionEvent.SessionOpened(
                    effect.session(), Bench.TIMEOUT.toNanos(), sentAt, sentAt)));
  }

  /** Reads the claim at once; what is written over it may find that somebody else was faster. */
  @Override
  public void adoptSession(StoreEffect.AdoptSession effect) {
    TinyZooKeeper.Session session = world.zooKeeper.claimed(effect.claim());
    int read = session.epoch;
    boolean certain = coordinator.isLeftBehind(session) || world.takesForDead(session.owner);
    TinyCoordinator.Connection connection = connect(effect.session(), session, read + 1);
    if (coordinator.mayAdopt(session)) {
      world.claiming(
          coordinator,
          List.of(effect, read, certain),
          () -> {
            boolean won = session.epoch == read && !session.ended;
            if (won) {
              session.epoch++;
              session.owner = coordinator;
              session.alone = certain;
            }
            if (won || world.has(TinyWorld.Mistake.LOSER_SERVES)) {
              takeStock(connection, certain);
            } else {
              connection.end(true);
            }
          });
    } else {
      connection.end(true);
    }
  }

  private void takeStock(TinyCoordinator.Connection taken, boolean certain) {
    long sentAt = world.now;
    long takenAt = world.now - world.graceMissing();
    taken.raw(
        List.of("stock", sentAt, takenAt, certain),
        () ->
            taken.answer(
                new SessionEvent.SessionAdopted(
                    taken.key,
                    2,
                    Bench.TIMEOUT.toNanos(),
                    sentAt,
                    sentAt,
                    takenAt,
                    certain,
                    Optional.empty(),
                    List.copyOf(taken.session.leases.values()),
                    world.has(TinyWorld.Mistake.ENTRIES_OVERLOOKED)
                        ? List.of()
                        : world.zooKeeper.entriesOf(taken.session))));
  }

  @Override
  public void closeSession(StoreEffect.CloseSession effect) {
    TinyCoordinator.Connection connection = on(effect.session());
    connection.raw(
        effect,
        () -> {
          world.check(
              connection.session.leases.isEmpty()
                  && world.zooKeeper.entriesOf(connection.session).isEmpty(),
              "a session is closed that is not empty");
          connection.session.ended = true;
          connection.end(false);
        });
  }

  @Override
  public void reportLosses(Effect.ReportLosses effect) {}

  @Override
  public void proveSession(StoreEffect.ProveSession effect) {
    on(effect.session()).prove();
  }

  @Override
  public void createEntries(StoreEffect.CreateEntries effect) {
    TinyCoordinator.Connection connection = on(effect.session());
    connection.write(effect, () -> Optional.of(world.zooKeeper.create(connection.session, effect)));
  }

  @Override
  public void deleteEntries(StoreEffect.DeleteEntries effect) {
    on(effect.session()).write(effect, () -> Optional.of(world.zooKeeper.delete(effect)));
  }

  @Override
  public void recordLease(StoreEffect.RecordLease effect) {
    TinyCoordinator.Connection connection = on(effect.session());
    SessionEvent.AdoptedLease lease =
        new SessionEvent.AdoptedLease(
            effect.lease(),
            effect.ttlMillis(),
            effect.holder(),
            effect.secretHash(),
            effect.identity());
    connection.write(
        effect,
        () -> {
          connection.session.leases.put(effect.lease(), lease);
          return Optional.of(new StoreEvent.LeaseRecorded(effect.session(), effect.lease()));
        });
  }

  @Override
  public void eraseLease(StoreEffect.EraseLease effect) {
    TinyCoordinator.Connection connection = on(effect.session());
    connection.write(
        effect,
        () -> {
          connection.session.leases.remove(effect.lease());
          return Optional.of(new StoreEvent.LeaseErased(effect.session(), effect.lease()));
        });
  }

  @Override
  public void recordPromises(StoreEffect.RecordPromises effect) {}

  @Override
  public void barrier(StoreEffect.Barrier effect) {
    world.toZooKeeper(
        coordinator,
        effect,
        () -> coordinator.mirrored(new StoreEvent.BarrierPassed(effect.barrier())));
  }

  @Override
  public void readDetails(StoreEffect.ReadDetails effect) {
    world.toZooKeeper(
        coordinator,
        effect,
        () ->
            coordinator.mirrored(
                new StoreEvent.DetailsRead(
                    effect.lock(), effect.entry(), world.zooKeeper.read(effect.entry()))));
  }

  @Override
  public void updateEntry(StoreEffect.UpdateEntry effect) {
    throw new AssertionError(effect);
  }

  @Override
  public void setLimit(StoreEffect.SetLimit effect) {
    throw new AssertionError(effect);
  }

  @Override
  public void removeGuard(StoreEffect.RemoveGuard effect) {
    throw new AssertionError(effect);
  }

  @Override
  public void setFreeze(StoreEffect.SetFreeze effect) {
    throw new AssertionError(effect);
  }

  @Override
  public void removeFreeze(StoreEffect.RemoveFreeze effect) {
    throw new AssertionError(effect);
  }

  @Override
  public void thaw(StoreEffect.Thaw effect) {
    throw new AssertionError(effect);
  }

  @Override
  public void tell(Effect.Tell effect) {
    TinyClient client = world.client(TinyClient.numberOf(effect.stream().value()));
    if (effect.notice() instanceof Notice.Granted) {
      world.onGrant(client);
    }
    if (!TinyClient.minds(effect.notice())) {
      return;
    }
    world.down(coordinator, client).send(effect, () -> client.onTell(effect));
  }

  @Override
  public void reply(Effect.Reply effect) {
    TinyClient client = world.client(TinyClient.numberOf(effect.call().value()));
    world
        .down(coordinator, client)
        .send(effect, () -> client.onAnswer(effect.call(), effect.answer()));
  }

  @Override
  public void count(Effect.Count effect) {}

  @Override
  public void refuse(Effect.Refuse effect) {
    TinyClient client = world.client(TinyClient.numberOf(effect.stream().value()));
    world.down(coordinator, client).send(effect, () -> client.onRefused(effect));
  }

  @Override
  public void tellLeaseEnd(Effect.TellLeaseEnd effect) {
    TinyClient client = world.client(TinyClient.numberOf(effect.stream().value()));
    world.down(coordinator, client).send(effect, () -> client.onLeaseEnded(effect.stream()));
  }

  @Override
  public void supersede(Effect.Supersede effect) {}

  @Override
  public void sendAway(Effect.SendAway effect) {
    TinyClient client = world.client(TinyClient.numberOf(effect.stream().value()));
    world.down(coordinator, client).send(effect, () -> client.onSentAway(effect.stream()));
  }

  @Override
  public void publish(Effect.Publish effect) {}

  @Override
  public void publishGap(Effect.PublishGap effect) {}
}
