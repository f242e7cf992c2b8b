package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.SessionIdentity;
import io.lockkeeper.server.zookeeper.record.ZooKeeperAccess;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import io.lockkeeper.server.zookeeper.session.AdoptionFixture;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With credentials, what we create is ours alone, and survives a change of hands. */
final class AccessIT {

  private static final SessionKey ONE = new SessionKey(1);
  private static final int ATTEMPTS = 20;
  private static final LeaseId LEASE = new LeaseId(0xabcdef, 42);

  @TempDir private Path files;
  private final RecordedEvents events = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeper outsider = ensemble.client();
  private final ZooKeeper insider = ensemble.client();

  private Path credentials(String line) throws Exception {
    return Files.writeString(files.resolve("credentials"), line + "\n");
  }

  private ZooKeeperSettings settings(String id, Path credentials) {
    return ensemble
        .settings(id)
        .withAccess(new ZooKeeperAccess(Optional.of(credentials), false, Optional.empty()));
  }

  private ZooKeeperLockStore store(String id) throws Exception {
    insider.addAuthInfo("digest", "lk:right".getBytes(StandardCharsets.UTF_8));
    return ensemble.store(settings(id, credentials("lk:right")), events);
  }

  private static List<String> tree(ZooKeeper client, String path) throws Exception {
    List<String> paths = new ArrayList<>(List.of(path));
    for (String child : client.getChildren(path, false)) {
      paths.addAll(tree(client, path + "/" + child));
    }
    return paths;
  }

  /** Makes a node of every sort. */
  private void fill(ZooKeeperLockStore store) {
    events.awaitCurrent();
    Asked.open(store, events, 1);
    UUID id = UUID.randomUUID();
    store.createEntries(
        new StoreEffect.CreateEntries(
            ONE, id, List.of(Asked.planned(new LockName("mine"))), Asked.DETAILS, 700));
    Asked.created(events, id);
    store.recordLease(new StoreEffect.RecordLease(ONE, LEASE, 15_000, "me", "00ff", ""));
    events.await(StoreEvent.LeaseRecorded.class);
    store.setLimit(
        new StoreEffect.SetLimit(1, new LockName("limited"), OptionalInt.of(3), AccountTag.NOBODY));
    events.await(io.lockkeeper.server.core.api.UpdateEvent.LimitAnswered.class);
  }

  @Test
  void outsiderCanNeitherReadNorListNorChangeAnythingOfOurs() throws Exception {
    // Given
    outsider.addAuthInfo("digest", "somebody:else".getBytes(StandardCharsets.UTF_8));
    fill(store("c1"));
    // When
    List<String> ours = tree(insider, "/lk");
    // Then
    assertThat(ours).hasSizeGreaterThanOrEqualTo(12);
    for (String path : ours) {
      assertThat(insider.getACL(path, null))
          .as(path)
          .allMatch(acl -> acl.getId().getScheme().equals("digest"));
      refused(() -> outsider.getData(path, false, null));
      refused(() -> outsider.getChildren(path, false));
      refused(() -> outsider.getACL(path, null));
      refused(() -> outsider.setData(path, new byte[0], -1));
      refused(() -> outsider.setACL(path, Ids.OPEN_ACL_UNSAFE, -1));
      refused(
          () ->
              outsider.create(
                  path + "/x", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
    }
    for (String path : ours.subList(1, ours.size())) {
      refused(() -> outsider.delete(path, -1));
    }
  }

  private static void refused(org.assertj.core.api.ThrowableAssert.ThrowingCallable attempt) {
    assertThatThrownBy(attempt).isInstanceOf(KeeperException.NoAuthException.class);
  }

  @Test
  void outsidersRecursiveWatchSeesNothingOfOurs() throws Exception {
    // Given
    ZooKeeperLockStore store = store("c1");
    events.awaitCurrent();
    Queue<String> seen = new ConcurrentLinkedQueue<>();
    outsider.addWatch(
        "/lk", event -> seen.add("" + event.getPath()), AddWatchMode.PERSISTENT_RECURSIVE);
    // When
    fill(store);
    insider.create("/open", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    outsider.sync("/open", (rc, path, ctx) -> {}, null);
    outsider.getData("/open", false, null);
    // Then
    assertThat(seen).isEmpty();
  }

  @Test
  void sessionIsAdoptedWithItsAccessListsAndTheNextGrantComesThroughTheAdopter() throws Exception {
    // Given
    ZooKeeperLockStore old = store("old");
    events.awaitCurrent();
    Asked.open(old, events, 1);
    var first = AdoptionFixture.hold(old, events, ONE, "handed/on");
    RecordedEvents news = new RecordedEvents();
    ZooKeeperLockStore next = ensemble.store(settings("next", credentials("lk:right")), news);
    news.awaitCurrent();
    Asked.open(next, news, 2);
    UUID waiting = Asked.create(next, new SessionKey(2), "handed/on");
    String second = Asked.created(news, waiting).entries().get(0).name().text();
    // When
    old.stop();
    SessionAdopted adopted = AdoptionFixture.adopt(next, news, 7);
    var entry = adopted.entries().get(0);
    next.deleteEntries(
        new StoreEffect.DeleteEntries(
            new SessionKey(7),
            entry.name().id().orElseThrow(),
            List.of(
                new io.lockkeeper.server.core.lock.EntryRef(
                    entry.lock(), entry.name().text(), Optional.empty()))));
    // Then
    assertThat(entry.name()).isEqualTo(first.name());
    news.await(StoreEvent.EntryVanished.class, gone -> gone.entry().equals(first.name()));
    assertThat(insider.getChildren("/lk/locks/handed%2Fon", false)).containsExactly(second);
  }

  @Test
  void rootThatIsOpenToEverybodyIsRefusedWithWhatToRun() throws Exception {
    // Given
    RecordedEvents before = new RecordedEvents();
    ZooKeeperLockStore open = ensemble.store(ensemble.settings("open"), before);
    before.awaitCurrent();
    Asked.open(open, before, 1);
    open.stop();
    String root = ensemble.absolute("/lk");
    // When
    ZooKeeperLockStore store = store("c1");
    // Then
    awaitRefusal(store, root + " is open to everybody");
    awaitRefusal(store, "setAcl -R " + root + " auth::cdrwa");
    insider.setACL("/lk", Ids.CREATOR_ALL_ACL, -1);
    awaitRefusal(store, root + "/locks is open to everybody");
    assertThat(events.isCurrent()).isFalse();
    // And: it serves as soon as that is done
    for (String path : tree(insider, "/lk")) {
      insider.setACL(path, Ids.CREATOR_ALL_ACL, -1);
    }
    events.awaitCurrent();
    Awaitility.await().until(() -> store.health().refusal().isEmpty());
    fill(store);
  }

  private static void awaitRefusal(ZooKeeperLockStore store, String part) {
    Awaitility.await(part)
        .until(() -> store.health().refusal().filter(why -> why.contains(part)).isPresent());
  }

  @Test
  void sessionIsNotAttachedWithoutItsPasswordAndAnAttemptCostsNoLock() throws Exception {
    // Given
    ZooKeeperLockStore store = store("c1");
    events.awaitCurrent();
    Asked.open(store, events, 1);
    String held = AdoptionFixture.hold(store, events, ONE, "held").name().text();
    String claim = insider.getChildren("/lk/sessions", false).get(0);
    byte[] record = insider.getData("/lk/sessions/" + claim, false, null);
    SessionIdentity session = ClaimRecord.read(claim, record).orElseThrow().session();
    byte[] guess = session.password();
    guess[0] ^= 1;
    // When
    List<KeeperState> states = new ArrayList<>();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      states.add(attach(ensemble.server(), session.id(), guess));
    }
    // Then
    assertThat(states).hasSize(ATTEMPTS).containsOnly(KeeperState.Expired);
    refused(() -> outsider.getData("/lk/sessions/" + claim, false, null));
    assertThat(insider.getChildren("/lk/locks/held", false)).containsExactly(held);
    AdoptionFixture.hold(store, events, ONE, "another");
  }

  @Test
  void whereZooKeeperEnforcesAuthenticationEvenThePasswordEndsNoSession() throws Exception {
    // Given
    try (ZooKeeperProcess strict =
        ZooKeeperProcess.in(files.resolve("strict"))
            .systemProperty("zookeeper.enforce.auth.enabled", "true")
            .systemProperty("zookeeper.enforce.auth.schemes", "digest")
            .start()) {
      ZooKeeperLockStore store =
          ensemble.store(
              Ensemble.standalone(strict.connectString(), "c1")
                  .withAccess(
                      new ZooKeeperAccess(
                          Optional.of(credentials("lk:right")), false, Optional.empty())),
              events);
      events.awaitCurrent();
      Asked.open(store, events, 1);
      String held = AdoptionFixture.hold(store, events, ONE, "held").name().text();
      try (ZooKeeper known = new ZooKeeper(strict.connectString(), 30_000, event -> {})) {
        known.addAuthInfo("digest", "lk:right".getBytes(StandardCharsets.UTF_8));
        String claim = known.getChildren("/lk/sessions", false).get(0);
        byte[] record = known.getData("/lk/sessions/" + claim, false, null);
        SessionIdentity session = ClaimRecord.read(claim, record).orElseThrow().session();
        // When: he attaches, and closes the session
        KeeperState told = attach(strict, session.id(), session.password());
        // Then
        assertThat(told).isEqualTo(KeeperState.SyncConnected);
        AdoptionFixture.hold(store, events, ONE, "another");
        assertThat(known.getChildren("/lk/locks/held", false)).containsExactly(held);
      }
      store.stop();
    }
  }

  /** Returns what a stranger is told who attaches to a session, and then closes it. */
  private static KeeperState attach(ZooKeeperProcess server, long session, byte[] password)
      throws Exception {
    CompletableFuture<KeeperState> told = new CompletableFuture<>();
    ZooKeeper stranger =
        new ZooKeeper(
            server.connectString(),
            (int) Ensemble.SESSION.toMillis(),
            event -> told.complete(event.getState()),
            session,
            password);
    try {
      return told.get(60, TimeUnit.SECONDS);
    } finally {
      stranger.close();
    }
  }

  @Test
  void whoIsNotLetInServesNothingAndSaysSoUntilTheCredentialsAreRight() throws Exception {
    // Given
    insider.addAuthInfo("digest", "lk:right".getBytes(StandardCharsets.UTF_8));
    insider.create("/lk", new byte[0], Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
    Path file = credentials("lk:wrong");
    ZooKeeperLockStore store = ensemble.store(settings("c1", file), events);
    Awaitility.await().until(() -> store.health().refusal().isPresent());
    String why = store.health().refusal().orElseThrow();
    store.openSession(new StoreEffect.OpenSession(ONE));
    // When
    credentials("lk:right");
    // Then
    assertThat(why).contains("/lk").doesNotContain("wrong");
    events.awaitCurrent();
    Asked.open(store, events, 1);
    AdoptionFixture.hold(store, events, ONE, "served");
    assertThat(store.health().refusal()).isEmpty();
  }

  @Test
  void whoIsShutOutOfEverythingThatIsThereSaysSo() throws Exception {
    // Given
    fill(store("c1"));
    Path wrong = Files.writeString(files.resolve("wrong"), "lk:wrong");
    // When
    RecordedEvents others = new RecordedEvents();
    ZooKeeperLockStore shut = ensemble.store(settings("c2", wrong), others);
    // Then
    Awaitility.await().until(() -> shut.health().refusal().isPresent());
    assertThat(shut.health().refusal().orElseThrow()).contains("/lk");
    assertThat(others.isCurrent()).isFalse();
  }

  @Test
  void refusalNamesTheIdentityThatTheAccessListWants() throws Exception {
    // Given
    insider.addAuthInfo("digest", "owner:secret".getBytes(StandardCharsets.UTF_8));
    List<ACL> acl = new ArrayList<>(Ids.CREATOR_ALL_ACL);
    acl.add(new ACL(Perms.READ, new Id("world", "anyone")));
    insider.create("/lk", new byte[0], acl, CreateMode.PERSISTENT);
    // When
    ZooKeeperLockStore store = ensemble.store(settings("c1", credentials("lk:right")), events);
    // Then
    Awaitility.await().until(() -> store.health().refusal().isPresent());
    assertThat(store.health().refusal().orElseThrow())
        .contains("/lk")
        .contains("digest:lk")
        .contains("digest:owner");
  }

  @Test
  void authenticationThatZooKeeperRefusesIsTriedAgainUntilItSucceeds() throws Exception {
    // Given
    Path data = files.resolve("strict");
    ZooKeeperProcess.Builder strict =
        ZooKeeperProcess.in(data)
            .systemProperty("zookeeper.DigestAuthenticationProvider.enabled", "false");
    ZooKeeperProcess server = strict.start();
    ZooKeeperSettings there =
        Ensemble.standalone(server.connectString(), "c1")
            .withAccess(
                new ZooKeeperAccess(Optional.of(credentials("lk:right")), false, Optional.empty()));
    ZooKeeperLockStore store = ensemble.store(there, events);
    Awaitility.await().until(() -> store.health().refusal().isPresent());
    // When
    server.close();
    try (ZooKeeperProcess lenient = ZooKeeperProcess.in(data).port(server.port()).start()) {
      // Then
      events.awaitCurrent();
      Asked.open(store, events, 1);
      AdoptionFixture.hold(store, events, ONE, "served");
      Awaitility.await().until(() -> store.health().refusal().isEmpty());
      store.stop();
      assertThat(lenient.isAlive()).isTrue();
    }
  }
}
