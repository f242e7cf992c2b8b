package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.api.SessionEvent.OrphanFound;
import io.lockkeeper.server.core.api.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.api.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.server.zookeeper.session.AdoptionFixture;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Takeovers on an ensemble of three servers, which do not all know the same at the same time. */
final class QuorumIT {

  private static final int ENTRIES = 200;
  private static final SessionKey ONE = new SessionKey(1);
  private static final SessionKey TAKEN = new SessionKey(7);

  @TempDir Path directory;

  private final RecordedEvents olds = new RecordedEvents();
  private final RecordedEvents news = new RecordedEvents();
  private final List<ZooKeeperLockStore> stores = new ArrayList<>();
  private Quorum quorum;

  @BeforeEach
  void start() throws Exception {
    quorum = Quorum.in(directory);
  }

  @AfterEach
  void stop() {
    stores.forEach(ZooKeeperLockStore::stop);
    quorum.close();
  }

  private ZooKeeperLockStore store(String connect, String id, RecordedEvents events) {
    ZooKeeperLockStore store =
        new ZooKeeperLockStore(
            Ensemble.standalone(connect, id),
            problem -> {
              throw new AssertionError(problem);
            },
            new ZooKeeperLockStore.Pace(200, DirectoryReaper.IDLE_TICKS));
    stores.add(store);
    store.start(events, RecordedEvents::onFailure);
    events.awaitCurrent();
    return store;
  }

  private List<EntryName> hold(ZooKeeperLockStore old) {
    IntStream.range(0, ENTRIES).forEach(i -> Asked.create(old, ONE, "q/" + i % 10));
    Asked.awaitCreated(olds, ENTRIES);
    return olds.all(EntriesCreated.class).stream()
        .map(created -> created.entries().get(0).name())
        .toList();
  }

  private int mirrored() {
    return news.mirror().values().stream().mapToInt(Set::size).sum();
  }

  @Test
  void adopterOnAServerThatLagsBehindSeesEverything() {
    // Given
    ZooKeeperProcess follower = quorum.follower();
    ZooKeeperLockStore old = store(quorum.leader().connectString(), "old", olds);
    ZooKeeperLockStore next = store(follower.connectString(), "next", news);
    Asked.open(old, olds, 1);
    // When
    follower.pause();
    List<EntryName> entries = hold(old);
    old.leave();
    Awaitility.await().until(() -> !olds.all(SessionEnded.class).isEmpty());
    follower.resume();
    SessionAdopted adopted = AdoptionFixture.adopt(next, news, 7);
    // Then
    assertThat(adopted.entries())
        .extracting(AdoptedEntry::name)
        .containsExactlyInAnyOrderElementsOf(entries);
    Awaitility.await("mirror").until(() -> mirrored() == ENTRIES);
  }

  @Test
  void adoptionGoesOnWhenTheLeaderIsKilledMeanwhile() {
    // Given
    ZooKeeperLockStore old = store(quorum.connectString(), "old", olds);
    ZooKeeperLockStore next = store(quorum.connectString(), "next", news);
    Asked.open(old, olds, 1);
    List<EntryName> entries = hold(old);
    old.leave();
    OrphanFound orphan = news.await(OrphanFound.class);
    // When
    next.adoptSession(new StoreEffect.AdoptSession(TAKEN, orphan.claim()));
    quorum.leader().kill();
    // Then
    assertThat(news.await(SessionAdopted.class).entries())
        .extracting(AdoptedEntry::name)
        .containsExactlyInAnyOrderElementsOf(entries);
    Asked.created(news, Asked.create(next, TAKEN, "afterwards"));
    assertThat(news.all(SessionEnded.class)).isEmpty();
  }

  @Test
  void ownerWhoHasNotNoticedDoesNotCloseWhatItTakesForItsEmptySession() {
    // Given: on another server than the new owner, so that nothing looks broken to it
    ZooKeeperLockStore old = store(quorum.leader().connectString(), "old", olds);
    ZooKeeperLockStore next = store(quorum.follower().connectString(), "next", news);
    Asked.open(old, olds, 1);
    AdoptionFixture.suspect(next, news, "old");
    assertThat(AdoptionFixture.adopt(next, news, 7).entries()).isEmpty();
    Asked.created(news, Asked.create(next, TAKEN, "new"));
    assertThat(olds.all(SessionEvent.SessionSuspended.class)).isEmpty();
    // When
    old.stop();
    // Then
    Asked.created(news, Asked.create(next, TAKEN, "newer"));
    assertThat(news.all(SessionEnded.class)).isEmpty();
    Awaitility.await("mirror").until(() -> mirrored() == 2);
  }
}
