package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.coordinator.api.StoreHealth;
import io.lockkeeper.server.coordinator.api.StoreView;
import io.lockkeeper.server.core.api.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent.DeletionDelayed;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.EntriesDeleted;
import io.lockkeeper.server.core.api.StoreEvent.EntriesRefused;
import io.lockkeeper.server.core.api.StoreEvent.LeaseRecorded;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.session.AdoptionFixture;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What others have put beside our nodes, or closed to us, stays a matter of that one place. */
final class ForeignNodesIT {

  private static final SessionKey ONE = new SessionKey(1);
  private static final LeaseId LEASE = new LeaseId(0xabcdef, 42);

  private final RecordedEvents events = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeper truth = ensemble.client();
  private final ZooKeeperLockStore store = ensemble.store(events);

  @BeforeEach
  void open() {
    events.awaitCurrent();
    Asked.open(store, events, 1);
    truth.addAuthInfo("digest", "somebody:else".getBytes(StandardCharsets.UTF_8));
  }

  private Optional<LeaseLocation> locate(LeaseId lease) throws Exception {
    CompletableFuture<Optional<LeaseLocation>> answer = new CompletableFuture<>();
    store.locate(lease, answer::complete);
    return answer.get(60, TimeUnit.SECONDS);
  }

  private StoreView described() throws Exception {
    CompletableFuture<Optional<StoreView>> view = new CompletableFuture<>();
    store.describe(view::complete);
    return view.get(60, TimeUnit.SECONDS).orElseThrow();
  }

  @Test
  void lockWhoseDirectoryIsClosedToUsIsRefusedForNowWithItsPathAndOthersAreServed()
      throws Exception {
    // Given
    truth.create("/lk/locks/closed", new byte[0], Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
    // When
    UUID refused = Asked.create(store, ONE, "closed");
    EntriesRefused refusal =
        events.await(EntriesRefused.class, event -> event.id().equals(refused));
    StoreHealth health = store.health();
    // Then
    assertThat(refusal.passing()).isTrue();
    assertThat(refusal.message()).contains("/lk/locks/closed/").contains("NOAUTH");
    assertThat(health.refusal()).isEmpty();
    assertThat(health.unwritable()).isEqualTo(1);
    assertThat(health.firstUnwritable().orElseThrow()).contains("/lk/locks/closed");
    Asked.created(events, Asked.create(store, ONE, "other"));
    truth.setACL("/lk/locks/closed", Ids.OPEN_ACL_UNSAFE, -1);
    Asked.created(events, Asked.create(store, ONE, "closed"));
    Awaitility.await().until(() -> store.health().equals(StoreHealth.WELL));
  }

  @Test
  void deletionThatIsNotAllowedIsToldWithItsPathAndDoneAsSoonAsItIs() throws Exception {
    // Given
    EntriesCreated created = Asked.created(events, Asked.create(store, ONE, "held"));
    truth.setACL("/lk/locks/held", Ids.CREATOR_ALL_ACL, -1);
    // When
    Asked.delete(store, ONE, created);
    DeletionDelayed delayed = events.await(DeletionDelayed.class);
    // Then
    assertThat(delayed.id()).isEqualTo(created.id());
    assertThat(delayed.message()).contains("/lk/locks/held/").contains("NOAUTH");
    assertThat(store.health().firstUnwritable().orElseThrow()).contains("/lk/locks/held/");
    truth.setACL("/lk/locks/held", Ids.OPEN_ACL_UNSAFE, -1);
    events.await(EntriesDeleted.class, deleted -> deleted.id().equals(created.id()));
  }

  @Test
  void childBelowAGuardKeepsTheGuardAndNotTheLock() throws Exception {
    // Given
    UUID id = UUID.randomUUID();
    LockName lock = new LockName("guarded");
    store.createEntries(
        new StoreEffect.CreateEntries(ONE, id, List.of(Asked.planned(lock)), Asked.DETAILS, 700));
    EntriesCreated created = Asked.created(events, id);
    String entry = created.entries().get(0).name().text();
    String guard = MarkerName.Guard.of(id, 700, AccountTag.NOBODY).text();
    truth.create(
        "/lk/locks/guarded/" + guard + "/x",
        new byte[0],
        Ids.OPEN_ACL_UNSAFE,
        CreateMode.PERSISTENT);
    // When
    store.deleteEntries(
        new StoreEffect.DeleteEntries(
            ONE, id, List.of(new EntryRef(lock, entry, Optional.of(guard)))));
    // Then
    events.await(EntriesDeleted.class, deleted -> deleted.id().equals(id));
    assertThat(truth.getChildren("/lk/locks/guarded", false)).containsExactly(guard);
  }

  @Test
  void leaseWhoseRecordIsForgedIsUnknown() throws Exception {
    // Given
    byte[] forged =
        "{\"format\":1,\"ttlMillis\":15000,\"holder\":\"x\",\"secretHash\":\"00\"}"
            .getBytes(StandardCharsets.UTF_8);
    LeaseId persistent = new LeaseId(1, 1);
    LeaseId strangers = new LeaseId(2, 2);
    truth.create("/lk/leases/" + persistent, forged, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    truth.create("/lk/leases/" + strangers, forged, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    // When
    Optional<LeaseLocation> first = locate(persistent);
    Optional<LeaseLocation> second = locate(strangers);
    // Then
    assertThat(first).contains(new LeaseLocation.Unknown());
    assertThat(second).contains(new LeaseLocation.Unknown());
    assertThat(truth.getChildren("/lk/leases", false)).hasSize(2);
  }

  @Test
  void leaseOnASessionOfANewerReleaseIsWaitedForAndNotUnknown() throws Exception {
    // Given
    store.recordLease(new StoreEffect.RecordLease(ONE, LEASE, 15_000, "me", "00ff", ""));
    events.await(LeaseRecorded.class);
    String claim = "/lk/sessions/" + truth.getChildren("/lk/sessions", false).get(0);
    // When
    truth.setData(claim, "{\"format\":99}".getBytes(StandardCharsets.UTF_8), -1);
    // Then
    assertThat(locate(LEASE)).contains(new LeaseLocation.Nowhere());
  }

  @Test
  void sessionWhoseLeaseCannotBeReadIsAdoptedOnceLeftAloneAndItsLeaseUnknown() throws Exception {
    // Given
    RecordedEvents olds = new RecordedEvents();
    ZooKeeperLockStore old = ensemble.store(ensemble.brief("old"), olds);
    Asked.open(old, olds, 1);
    old.recordLease(new StoreEffect.RecordLease(ONE, LEASE, 15_000, "me", "00ff", ""));
    olds.await(LeaseRecorded.class);
    truth.setData("/lk/leases/" + LEASE, new byte[] {1, 2, 3}, -1);
    RecordedEvents news = new RecordedEvents();
    ZooKeeperLockStore next = ensemble.store("next", news);
    news.awaitCurrent();
    old.stop();
    AdoptionFixture.adopt(next, news, 7);
    // When
    next.closeSession(new StoreEffect.CloseSession(new SessionKey(7)));
    news.await(SessionEnded.class);
    CompletableFuture<Optional<LeaseLocation>> answer = new CompletableFuture<>();
    next.locate(LEASE, answer::complete);
    // Then
    assertThat(answer.get(60, TimeUnit.SECONDS)).contains(new LeaseLocation.Unknown());
    Awaitility.await().until(() -> truth.getChildren("/lk/leases", false).isEmpty());
    assertThat(next.stats()).containsEntry("sessions_adopted", 1L);
  }

  @Test
  void nodeThatLooksLikeOurTrialOfAParentKeepsNobodyFromServing() throws Exception {
    // Given
    truth.create("/lk/locks/.trial", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    RecordedEvents news = new RecordedEvents();
    // When
    ensemble.store("next", news);
    // Then
    news.awaitCurrent();
  }

  @Test
  void nodesThatWeMayNotReadKeepNobodyFromServing() throws Exception {
    // Given
    for (String path :
        List.of(
            "/lk/locks/private",
            "/lk/sessions/00000000000000aa",
            "/lk/coordinators/private",
            "/lk/leases/private")) {
      truth.create(path, new byte[0], Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
    }
    AdoptionFixture.hold(store, events, ONE, "held");
    RecordedEvents news = new RecordedEvents();
    ZooKeeperLockStore next = ensemble.store("next", news);
    // When
    news.awaitCurrent();
    store.stop();
    // Then
    assertThat(AdoptionFixture.adopt(next, news, 7).entries()).hasSize(1);
    UUID refused = Asked.create(next, new SessionKey(7), "private");
    assertThat(news.await(EntriesRefused.class, event -> event.id().equals(refused)).message())
        .contains("/lk/locks/private");
    assertThat(next.health().firstUnwritable().orElseThrow()).contains("/lk/locks/private");
    // And: once we may list it the lock is served, without a restart
    truth.setACL("/lk/locks/private", Ids.OPEN_ACL_UNSAFE, -1);
    Awaitility.await().until(() -> next.health().equals(StoreHealth.WELL));
    Asked.created(news, Asked.create(next, new SessionKey(7), "private"));
  }

  @Test
  void memberThatWeMayNotReadLives() throws Exception {
    // Given
    List<List<Peer>> told = new CopyOnWriteArrayList<>();
    store.watchPeers(told::add);
    truth.create("/lk/coordinators/silent", new byte[0], Ids.CREATOR_ALL_ACL, CreateMode.EPHEMERAL);
    String claim = "/lk/sessions/" + truth.getChildren("/lk/sessions", false).get(0);
    String record = new String(truth.getData(claim, false, null), StandardCharsets.UTF_8);
    String theirs = record.replaceFirst("\"owner\":\"[^\"]*\"", "\"owner\":\"silent\"");
    truth.setData(claim, theirs.getBytes(StandardCharsets.UTF_8), -1);
    // When
    truth.create(
        "/lk/coordinators/mark",
        "h:1".getBytes(StandardCharsets.UTF_8),
        Ids.OPEN_ACL_UNSAFE,
        CreateMode.EPHEMERAL);
    Awaitility.await().until(() -> told.contains(List.of(new Peer("mark", "h:1"))));
    // The claim's change comes by its own watch, which may be later than the members'.
    Awaitility.await()
        .until(
            () ->
                described().sessions().stream()
                    .anyMatch(session -> session.owner().equals("silent")));
    // Then
    assertThat(described().sessions())
        .singleElement()
        .satisfies(session -> assertThat(session.orphaned()).isFalse());
  }

  @Test
  void memberWithoutAnAddressIsNoPeer() throws Exception {
    // Given
    List<List<Peer>> told = new CopyOnWriteArrayList<>();
    store.watchPeers(told::add);
    truth.create(
        "/lk/coordinators/bad", new byte[] {0, 1}, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    truth.create(
        "/lk/coordinators/dead",
        "h:1".getBytes(StandardCharsets.UTF_8),
        Ids.OPEN_ACL_UNSAFE,
        CreateMode.PERSISTENT);
    // When
    truth.create(
        "/lk/coordinators/good",
        "h:1".getBytes(StandardCharsets.UTF_8),
        Ids.OPEN_ACL_UNSAFE,
        CreateMode.EPHEMERAL);
    // Then
    Awaitility.await().until(() -> told.contains(List.of(new Peer("good", "h:1"))));
    assertThat(told).allMatch(peers -> peers.stream().allMatch(peer -> peer.id().equals("good")));
  }
}
