package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.LeaseId;
import io.lockkeeper.server.core.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.SessionEvent.AdoptedLease;
import io.lockkeeper.server.core.SessionEvent.OrphanFound;
import io.lockkeeper.server.core.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.SessionKey;
import io.lockkeeper.server.core.StoreEvent;
import io.lockkeeper.server.core.StoreEvent.CreatedEntry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A session changes hands, and nothing that it owns changes with it. */
final class AdoptionIT {

  private static final SessionKey ONE = new SessionKey(1);
  private static final SessionKey TAKEN = new SessionKey(7);
  private static final LeaseId LEASE = new LeaseId(0xabcdef, 42);

  @TempDir Path directory;

  private final RecordedEvents olds = new RecordedEvents();
  private final RecordedEvents news = new RecordedEvents();
  private Ensemble ensemble;
  private ZooKeeper truth;
  private ZooKeeperLockStore old;
  private ZooKeeperLockStore next;

  @BeforeEach
  void start() throws Exception {
    ensemble = Ensemble.in(directory);
    truth = ensemble.client();
    old = ensemble.store(ensemble.server().connectString(), "old", olds);
    next = ensemble.store(ensemble.server().connectString(), "next", news);
    news.awaitCurrent();
  }

  @AfterEach
  void stop() throws Exception {
    ensemble.close();
  }

  private CreatedEntry hold(String lock) {
    Asked.open(old, olds, 1);
    return Asked.created(olds, Asked.create(old, ONE, lock)).entries().get(0);
  }

  private static String path(CreatedEntry entry) {
    return "/lk/locks/" + entry.lock().encoded() + "/" + entry.name();
  }

  private SessionAdopted adopt(RecordedEvents events, ZooKeeperLockStore store, SessionKey key) {
    OrphanFound orphan = events.await(OrphanFound.class);
    store.adoptSession(key, orphan.claim());
    return events.await(SessionAdopted.class, adopted -> adopted.session().equals(key));
  }

  @Test
  void adoptedSessionKeepsItsNodesTheirCreationAndTheLeaseOnRecord() throws Exception {
    // Given
    CreatedEntry entry = hold("kept");
    old.recordLease(ONE, LEASE, 15_000, "me", "00ff");
    olds.await(StoreEvent.LeaseRecorded.class);
    Stat before = truth.exists(path(entry), false);
    long asked = System.nanoTime();
    // When
    old.stop();
    SessionAdopted adopted = adopt(news, next, TAKEN);
    // Then
    assertThat(adopted.leases()).containsExactly(new AdoptedLease(LEASE, 15_000, "me", "00ff"));
    assertThat(adopted.entries()).hasSize(1);
    AdoptedEntry kept = adopted.entries().get(0);
    assertThat(kept.lock()).isEqualTo(entry.lock());
    assertThat(kept.name()).isEqualTo(entry.name());
    assertThat(kept.read().czxid()).isEqualTo(entry.czxid());
    assertThat(kept.read().details()).isEqualTo(Asked.DETAILS);
    assertThat(kept.ageNanos()).isBetween(0L, Duration.ofMinutes(1).toNanos());
    assertThat(adopted.timeoutNanos()).isEqualTo(Ensemble.SESSION.toNanos());
    assertThat(adopted.takenAtNanos() - asked).isPositive();
    assertThat(adopted.provenAtNanos() - adopted.takenAtNanos()).isPositive();
    assertThat(adopted.certain()).isFalse();
    assertThat(truth.exists(path(entry), false)).isEqualTo(before);
    assertThat(truth.getChildren("/lk/sessions", false)).hasSize(1);
  }

  @Test
  void adoptedSessionIsOpenForWrites() throws Exception {
    // Given
    CreatedEntry entry = hold("written");
    old.stop();
    SessionAdopted adopted = adopt(news, next, TAKEN);
    AdoptedEntry kept = adopted.entries().get(0);
    // When
    UUID id = kept.name().id().orElseThrow();
    next.deleteEntries(
        TAKEN,
        id,
        List.of(
            new io.lockkeeper.server.core.EntryRef(
                kept.lock(), kept.name().text(), java.util.Optional.empty())));
    news.await(StoreEvent.EntriesDeleted.class, deleted -> deleted.id().equals(id));
    next.closeSession(TAKEN);
    // Then
    assertThat(truth.exists(path(entry), false)).isNull();
    assertThat(news.await(SessionEnded.class)).isEqualTo(new SessionEnded(TAKEN, false));
    Awaitility.await().until(() -> truth.getChildren("/lk/sessions", false).isEmpty());
  }

  @Test
  void suspectedCoordinatorIsDeposedAndItsStopLeavesTheSessionAlone() throws Exception {
    // Given
    CreatedEntry entry = hold("stolen");
    Awaitility.await().until(() -> truth.exists("/lk/coordinators/old", false) != null);
    // When
    Awaitility.await()
        .until(
            () -> {
              next.suspect("old");
              return !news.all(OrphanFound.class).isEmpty();
            });
    adopt(news, next, TAKEN);
    old.proveSession(ONE);
    // Then
    assertThat(olds.await(SessionEnded.class)).isEqualTo(new SessionEnded(ONE, true));
    old.closeSession(ONE);
    old.leave();
    old.stop();
    assertThat(truth.exists(path(entry), false).getCzxid()).isEqualTo(entry.czxid());
    next.proveSession(TAKEN);
    assertThat(news.all(SessionEnded.class)).isEmpty();
  }
}
