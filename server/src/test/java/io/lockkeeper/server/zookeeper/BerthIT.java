package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.SessionEvent.SessionOpened;
import io.lockkeeper.server.core.SessionKey;
import io.lockkeeper.server.core.StoreEvent.BarrierPassed;
import io.lockkeeper.server.core.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.StoreEvent.EntryAppeared;
import io.lockkeeper.server.core.StoreEvent.MirrorStale;
import io.lockkeeper.server.core.StoreEvent.RebuildStarted;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.testing.ZooKeeperProxy.Action;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One lock session shares the mirror's connection, and what its ways to leave mean for both. */
final class BerthIT {

  @TempDir Path directory;

  private final RecordedEvents events = new RecordedEvents();
  private Ensemble ensemble;
  private ZooKeeperProxy proxy;
  private ZooKeeper truth;
  private ZooKeeperLockStore store;

  @BeforeEach
  void start() throws Exception {
    ensemble = Ensemble.in(directory);
    proxy = ensemble.proxy();
    truth = ensemble.client();
    store = ensemble.store(Ensemble.brief(proxy.connectString(), "c1"), events);
  }

  @AfterEach
  void stop() throws Exception {
    ensemble.close();
  }

  private List<String> claims() throws Exception {
    return truth.getChildren("/lk/sessions", false);
  }

  /** Returns the session that watches the locks, named as its claim is. */
  private String watcher() {
    String session = "";
    for (String line : ensemble.server().ask("wchc").lines().toList()) {
      if (line.startsWith("0x")) {
        session = line.substring(2);
      } else if (line.strip().equals("/lk/locks")) {
        return claimName(session);
      }
    }
    return "nobody";
  }

  private CreatedEntry hold(SessionKey session, String lock) {
    UUID id = Asked.create(store, session, lock);
    CreatedEntry entry = Asked.created(events, id).entries().get(0);
    events.await(EntryAppeared.class, e -> e.entry().equals(entry.name()));
    return entry;
  }

  private boolean exists(CreatedEntry entry) throws Exception {
    String path = "/lk/locks/" + entry.lock().encoded() + "/" + entry.name();
    return truth.exists(path, false) != null;
  }

  /** The mirror is whole, on a session of its own that is no lock session's. */
  private void assertMirrorHasMovedFrom(String claim) {
    events.await(MirrorStale.class);
    events.awaitCurrent();
    // The old connection is dropped by a thread of its own.
    Awaitility.await().until(() -> !List.of(claim, "nobody").contains(watcher()));
  }

  @Test
  void firstLockSessionSharesTheMirrorsAndOthersDoNot() throws Exception {
    // When
    Asked.open(store, events, 1);
    String first = claims().get(0);
    Asked.open(store, events, 2);
    // Then
    assertThat(watcher()).isEqualTo(first);
    assertThat(claims()).hasSize(2);
  }

  @Test
  void emptySessionLeavesWithoutTheMirrorNoticing() throws Exception {
    // Given
    SessionKey first = Asked.open(store, events, 1);
    SessionKey second = Asked.open(store, events, 2);
    String watching = watcher();
    // When
    store.closeSession(first);
    // Then
    assertThat(events.await(SessionEnded.class)).isEqualTo(new SessionEnded(first, false));
    Awaitility.await().until(() -> claims().size() == 1);
    hold(second, "a");
    assertThat(watcher()).isEqualTo(watching).isNotIn(claims());
    assertThat(events.all(MirrorStale.class)).isEmpty();
  }

  @Test
  void noSessionIsALockSessionTwice() throws Exception {
    // Given
    SessionKey first = Asked.open(store, events, 1);
    store.closeSession(first);
    events.await(SessionEnded.class);
    Awaitility.await().until(() -> claims().isEmpty());
    // When
    SessionKey second = Asked.open(store, events, 2);
    hold(second, "a");
    // Then
    assertThat(claims()).hasSize(1).doesNotContain(watcher());
  }

  @Test
  void deposedSessionLivesOnAndTheMirrorGetsAnother() throws Exception {
    // Given
    SessionKey session = Asked.open(store, events, 1);
    CreatedEntry entry = hold(session, "taken");
    String claim = claims().get(0);
    truth.setData(
        "/lk/sessions/" + claim, "{\"owner\":\"peer\"}".getBytes(StandardCharsets.UTF_8), 0);
    // When
    var unused = Asked.create(store, session, "late");
    // Then
    assertThat(events.await(SessionEnded.class)).isEqualTo(new SessionEnded(session, true));
    assertMirrorHasMovedFrom(claim);
    assertThat(exists(entry)).isTrue();
    assertThat(Ensemble.mirror(events)).isEqualTo(Ensemble.truth(truth));
  }

  @Test
  void expiredSessionEndsForBothAndTheNextLockSessionSharesTheMirrorsAgain() throws Exception {
    // Given
    SessionKey session = Asked.open(store, events, 1);
    CreatedEntry entry = hold(session, "lost");
    String claim = claims().get(0);
    // When
    proxy.refuse();
    Awaitility.await().until(() -> !exists(entry));
    proxy.heal();
    // Then
    assertThat(events.await(SessionEnded.class)).isEqualTo(new SessionEnded(session, false));
    assertMirrorHasMovedFrom(claim);
    Awaitility.await().until(() -> claims().isEmpty());
    hold(Asked.open(store, events, 2), "next");
    assertThat(claims()).containsExactly(watcher());
    assertThat(Ensemble.mirror(events)).isEqualTo(Ensemble.truth(truth));
  }

  @Test
  void sessionThatIsHandedOverTakesTheHandleAndItsEntriesStay() throws Exception {
    // Given
    SessionKey session = Asked.open(store, events, 1);
    CreatedEntry entry = hold(session, "kept");
    String claim = claims().get(0);
    // When
    store.leave();
    // Then
    assertThat(events.await(SessionEnded.class)).isEqualTo(new SessionEnded(session, true));
    assertThat(exists(entry)).isTrue();
    assertThat(claims()).containsExactly(claim);
  }

  @Test
  void coordinatorThatLeavesReadsNothingBackAndStillHasAConnection() {
    // Given
    hold(Asked.open(store, events, 1), "kept");
    // When
    store.leave();
    events.await(SessionEnded.class);
    // Then: the mirror's handle has gone with the session, and barriers need one
    Awaitility.await()
        .until(
            () -> {
              store.barrier(1);
              return !events.all(BarrierPassed.class).isEmpty();
            });
    assertThat(events.all(MirrorStale.class)).hasSize(1);
    assertThat(events.all(RebuildStarted.class)).hasSize(1);
    Awaitility.await().until(() -> watcher().equals("nobody"));
  }

  @ParameterizedTest
  @EnumSource(
      value = Action.class,
      names = {"CUT_BEFORE", "CUT_AFTER"})
  void emptySessionLeavesWhereverTheConnectionBreaks(Action action) throws Exception {
    // Given
    SessionKey session = Asked.open(store, events, 1);
    String claim = claims().get(0);
    proxy.at(1, request -> request.isMultiWith(OpCode.delete) && request.contains(claim), action);
    // When
    store.closeSession(session);
    // Then
    assertThat(events.await(SessionEnded.class)).isEqualTo(new SessionEnded(session, false));
    assertThat(proxy.pendingRules()).isZero();
    events.awaitCurrent();
    assertThat(claims()).isEmpty();
    assertThat(watcher()).isEqualTo(claim);
    assertThat(store.stats()).containsEntry("sessions_deposed", 0L);
  }

  @Test
  void emptySessionThatAPeerTakesAtTheLastMomentIsNotLeftToTheMirror() throws Exception {
    // Given: it was found to be empty, and ours, and its claim is about to go
    SessionKey session = Asked.open(store, events, 1);
    String claim = claims().get(0);
    proxy.at(
        1, request -> request.isMultiWith(OpCode.delete) && request.contains(claim), Action.HOLD);
    store.closeSession(session);
    Awaitility.await().until(() -> proxy.pendingRules() == 0);
    // When
    truth.setData(
        "/lk/sessions/" + claim, "{\"owner\":\"peer\"}".getBytes(StandardCharsets.UTF_8), 0);
    proxy.letGo();
    // Then
    assertThat(events.await(SessionEnded.class)).isEqualTo(new SessionEnded(session, true));
    assertMirrorHasMovedFrom(claim);
    store.stop();
    assertThat(claims()).containsExactly(claim);
    assertThat(sessions()).contains(claim);
  }

  @Test
  void sessionWhoseIdHasAClaimOfAnotherIsNotUsed() throws Exception {
    // Given: ids are made from how long a server's machine has been up
    proxy.at(
        1,
        request -> request.opcode() == OpCode.create2 && request.contains("/lk/sessions/"),
        Action.HOLD);
    store.openSession(new SessionKey(1));
    Awaitility.await().until(() -> proxy.pendingRules() == 0);
    String id = watcher();
    byte[] left =
        new ClaimRecord(
                "somebody",
                "",
                new SessionIdentity(Long.parseUnsignedLong(id, 16), new byte[16]),
                1,
                0,
                false)
            .write();
    truth.create("/lk/sessions/" + id, left, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    // When
    proxy.letGo();
    // Then
    events.await(SessionOpened.class);
    assertThat(claims()).hasSize(2).contains(id);
    assertThat(truth.getData("/lk/sessions/" + id, false, null)).isEqualTo(left);
    assertThat(sessions()).doesNotContain(id);
  }

  @Test
  void stopEndsTheMirrorsSessionUnlessALockSessionOwnsSomething() throws Exception {
    // Given
    CreatedEntry entry = hold(Asked.open(store, events, 1), "kept");
    String claim = claims().get(0);
    // When
    store.stop();
    // Then: beside that of the test the lock session alone is left, for somebody to adopt
    String ours = StorePaths.claimName(truth.getSessionId());
    assertThat(sessions()).containsExactlyInAnyOrder(ours, claim);
    assertThat(exists(entry)).isTrue();
    assertThat(claims()).containsExactly(claim);
  }

  /** Returns all sessions, named as claims are. */
  private List<String> sessions() {
    return ensemble
        .server()
        .ask("dump")
        .lines()
        .takeWhile(line -> !line.startsWith("ephemeral"))
        .filter(line -> line.startsWith("\t0x"))
        .map(line -> claimName(line.strip().substring(2)))
        .toList();
  }

  private static String claimName(String session) {
    return StorePaths.claimName(Long.parseUnsignedLong(session, 16));
  }
}
