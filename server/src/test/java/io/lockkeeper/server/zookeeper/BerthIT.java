package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.SessionKey;
import io.lockkeeper.server.core.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.StoreEvent.EntryAppeared;
import io.lockkeeper.server.core.StoreEvent.MirrorStale;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
    proxy = new ZooKeeperProxy(ensemble.server().port());
    truth = ensemble.client();
    store = ensemble.store(Ensemble.brief(proxy.connectString(), "c1"), events);
  }

  @AfterEach
  void stop() throws Exception {
    proxy.close();
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
        return "0".repeat(16 - session.length()) + session;
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
    assertMirrorHasMovedFrom(claim);
    assertThat(exists(entry)).isTrue();
    assertThat(claims()).containsExactly(claim);
  }

  @Test
  void stopEndsTheMirrorsSessionUnlessALockSessionOwnsSomething() throws Exception {
    // Given
    hold(Asked.open(store, events, 1), "kept");
    String claim = claims().get(0);
    // When
    store.stop();
    // Then: the lock session alone is left, for somebody to adopt
    assertThat(claims()).containsExactly(claim);
    Awaitility.await().until(() -> sessions() == 2);
  }

  /** Returns how many sessions there are, that of the test included. */
  private long sessions() {
    return ensemble
        .server()
        .ask("dump")
        .lines()
        .takeWhile(line -> !line.startsWith("ephemeral"))
        .filter(line -> line.startsWith("\t0x"))
        .count();
  }
}
