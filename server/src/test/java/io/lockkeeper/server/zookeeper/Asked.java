package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.EntryDetails;
import io.lockkeeper.server.core.EntryRef;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.MutexKind;
import io.lockkeeper.server.core.PlannedEntry;
import io.lockkeeper.server.core.SessionEvent.SessionOpened;
import io.lockkeeper.server.core.SessionKey;
import io.lockkeeper.server.core.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.StoreEvent.EntriesDeleted;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.awaitility.Awaitility;

/** What tests ask of a store again and again. */
final class Asked {

  static final EntryDetails DETAILS = details(Map.of());

  private Asked() {}

  static EntryDetails details(Map<String, String> metadata) {
    return new EntryDetails(
        "l", "r", "", "h", metadata, false, false, Optional.empty(), Optional.empty());
  }

  static PlannedEntry planned(LockName lock) {
    return new PlannedEntry(lock, MutexKind.EXCLUSIVE, Optional.empty());
  }

  static SessionKey open(ZooKeeperLockStore store, RecordedEvents events, int key) {
    SessionKey session = new SessionKey(key);
    store.openSession(session);
    events.await(SessionOpened.class, opened -> opened.session().equals(session));
    return session;
  }

  static UUID create(ZooKeeperLockStore store, SessionKey session, String lock) {
    UUID id = UUID.randomUUID();
    store.createEntries(session, id, List.of(planned(new LockName(lock))), DETAILS, 0);
    return id;
  }

  static EntriesCreated created(RecordedEvents events, UUID id) {
    return events.await(EntriesCreated.class, created -> created.id().equals(id));
  }

  static void delete(ZooKeeperLockStore store, SessionKey session, EntriesCreated created) {
    store.deleteEntries(session, created.id(), refs(created));
  }

  static List<EntryRef> refs(EntriesCreated created) {
    return created.entries().stream()
        .map(e -> new EntryRef(e.lock(), e.name().text(), Optional.empty()))
        .toList();
  }

  static void awaitCreated(RecordedEvents events, int count) {
    Awaitility.await("created")
        .atMost(Duration.ofSeconds(40))
        .until(() -> events.all(EntriesCreated.class).size() >= count);
  }

  static void awaitDeleted(RecordedEvents events, int count) {
    Awaitility.await("deleted")
        .atMost(Duration.ofSeconds(40))
        .until(() -> events.all(EntriesDeleted.class).size() >= count);
  }
}
