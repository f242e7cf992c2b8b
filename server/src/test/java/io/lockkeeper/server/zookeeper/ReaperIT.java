package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.EntriesRefused;
import io.lockkeeper.server.core.api.StoreEvent.MirrorStale;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.UUID;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Directories that coordinators delete when they are empty, and whoever uses them meanwhile. */
final class ReaperIT {

  private static final int ROUNDS = 100;
  private static final String LOCKS = "/lk/locks";

  private final RecordedEvents events = new RecordedEvents();
  private final RecordedEvents otherEvents = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeper truth = ensemble.client();

  private ZooKeeperLockStore store(String id, long reapTicks, RecordedEvents heard) {
    return store(ensemble.server().connectString(), id, reapTicks, heard);
  }

  private ZooKeeperLockStore store(
      String address, String id, long reapTicks, RecordedEvents heard) {
    ZooKeeperLockStore store =
        ensemble.store(
            ensemble.settings(address, id), new ZooKeeperLockStore.Pace(200, reapTicks), heard);
    heard.awaitCurrent();
    return store;
  }

  private static CreatedEntry use(
      ZooKeeperLockStore store, SessionKey session, RecordedEvents events, String lock) {
    EntriesCreated created = Asked.created(events, Asked.create(store, session, lock));
    Asked.delete(store, session, created);
    return created.entries().get(0);
  }

  private void awaitNoDirectories() {
    Awaitility.await("reaped").until(() -> truth.getChildren(LOCKS, false).isEmpty());
  }

  @Test
  void directoriesOfNamesThatAreUsedOnceAreDeleted() {
    // Given
    ZooKeeperLockStore store = store("c1", 1, events);
    SessionKey session = Asked.open(store, events, 1);
    // When
    for (int i = 0; i < ROUNDS; i++) {
      use(store, session, events, "job/" + i);
    }
    // Then
    awaitNoDirectories();
    Awaitility.await("counted")
        .until(() -> store.stats().getOrDefault("directories_reaped", 0L) == ROUNDS);
  }

  @Test
  void asManyOfTheLongestNamesAsGoTogetherAreNoMoreThanZooKeeperTakes() {
    // Given: nearly each byte of these names is three in their nodes', and operations have a frame
    ZooKeeperProxy proxy = ensemble.proxy();
    ZooKeeperLockStore store = store(proxy.connectString(), "c1", 1, events);
    SessionKey session = Asked.open(store, events, 1);
    int pathBytes = 3 * LockName.MAX_BYTES;
    // When: until once a full batch was due at the same time
    Awaitility.await("a full batch")
        .until(
            () -> {
              useAtOnce(store, session, DirectoryReaper.BATCH + 50);
              awaitNoDirectories();
              return proxy.largestRequestBytes() > DirectoryReaper.BATCH * pathBytes;
            });
    // Then
    assertThat(events.all(MirrorStale.class)).isEmpty();
  }

  /** Makes and ends an entry of each of some locks whose names are as long as names may be. */
  private void useAtOnce(ZooKeeperLockStore store, SessionKey session, int locks) {
    List<UUID> asked = new ArrayList<>();
    for (int i = 0; i < locks; i++) {
      String number = String.format(Locale.ROOT, "%04d", i);
      String name = number + "\u00e9".repeat((LockName.MAX_BYTES - number.length()) / 2);
      asked.add(Asked.create(store, session, name));
    }
    List<EntriesCreated> created = asked.stream().map(id -> Asked.created(events, id)).toList();
    created.forEach(each -> Asked.delete(store, session, each));
  }

  @Test
  void whoeverUsesALockWhileItsDirectoryIsDeletedGetsItsEntryAndARisingToken() {
    // Given: a directory goes as soon as it is seen empty, in every tick
    ZooKeeperLockStore store = store("c1", 0, events);
    ZooKeeperLockStore other = store("c2", 0, otherEvents);
    SessionKey session = Asked.open(store, events, 1);
    SessionKey otherSession = Asked.open(other, otherEvents, 1);
    long before = 0;
    int restarts = 0;
    for (int i = 0; i < ROUNDS; i++) {
      // When
      boolean mine = i % 2 == 0;
      CreatedEntry entry =
          mine
              ? use(store, session, events, "shared")
              : use(other, otherSession, otherEvents, "shared");
      // Then
      long token = FencingToken.of(entry.czxid(), entry.index()).value();
      assertThat(token).isGreaterThan(before);
      before = token;
      restarts += i > 0 && entry.name().sequence() == 0 ? 1 : 0;
      if (i % 25 == 24) {
        // Mostly somebody is quicker than the reaper: now and then it is to win.
        awaitNoDirectories();
      }
    }
    assertThat(restarts).isPositive();
    assertThat(events.all(EntriesRefused.class)).isEmpty();
    assertThat(otherEvents.all(EntriesRefused.class)).isEmpty();
    awaitNoDirectories();
  }

  @Test
  void limitThatIsSetWhileDirectoriesAreDeletedIsNeverLost() throws Exception {
    // Given
    ZooKeeperLockStore store = store("c1", 0, events);
    SessionKey session = Asked.open(store, events, 1);
    LockName lock = new LockName("limited");
    for (int limit = 1; limit <= ROUNDS / 4; limit++) {
      int round = limit;
      use(store, session, events, "limited");
      // When
      int change = 2 * round;
      store.setLimit(
          new StoreEffect.SetLimit(change, lock, OptionalInt.of(round), AccountTag.NOBODY));
      events.await(UpdateEvent.LimitAnswered.class, e -> e.change() == change && e.done());
      use(store, session, events, "limited");
      // Then
      assertThat(truth.getChildren(LOCKS + "/limited", false))
          .filteredOn(name -> name.startsWith("limit-" + round + "-"))
          .hasSize(1);
      store.setLimit(
          new StoreEffect.SetLimit(change + 1, lock, OptionalInt.empty(), AccountTag.NOBODY));
      events.await(UpdateEvent.LimitAnswered.class, e -> e.change() == change + 1 && e.done());
    }
    awaitNoDirectories();
  }

  @Test
  void whatNoCoordinatorHasMadeOrHoldsSomethingElseStays() throws Exception {
    // Given
    ZooKeeperLockStore store = store("c1", 1, events);
    SessionKey session = Asked.open(store, events, 1);
    persistent(LOCKS + "/own");
    use(store, session, events, "own");
    UUID id = Asked.create(store, session, "shared");
    EntriesCreated created = Asked.created(events, id);
    persistent(LOCKS + "/shared/note");
    Asked.delete(store, session, created);
    // When: others that emptied later are gone
    for (int i = 0; i < 3; i++) {
      use(store, session, events, "probe" + i);
      int probe = i;
      Awaitility.await("probe").until(() -> truth.exists(LOCKS + "/probe" + probe, false) == null);
    }
    // Then
    assertThat(truth.getChildren(LOCKS, false)).containsExactlyInAnyOrder("own", "shared");
  }

  private void persistent(String path) throws KeeperException, InterruptedException {
    truth.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
  }
}
