package io.lockkeeper.server.zookeeper.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.EntriesDeleted;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.testing.ZooKeeperProxy.Action;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.Ensemble;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Writes whose answer is lost on the way, before or after ZooKeeper did them. */
final class DoubtIT {

  private final RecordedEvents events = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeperProxy proxy = ensemble.proxy();
  private final ZooKeeper truth = ensemble.client();
  private final ZooKeeperLockStore store = ensemble.store(proxy.connectString(), "c1", events);

  @BeforeEach
  void awaitCurrent() {
    events.awaitCurrent();
  }

  @Test
  void createThatWasDoneBeforeTheConnectionBrokeIsFoundAndNotDoneAgain() throws Exception {
    // Given
    SessionKey session = Asked.open(store, events, 1);
    proxy.at(1, r -> r.isMultiWith(OpCode.create, OpCode.create2), Action.CUT_AFTER);
    // When
    UUID id = Asked.create(store, session, "orders/1");
    CreatedEntry created = Asked.created(events, id).entries().get(0);
    // Then
    assertThat(Ensemble.truth(truth))
        .isEqualTo(Map.of("orders%2F1", Set.of(created.name().text())));
    assertThat(created.czxid())
        .isEqualTo(truth.exists("/lk/locks/orders%2F1/" + created.name(), false).getCzxid());
    assertThat(store.stats()).containsEntry("doubts_found_done", 1L);
    assertThat(events.all(SessionEvent.SessionSuspended.class)).isNotEmpty();
    events.await(SessionEvent.SessionProved.class);
  }

  @Test
  void createThatNeverReachedZooKeeperIsDoneOnce() throws Exception {
    // Given
    SessionKey session = Asked.open(store, events, 1);
    proxy.at(1, r -> r.isMultiWith(OpCode.create, OpCode.create2), Action.CUT_BEFORE);
    // When
    UUID id = Asked.create(store, session, "orders/1");
    CreatedEntry created = Asked.created(events, id).entries().get(0);
    // Then
    assertThat(Ensemble.truth(truth))
        .isEqualTo(Map.of("orders%2F1", Set.of(created.name().text())));
    assertThat(store.stats()).containsEntry("doubts_found_done", 0L);
  }

  @Test
  void deletionIsDoneAndAnsweredWhereverTheConnectionBreaks() throws Exception {
    // Given
    SessionKey session = Asked.open(store, events, 1);
    EntriesCreated first = Asked.created(events, Asked.create(store, session, "a"));
    EntriesCreated second = Asked.created(events, Asked.create(store, session, "b"));
    proxy.at(1, r -> r.isMultiWith(OpCode.delete), Action.CUT_BEFORE);
    proxy.at(2, r -> r.isMultiWith(OpCode.delete), Action.CUT_AFTER);
    // When
    Asked.delete(store, session, first);
    Asked.delete(store, session, second);
    Asked.awaitDeleted(events, 2);
    // Then
    assertThat(Ensemble.truth(truth)).isEmpty();
    assertThat(events.all(EntriesDeleted.class)).hasSize(2);
    assertThat(proxy.pendingRules()).isZero();
  }

  @Test
  void erasureWhoseAnswerIsLostDoesNotTakeTheRecordOfAnotherSession() throws Exception {
    // Given: the record is erased, and nobody knows
    SessionKey session = Asked.open(store, events, 1);
    LeaseId lease = new LeaseId(1, 2);
    store.recordLease(new StoreEffect.RecordLease(session, lease, 1_000, "h", "00", ""));
    events.await(StoreEvent.LeaseRecorded.class);
    proxy.at(1, r -> r.isMultiWith(OpCode.delete), Action.CUT_AFTER);
    proxy.at(1, OpCode.getEphemerals, Action.HOLD);
    store.eraseLease(new StoreEffect.EraseLease(session, lease));
    String record = "/lk/leases/" + lease;
    Awaitility.await().until(() -> truth.exists(record, false) == null);
    // When: the same lease is opened at another coordinator
    truth.create(record, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    proxy.letGo();
    events.await(StoreEvent.LeaseErased.class);
    // Then
    assertThat(truth.exists(record, false)).isNotNull();
  }

  private List<PlannedEntry> readBeside(CreatedEntry writing) {
    PlannedEntry.Beside beside = new PlannedEntry.Beside(writing.name(), new FencingToken(77));
    return List.of(
        new PlannedEntry(writing.lock(), ReadWriteKind.READ, Optional.of(beside)),
        Asked.planned(new LockName("other")));
  }

  @ParameterizedTest
  @EnumSource(
      value = Action.class,
      names = {"CUT_BEFORE", "CUT_AFTER"})
  void placedEntryAndItsGuardsExistOnceWhereverTheConnectionBreaks(Action action) throws Exception {
    // Given
    SessionKey session = Asked.open(store, events, 1);
    CreatedEntry writing =
        Asked.created(events, Asked.create(store, session, "a")).entries().get(0);
    UUID id = UUID.randomUUID();
    proxy.at(1, r -> r.isMultiWith(OpCode.create2), action);
    // When
    store.createEntries(
        new StoreEffect.CreateEntries(session, id, readBeside(writing), Asked.DETAILS, 700));
    List<CreatedEntry> created = Asked.created(events, id).entries();
    // Then
    String guard = "delay-700-" + AccountTag.NOBODY + "-" + id;
    assertThat(created.get(0).name().sequence()).isEqualTo(writing.name().sequence());
    assertThat(created).extracting(CreatedEntry::czxid).containsOnly(created.get(0).czxid());
    assertThat(Ensemble.truth(truth))
        .isEqualTo(
            Map.of(
                "a", Set.of(writing.name().text(), created.get(0).name().text(), guard),
                "other", Set.of(created.get(1).name().text(), guard)));
    assertThat(proxy.pendingRules()).isZero();
  }

  @Test
  void creationOfWhichSomebodyRemovedAPartMeanwhileLeavesNothingBehind() throws Exception {
    // Given: between the creation and the next connection, one of two entries goes
    SessionKey session = Asked.open(store, events, 1);
    CreatedEntry writing =
        Asked.created(events, Asked.create(store, session, "a")).entries().get(0);
    UUID id = UUID.randomUUID();
    proxy.at(1, r -> r.isMultiWith(OpCode.create2), Action.CUT_AFTER);
    AtomicBoolean removed = new AtomicBoolean();
    proxy.at(1, r -> removeOne(id, removed), Action.DROP);
    // When
    store.createEntries(
        new StoreEffect.CreateEntries(session, id, readBeside(writing), Asked.DETAILS, 700));
    events.await(StoreEvent.EntriesRefused.class, e -> e.id().equals(id));
    // Then
    assertThat(removed).isTrue();
    Awaitility.await("nothing is left")
        .until(() -> Ensemble.truth(truth).equals(Map.of("a", Set.of(writing.name().text()))));
  }

  /** Removes an entry of {@code id} as soon as there is one; never stops a request. */
  private boolean removeOne(UUID id, AtomicBoolean removed) {
    try {
      for (String name : truth.getChildren("/lk/locks/a", false)) {
        if (name.startsWith("_c_" + id) && removed.compareAndSet(false, true)) {
          truth.delete("/lk/locks/a/" + name, -1);
        }
      }
      return false;
    } catch (KeeperException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Test
  void singleGuardedEntryThatIsGoneAgainIsRefusedAndItsGuardLeft() throws Exception {
    // Given
    SessionKey session = Asked.open(store, events, 1);
    UUID id = UUID.randomUUID();
    AtomicBoolean removed = new AtomicBoolean();
    Asked.created(events, Asked.create(store, session, "a"));
    proxy.at(1, r -> r.isMultiWith(OpCode.create2), Action.CUT_AFTER);
    proxy.at(1, r -> removeOne(id, removed), Action.DROP);
    // When
    store.createEntries(
        new StoreEffect.CreateEntries(
            session, id, List.of(Asked.planned(new LockName("a"))), Asked.DETAILS, 700));
    StoreEvent.EntriesRefused refused =
        events.await(StoreEvent.EntriesRefused.class, e -> e.id().equals(id));
    // Then
    assertThat(removed).isTrue();
    assertThat(refused.message()).contains("somebody else removed the entry of a");
    assertThat(Ensemble.truth(truth).get("a"))
        .contains("delay-700-" + AccountTag.NOBODY + "-" + id)
        .hasSize(2);
  }
}
