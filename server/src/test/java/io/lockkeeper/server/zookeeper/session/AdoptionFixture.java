package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.api.SessionEvent.OrphanFound;
import io.lockkeeper.server.core.api.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import java.time.Duration;
import java.util.Optional;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.awaitility.Awaitility;

/** What tests of adoption do again and again. */
public final class AdoptionFixture {

  private AdoptionFixture() {}

  public static CreatedEntry hold(
      ZooKeeperLockStore store, RecordedEvents events, SessionKey session, String lock) {
    return Asked.created(events, Asked.create(store, session, lock)).entries().get(0);
  }

  static String path(CreatedEntry entry) {
    return "/lk/locks/" + entry.lock().encoded() + "/" + entry.name();
  }

  static EntryRef ref(AdoptedEntry entry) {
    return new EntryRef(entry.lock(), entry.name().text(), Optional.empty());
  }

  public static SessionAdopted adopt(ZooKeeperLockStore store, RecordedEvents events, int key) {
    String claim = events.await(OrphanFound.class).claim();
    return adopt(store, events, key, claim);
  }

  public static SessionAdopted adopt(
      ZooKeeperLockStore store, RecordedEvents events, int key, String claim) {
    SessionKey session = new SessionKey(key);
    store.adoptSession(new StoreEffect.AdoptSession(session, claim));
    return events.await(SessionAdopted.class, adopted -> adopted.session().equals(session));
  }

  static String onlyClaim(ZooKeeper truth) throws Exception {
    return truth.getChildren("/lk/sessions", false).get(0);
  }

  public static Stat claim(ZooKeeper truth, String name) throws Exception {
    return truth.exists("/lk/sessions/" + name, false);
  }

  public static void awaitMember(ZooKeeper truth, String id) {
    Awaitility.await(id).until(() -> truth.exists("/lk/coordinators/" + id, false) != null);
  }

  static void awaitGone(ZooKeeper truth, String path) {
    Awaitility.await(path).until(() -> truth.exists(path, false) == null);
  }

  /** Suspects a member until that has told of an orphan that was not told before. */
  public static void suspect(ZooKeeperLockStore store, RecordedEvents events, String member) {
    int before = events.all(OrphanFound.class).size();
    Awaitility.await("orphan of " + member)
        .pollInterval(Duration.ofMillis(500))
        .until(
            () -> {
              store.suspect(member);
              return events.all(OrphanFound.class).size() > before;
            });
  }
}
