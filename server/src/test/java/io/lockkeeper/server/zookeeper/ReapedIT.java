package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.EntriesDeleted;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.testing.ZooKeeperProxy.Action;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Directories that ZooKeeper reaps as soon as they are empty, and whose counter begins again. */
final class ReapedIT {

  private static final String DIRECTORY = "/lk/locks/reaped";

  private final RecordedEvents events = new RecordedEvents();
  private final RecordedEvents otherEvents = new RecordedEvents();

  @AutoClose
  private final Ensemble ensemble =
      Ensemble.own(server -> server.containersReapedEvery(Duration.ofMillis(100)));

  private final ZooKeeperProxy proxy = ensemble.proxy();
  private final ZooKeeper truth = ensemble.client();
  private final ZooKeeperLockStore store = ensemble.store(proxy.connectString(), "c1", events);
  private SessionKey session;

  @BeforeEach
  void start() {
    session = Asked.open(store, events, 1);
    events.awaitCurrent();
  }

  private CreatedEntry acquire() {
    return Asked.created(events, Asked.create(store, session, "reaped")).entries().get(0);
  }

  private void awaitReaped() {
    Awaitility.await("reaped").until(() -> truth.exists(DIRECTORY, false) == null);
  }

  private static FencingToken token(CreatedEntry entry) {
    return FencingToken.of(entry.czxid(), entry.index());
  }

  @Test
  void directoriesReapedUnderCreatesAreNeverNoticedByAnybody() {
    // When
    int cycles = 40;
    for (int i = 1; i <= cycles; i++) {
      for (int lock = 0; lock < 20; lock++) {
        var unused = Asked.create(store, session, "reaped/" + lock);
      }
      Asked.awaitCreated(events, 20 * i);
      List<EntriesCreated> all = events.all(EntriesCreated.class);
      all.subList(20 * (i - 1), 20 * i).forEach(e -> Asked.delete(store, session, e));
      Asked.awaitDeleted(events, 20 * i);
    }
    // Then
    assertThat(events.all(StoreEvent.EntriesRefused.class)).isEmpty();
    Awaitility.await("all directories are reaped")
        .until(() -> truth.getChildren("/lk/locks", false).isEmpty());
  }

  @Test
  void tokenRisesThoughTheDirectoryWasReapedAndItsCounterBeganAgain() {
    // Given
    CreatedEntry first = acquire();
    Asked.delete(store, session, events.all(EntriesCreated.class).get(0));
    awaitReaped();
    // When
    CreatedEntry second = acquire();
    // Then
    assertThat(first.name().sequence()).isZero();
    assertThat(second.name().sequence()).isZero();
    assertThat(token(second).value()).isGreaterThan(token(first).value());
    assertThat(events.all(StoreEvent.EntriesRefused.class)).isEmpty();
  }

  @Test
  void deletionThatWasHeldUpNeverHitsAnEntryOfTheNextDirectory() throws Exception {
    // Given
    CreatedEntry first = acquire();
    proxy.at(1, r -> r.isMultiWith(OpCode.delete), Action.DROP);
    Asked.delete(store, session, events.all(EntriesCreated.class).get(0));
    Awaitility.await("held up").until(() -> proxy.pendingRules() == 0);
    truth.delete(DIRECTORY + "/" + first.name(), -1);
    awaitReaped();
    ZooKeeperLockStore other = ensemble.store("c2", otherEvents);
    SessionKey otherSession = Asked.open(other, otherEvents, 1);
    UUID id = Asked.create(other, otherSession, "reaped");
    CreatedEntry second = Asked.created(otherEvents, id).entries().get(0);
    // When: the next answer shows that one is missing, and the deletion goes again
    store.proveSession(new StoreEffect.ProveSession(session));
    events.await(EntriesDeleted.class);
    // Then
    assertThat(second.name().sequence()).isEqualTo(first.name().sequence());
    assertThat(Ensemble.truth(truth)).isEqualTo(Map.of("reaped", Set.of(second.name().text())));
  }

  @Test
  void whatADeadCoordinatorLeftBehindIsDeletedByZooKeeperAndNotByAnother() {
    // Given: another one that deletes at once what it has made itself
    RecordedEvents otherEvents = new RecordedEvents();
    ZooKeeperLockStore other =
        ensemble.store(
            ensemble.settings(proxy.connectString(), "c2"),
            new ZooKeeperLockStore.Pace(200, 0),
            otherEvents);
    otherEvents.awaitCurrent();
    EntriesCreated left = Asked.created(events, Asked.create(store, session, "reaped"));
    // When
    Asked.delete(store, session, left);
    store.stop();
    // Then
    awaitReaped();
    assertThat(other.stats().getOrDefault("directories_reaped", 0L)).isZero();
  }

  @Test
  void limitAndGuardKeepTheirDirectoryUntilTheyGo() throws Exception {
    // Given
    LockName lock = new LockName("reaped");
    store.setLimit(new StoreEffect.SetLimit(1, lock, OptionalInt.of(3), AccountTag.NOBODY));
    events.await(UpdateEvent.LimitAnswered.class, e -> e.change() == 1 && e.done());
    CreatedEntry entry = acquire();
    Asked.delete(store, session, events.all(EntriesCreated.class).get(0));
    events.await(EntriesDeleted.class);
    store.createEntries(
        new StoreEffect.CreateEntries(
            session,
            UUID.randomUUID(),
            List.of(Asked.planned(new LockName("probe"))),
            Asked.DETAILS,
            0));
    // When: another directory of the same age has come and gone
    Asked.awaitCreated(events, 2);
    Asked.delete(store, session, events.all(EntriesCreated.class).get(1));
    Awaitility.await("probe is reaped").until(() -> truth.exists("/lk/locks/probe", false) == null);
    // Then
    assertThat(entry.name().sequence()).isEqualTo(1);
    assertThat(truth.getChildren(DIRECTORY, false)).hasSize(1);
    store.setLimit(new StoreEffect.SetLimit(2, lock, OptionalInt.empty(), AccountTag.NOBODY));
    events.await(UpdateEvent.LimitAnswered.class, e -> e.change() == 2 && e.done());
    awaitReaped();
  }
}
