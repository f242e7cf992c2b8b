package io.lockkeeper.server.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.testing.ZooKeeperProxy.Action;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.Ensemble;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import io.lockkeeper.server.zookeeper.client.Connector;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.StoreExecutor;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.MemberRecord;
import io.lockkeeper.server.zookeeper.record.SessionIdentity;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How lock sessions begin, end, and outlive what only looks like an end. */
@Tag("smoke")
final class SessionIT {

  private final RecordedEvents events = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeperProxy proxy = ensemble.proxy();
  private final ZooKeeper truth = ensemble.client();
  private ZooKeeperLockStore store = ensemble.store(proxy.connectString(), "c1", events);

  /** Replaces the store by one whose sessions expire soon. */
  private void useBriefSessions() {
    store.stop();
    store = ensemble.store(ensemble.brief(proxy.connectString(), "c1"), events);
  }

  private CreatedEntry hold(SessionKey session, String lock) {
    return Asked.created(events, Asked.create(store, session, lock)).entries().get(0);
  }

  private static String path(CreatedEntry entry) {
    return "/lk/locks/" + entry.lock().encoded() + "/" + entry.name();
  }

  private void awaitGone(String path) {
    Awaitility.await(path).until(() -> truth.exists(path, false) == null);
  }

  @Test
  void expiredSessionEndsAndItsClaimIsRemoved() throws Exception {
    // Given
    useBriefSessions();
    SessionKey session = Asked.open(store, events, 1);
    CreatedEntry entry = hold(session, "lost");
    assertThat(truth.getChildren("/lk/sessions", false)).hasSize(1);
    // When
    proxy.refuse();
    awaitGone(path(entry));
    proxy.heal();
    // Then
    SessionEnded ended = events.await(SessionEnded.class);
    assertThat(ended).isEqualTo(new SessionEnded(session, false));
    assertThat(events.all(SessionEvent.SessionSuspended.class)).hasSize(1);
    Awaitility.await().until(() -> truth.getChildren("/lk/sessions", false).isEmpty());
  }

  @Test
  void abandonedHandleLeavesItsEphemeralsAndAClosedOneDoesNot() throws Exception {
    // Given
    StoreExecutor executor = new StoreExecutor();
    ZooKeeperSettings settings = ensemble.settings("x");
    Connector connector = new Connector(settings, executor);
    Handle abandoned = Asked.handle(connector, Optional.empty());
    Handle closed = Asked.handle(connector, Optional.empty());
    ephemeral(abandoned, ensemble.absolute("/abandoned"));
    ephemeral(closed, ensemble.absolute("/closed"));
    // When
    abandoned.abandon();
    closed.close();
    // Then
    assertThat(truth.exists("/closed", false)).isNull();
    assertThat(truth.exists("/abandoned", false)).isNotNull();
    executor.stop(1_000);
  }

  private static void ephemeral(ZooKeeper client, String path) throws Exception {
    client.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
  }

  @Test
  void mirrorStaysWholeWhenALockSessionGoes() throws Exception {
    // Given
    SessionKey empty = Asked.open(store, events, 1);
    SessionKey deposed = Asked.open(store, events, 2);
    hold(deposed, "taken");
    // When
    store.closeSession(new StoreEffect.CloseSession(empty));
    events.await(SessionEnded.class, ended -> ended.session().equals(empty));
    Awaitility.await().until(() -> truth.getChildren("/lk/sessions", false).size() == 1);
    String claim = "/lk/sessions/" + truth.getChildren("/lk/sessions", false).get(0);
    truth.setData(claim, "{\"owner\":\"peer\"}".getBytes(StandardCharsets.UTF_8), 0);
    var unused = Asked.create(store, deposed, "late");
    events.await(SessionEnded.class, ended -> ended.session().equals(deposed));
    // Then
    hold(Asked.open(store, events, 3), "next");
    Awaitility.await()
        .untilAsserted(() -> assertThat(Ensemble.mirror(events)).isEqualTo(Ensemble.truth(truth)));
    assertThat(events.all(StoreEvent.MirrorStale.class)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(
      value = Action.class,
      names = {"CUT_BEFORE", "CUT_AFTER"})
  void emptySessionIsClosedWhereverTheConnectionBreaks(Action action) throws Exception {
    // Given
    SessionKey session = Asked.open(store, events, 1);
    proxy.at(1, OpCode.closeSession, action);
    // When
    store.closeSession(new StoreEffect.CloseSession(session));
    // Then
    assertThat(events.await(SessionEnded.class)).isEqualTo(new SessionEnded(session, false));
    assertThat(proxy.pendingRules()).isZero();
    Awaitility.await().until(() -> truth.getChildren("/lk/sessions", false).isEmpty());
    assertThat(store.stats()).containsEntry("sessions_deposed", 0L);
  }

  @Test
  void sessionWhoseIdHasAClaimOfAnotherIsNotUsed() throws Exception {
    // Given: ids are made from how long a server's machine has been up
    AtomicReference<String> claim = new AtomicReference<>("");
    proxy.at(
        1,
        request -> {
          Matcher path = Pattern.compile("/lk/sessions/[0-9a-f]{16}").matcher(request.text());
          boolean claims = request.opcode() == OpCode.create2 && path.find();
          if (claims) {
            // Those of later sessions pass here, too.
            claim.compareAndSet("", path.group());
          }
          return claims;
        },
        Action.HOLD);
    store.openSession(new StoreEffect.OpenSession(new SessionKey(1)));
    Awaitility.await().until(() -> proxy.pendingRules() == 0);
    byte[] left =
        new ClaimRecord("somebody", "", new SessionIdentity(1, new byte[16]), 1, 0, false).write();
    truth.create(claim.get(), left, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    // When
    proxy.letGo();
    // Then
    events.await(SessionEvent.SessionOpened.class);
    assertThat(truth.getChildren("/lk/sessions", false)).hasSize(2);
    assertThat(truth.getData(claim.get(), false, null)).isEqualTo(left);
  }

  @Test
  void abandonedStoreClosesNoSessionNotEvenAnEmptyOne() throws Exception {
    // Given
    SessionKey holding = Asked.open(store, events, 1);
    CreatedEntry entry = hold(holding, "held");
    Asked.open(store, events, 2);
    List<String> claims = truth.getChildren("/lk/sessions", false);
    // When
    store.abandon();
    // Then
    assertThat(truth.exists(path(entry), false)).isNotNull();
    assertThat(truth.getChildren("/lk/sessions", false)).hasSize(2).isEqualTo(claims);
    assertThat(truth.getChildren("/lk/coordinators", false)).hasSize(1);
  }

  @Test
  void stoppingLeavesHeldEntriesAndClosesEmptySessions() throws Exception {
    // Given
    SessionKey holding = Asked.open(store, events, 1);
    CreatedEntry entry = hold(holding, "held");
    Asked.open(store, events, 2);
    assertThat(truth.getChildren("/lk/sessions", false)).hasSize(2);
    // When
    store.stop();
    // Then
    assertThat(truth.exists(path(entry), false)).isNotNull();
    assertThat(truth.getChildren("/lk/sessions", false)).hasSize(1);
    assertThat(truth.getChildren("/lk/coordinators", false)).isEmpty();
  }

  @Test
  void memberNodeComesBackAfterItsSessionExpired() throws Exception {
    // Given
    useBriefSessions();
    String member = "/lk/coordinators/c1";
    Awaitility.await().until(() -> truth.exists(member, false) != null);
    // When
    proxy.refuse();
    awaitGone(member);
    proxy.heal();
    // Then
    Awaitility.await().until(() -> truth.exists(member, false) != null);
    assertThat(MemberRecord.read(truth.getData(member, false, null)))
        .isEqualTo(new MemberRecord("127.0.0.1:7420", ""));
  }

  @Test
  void sessionAsLargeAsMayBeEndsWithoutHarmToZooKeeper() throws Exception {
    // Given
    useBriefSessions();
    SessionKey session = Asked.open(store, events, 1);
    int bytes = 0;
    int entries = 0;
    while (bytes < 512 << 10) {
      String lock = "cap/" + entries % 100;
      bytes +=
          store.pathBytes(
              new io.lockkeeper.server.core.lock.LockName(lock),
              io.lockkeeper.server.core.lock.MutexKind.EXCLUSIVE);
      entries++;
      var unused = Asked.create(store, session, lock);
    }
    Asked.awaitCreated(events, entries);
    // When
    store.stop();
    // Then
    Awaitility.await().until(() -> Ensemble.truth(truth).isEmpty());
    assertThat(truth.exists("/lk", false)).isNotNull();
  }

  @Test
  void ensembleThatGrantsTooShortSessionsIsRefused(@TempDir Path other) throws Exception {
    // Given
    CompletableFuture<String> problem = new CompletableFuture<>();
    try (ZooKeeperProcess stingy =
        ZooKeeperProcess.in(other).configuration("maxSessionTimeout", "3000").start()) {
      ZooKeeperLockStore refusing =
          new ZooKeeperLockStore(
              ensemble.settings(stingy.connectString(), "c9"), problem::complete);
      refusing.start(new RecordedEvents(), RecordedEvents::onFailure);
      // When
      refusing.openSession(new StoreEffect.OpenSession(new SessionKey(1)));
      // Then
      assertThat(problem.get(60, TimeUnit.SECONDS))
          .contains("3000 ms")
          .contains(Ensemble.SESSION.toMillis() + " ms");
      refusing.stop();
    }
  }

  @Test
  void proofsGoOnAfterEachLostConnection() {
    // Given
    SessionKey session = Asked.open(store, events, 1);
    // When
    proxy.cutAll();
    events.await(SessionEvent.SessionSuspended.class, e -> e.session().equals(session));
    // Then
    events.await(SessionEvent.SessionProved.class, e -> e.session().equals(session));
    List<StoreEvent> all = events.all();
    assertThat(all.stream().filter(SessionEvent.SessionSuspended.class::isInstance)).hasSize(1);
  }
}
