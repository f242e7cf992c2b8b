package io.lockkeeper.server.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedLease;
import io.lockkeeper.server.core.api.SessionEvent.OrphanFound;
import io.lockkeeper.server.core.api.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.api.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.Ensemble;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import io.lockkeeper.server.zookeeper.client.Connector;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.StoreExecutor;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.SessionIdentity;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A session changes hands, and nothing that it owns changes with it. */
final class AdoptionIT {

  private static final SessionKey ONE = new SessionKey(1);
  private static final SessionKey TAKEN = new SessionKey(7);
  private static final LeaseId LEASE = new LeaseId(0xabcdef, 42);

  private final RecordedEvents olds = new RecordedEvents();
  private final RecordedEvents news = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeper truth = ensemble.client();
  private final ZooKeeperLockStore old = ensemble.store("old", olds);
  private final ZooKeeperLockStore next = ensemble.store("next", news);

  @BeforeEach
  void awaitCurrent() {
    news.awaitCurrent();
  }

  private CreatedEntry hold(String lock) {
    Asked.open(old, olds, 1);
    return AdoptionFixture.hold(old, olds, ONE, lock);
  }

  private SessionAdopted adopt() {
    return AdoptionFixture.adopt(next, news, 7);
  }

  private void release(AdoptedEntry entry) {
    release(entry, AdoptionFixture.ref(entry));
  }

  private void release(AdoptedEntry entry, EntryRef ref) {
    UUID id = entry.name().id().orElseThrow();
    next.deleteEntries(new StoreEffect.DeleteEntries(TAKEN, id, List.of(ref)));
    news.await(StoreEvent.EntriesDeleted.class, deleted -> deleted.id().equals(id));
  }

  @Test
  void adoptedSessionKeepsItsNodesTheirCreationAndTheLeaseOnRecord() throws Exception {
    // Given
    CreatedEntry entry = hold("kept");
    old.recordLease(new StoreEffect.RecordLease(ONE, LEASE, 15_000, "me", "00ff", ""));
    olds.await(StoreEvent.LeaseRecorded.class);
    Stat before = truth.exists(AdoptionFixture.path(entry), false);
    long asked = System.nanoTime();
    // When
    old.stop();
    SessionAdopted adopted = adopt();
    // Then
    assertThat(adopted.leases()).containsExactly(new AdoptedLease(LEASE, 15_000, "me", "00ff", ""));
    assertThat(adopted.entries()).hasSize(1);
    AdoptedEntry kept = adopted.entries().get(0);
    assertThat(kept.lock()).isEqualTo(entry.lock());
    assertThat(kept.name()).isEqualTo(entry.name());
    assertThat(kept.read().czxid()).isEqualTo(entry.czxid());
    assertThat(kept.read().details()).isEqualTo(Asked.DETAILS);
    assertThat(adopted.timeoutNanos()).isEqualTo(Ensemble.SESSION.toNanos());
    assertThat(adopted.takenAtNanos() - asked).isPositive();
    assertThat(adopted.provenAtNanos() - adopted.takenAtNanos()).isPositive();
    assertThat(adopted.certain()).isFalse();
    assertThat(truth.exists(AdoptionFixture.path(entry), false)).isEqualTo(before);
    assertThat(truth.getChildren("/lk/sessions", false)).hasSize(1);
    assertThat(next.stats())
        .containsEntry("sessions_adopted", 1L)
        .containsEntry("nodes_adopted", 2L);
  }

  @Test
  void zombieIsDeposedAndWhateverItDoesThenLeavesTheSessionAlone() throws Exception {
    // Given
    CreatedEntry entry = hold("stolen");
    AdoptionFixture.awaitMember(truth, "old");
    // When
    AdoptionFixture.suspect(next, news, "old");
    SessionAdopted adopted = adopt();
    old.closeSession(new StoreEffect.CloseSession(ONE));
    // Then
    assertThat(olds.await(SessionEnded.class)).isEqualTo(new SessionEnded(ONE, true));
    old.leave();
    old.stop();
    assertThat(truth.exists(AdoptionFixture.path(entry), false).getCzxid())
        .isEqualTo(entry.czxid());
    release(adopted.entries().get(0));
    assertThat(news.all(SessionEnded.class)).isEmpty();
  }

  @Test
  void nodesThatAreNothingOfOursAreLeftAndKeepTheSessionFromBeingClosed() throws Exception {
    // Given
    CreatedEntry entry = hold("beside");
    old.recordLease(new StoreEffect.RecordLease(ONE, LEASE, 15_000, "me", "00ff", ""));
    olds.await(StoreEvent.LeaseRecorded.class);
    truth.setData("/lk/leases/" + LEASE, new byte[] {1}, -1);
    old.stop();
    createOnSession(AdoptionFixture.onlyClaim(truth), "/lk/stranger");
    // When
    SessionAdopted adopted = adopt();
    release(adopted.entries().get(0));
    next.closeSession(new StoreEffect.CloseSession(TAKEN));
    // Then
    assertThat(adopted.leases()).isEmpty();
    assertThat(adopted.entries()).extracting(AdoptedEntry::name).containsExactly(entry.name());
    assertThat(news.await(SessionEnded.class)).isEqualTo(new SessionEnded(TAKEN, true));
    assertThat(truth.exists("/lk/stranger", false)).isNotNull();
    assertThat(next.stats()).containsEntry("sessions_handed_over", 1L);
  }

  /** Creates a node on a session from outside, and leaves it alive. */
  private void createOnSession(String claim, String path) throws Exception {
    byte[] data = truth.getData("/lk/sessions/" + claim, false, null);
    SessionIdentity session = ClaimRecord.read(claim, data).orElseThrow().session();
    StoreExecutor executor = new StoreExecutor();
    Connector connector = new Connector(ensemble.settings("x"), executor);
    Handle handle = Asked.handle(connector, Optional.of(session));
    handle.create(ensemble.absolute(path), new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    handle.abandon();
    executor.stop(1_000);
  }

  @Test
  void guardsStayWhereTheyAreAndAreNoPartOfTheSession() throws Exception {
    // Given
    Asked.open(old, olds, 1);
    UUID id = UUID.randomUUID();
    LockName lock = new LockName("guarded");
    old.createEntries(
        new StoreEffect.CreateEntries(ONE, id, List.of(Asked.planned(lock)), Asked.DETAILS, 700));
    Asked.created(olds, id);
    old.stop();
    // When
    SessionAdopted adopted = adopt();
    // Then
    assertThat(adopted.entries()).hasSize(1);
    AdoptedEntry entry = adopted.entries().get(0);
    String guard = MarkerName.Guard.of(id, 700, AccountTag.NOBODY).text();
    assertThat(truth.getChildren("/lk/locks/guarded", false)).hasSize(2).contains(guard);
    release(entry, new EntryRef(lock, entry.name().text(), Optional.of(guard)));
    assertThat(truth.getChildren("/lk/locks/guarded", false)).isEmpty();
    next.closeSession(new StoreEffect.CloseSession(TAKEN));
    assertThat(news.await(SessionEnded.class)).isEqualTo(new SessionEnded(TAKEN, false));
  }

  @Test
  void sessionOfThousandsOfEntriesIsAdoptedWhole() {
    // Given
    int count = 4_000;
    Asked.open(old, olds, 1);
    IntStream.range(0, count).forEach(i -> Asked.create(old, ONE, "many/" + i % 50));
    Asked.awaitCreated(olds, count);
    old.stop();
    // When
    SessionAdopted adopted = adopt();
    // Then
    assertThat(adopted.entries())
        .extracting(AdoptedEntry::name)
        .containsExactlyInAnyOrderElementsOf(
            olds.all(StoreEvent.EntriesCreated.class).stream()
                .map(created -> created.entries().get(0).name())
                .toList());
    assertThat(next.stats()).containsEntry("nodes_adopted", (long) count);
  }

  @Test
  void adoptedSessionKeepsTheTimeoutThatItWasOpenedWith() {
    // Given
    RecordedEvents others = new RecordedEvents();
    ZooKeeperLockStore longer =
        ensemble.store(
            ensemble
                .settings("longer")
                .withTimes(Duration.ofSeconds(9), Duration.ofSeconds(2), Duration.ofMillis(200), 5),
            others);
    others.awaitCurrent();
    hold("timed");
    // When
    old.stop();
    SessionAdopted adopted = AdoptionFixture.adopt(longer, others, 7);
    // Then
    assertThat(adopted.timeoutNanos()).isEqualTo(Ensemble.SESSION.toNanos());
  }

  @Test
  void leavingLeavesEverySessionThatOwnsSomethingAndClosesTheOthers() throws Exception {
    // Given
    CreatedEntry first = hold("first");
    SessionKey two = Asked.open(old, olds, 2);
    CreatedEntry second = AdoptionFixture.hold(old, olds, two, "second");
    SessionKey empty = Asked.open(old, olds, 3);
    // When
    old.leave();
    // Then
    Awaitility.await().until(() -> olds.all(SessionEnded.class).size() == 3);
    assertThat(olds.all(SessionEnded.class))
        .containsExactlyInAnyOrder(
            new SessionEnded(ONE, true),
            new SessionEnded(two, true),
            new SessionEnded(empty, false));
    AdoptionFixture.awaitGone(truth, "/lk/coordinators/old");
    Awaitility.await().until(() -> truth.getChildren("/lk/sessions", false).size() == 2);
    old.stop();
    List<String> claims = truth.getChildren("/lk/sessions", false);
    news.await(OrphanFound.class, orphan -> orphan.claim().equals(claims.get(0)));
    news.await(OrphanFound.class, orphan -> orphan.claim().equals(claims.get(1)));
    SessionAdopted one = AdoptionFixture.adopt(next, news, 11, claims.get(0));
    SessionAdopted other = AdoptionFixture.adopt(next, news, 12, claims.get(1));
    assertThat(List.of(one, other))
        .flatExtracting(SessionAdopted::entries)
        .extracting(AdoptedEntry::name)
        .containsExactlyInAnyOrder(first.name(), second.name());
  }

  @Test
  void whoHasLeftAdoptsNothing() {
    // Given
    hold("left");
    next.leave();
    old.stop();
    // When
    next.adoptSession(new StoreEffect.AdoptSession(TAKEN, "00000000000000ff"));
    // Then
    assertThat(news.await(SessionEnded.class)).isEqualTo(new SessionEnded(TAKEN, true));
    assertThat(news.all(OrphanFound.class)).isEmpty();
  }
}
