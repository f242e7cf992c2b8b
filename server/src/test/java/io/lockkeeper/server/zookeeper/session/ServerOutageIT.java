package io.lockkeeper.server.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.Ensemble;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import java.time.Duration;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Lock sessions while the ZooKeeper server is down. */
final class ServerOutageIT {

  private final RecordedEvents events = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.own();

  @Test
  void sessionThatTheClientLibraryGaveUpButZooKeeperKeptGoesOn() throws Exception {
    // Given: the library gives up after 4/3 of the timeout, but only while nothing accepts
    // connections
    Duration timeout = Duration.ofSeconds(6);
    ZooKeeperLockStore store =
        ensemble.store(
            ensemble.settings("c1").withTimes(timeout, timeout, Duration.ofMillis(200), 5), events);
    SessionKey session = Asked.open(store, events, 1);
    CreatedEntry entry = AdoptionFixture.hold(store, events, session, "kept");
    // When
    ensemble.server().kill();
    Awaitility.await("given up by the library").until(() -> store.stats().get("reattached") > 0);
    ensemble.server().start();
    CreatedEntry later = AdoptionFixture.hold(store, events, session, "kept");
    // Then
    assertThat(ensemble.client().exists(AdoptionFixture.path(entry), false).getCzxid())
        .isEqualTo(entry.czxid());
    assertThat(later.name().sequence()).isGreaterThan(entry.name().sequence());
    assertThat(events.all(SessionEnded.class)).isEmpty();
    events.awaitCurrent();
  }

  @Test
  void closingWhileZooKeeperIsDownEndsAnEmptySessionWhenItIsBack() throws Exception {
    // Given
    ZooKeeperLockStore store = ensemble.store("c1", events);
    SessionKey session = Asked.open(store, events, 1);
    ensemble.server().kill();
    events.await(SessionEvent.SessionSuspended.class);
    // When
    store.closeSession(new StoreEffect.CloseSession(session));
    ensemble.server().start();
    // Then
    assertThat(events.await(SessionEnded.class)).isEqualTo(new SessionEnded(session, false));
    ZooKeeper truth = ensemble.client();
    Awaitility.await().until(() -> truth.getChildren("/lk/sessions", false).isEmpty());
  }

  @Test
  void startsWhenZooKeeperDoes() {
    // Given
    ensemble.server().kill();
    ZooKeeperLockStore store = ensemble.store("early", events);
    store.openSession(new StoreEffect.OpenSession(new SessionKey(1)));
    store.barrier(new StoreEffect.Barrier(1));
    events.await(StoreEvent.BarrierFailed.class);
    // When
    ensemble.server().start();
    // Then
    events.awaitCurrent();
    events.await(SessionEvent.SessionOpened.class);
  }
}
