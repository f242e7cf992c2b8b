package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.SessionEvent.SessionOpened;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.EntriesDeleted;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.client.Connector;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.HandleListener;
import io.lockkeeper.server.zookeeper.client.HighestZxid;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreExecutor;
import io.lockkeeper.server.zookeeper.client.StoreProblems;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.commit.EntryCreation;
import io.lockkeeper.server.zookeeper.record.Directories;
import io.lockkeeper.server.zookeeper.record.SessionIdentity;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.awaitility.Awaitility;

/** What tests ask of a store again and again. */
public final class Asked {

  public static final EntryDetails DETAILS = details(Map.of());

  private Asked() {}

  public static EntryDetails details(Map<String, String> metadata) {
    return new EntryDetails(
        "l", "r", "", "h", metadata, false, false, Optional.empty(), Optional.empty());
  }

  public static PlannedEntry planned(LockName lock) {
    return new PlannedEntry(lock, MutexKind.EXCLUSIVE, Optional.empty());
  }

  /** Returns what a part of a store needs, without the store. */
  public static StoreContext context(String servers, Consumer<StoreEvent> events) {
    return context(servers, events, problem -> {});
  }

  /** Like {@link #context(String, Consumer)}; {@code onUnusable} is told about the ensemble. */
  public static StoreContext context(
      String servers, Consumer<StoreEvent> events, Consumer<String> onUnusable) {
    return context(ZooKeeperSettings.of(servers, "c", "a"), events, onUnusable);
  }

  /** Like {@link #context(String, Consumer)}, with these settings. */
  public static StoreContext context(ZooKeeperSettings settings, Consumer<StoreEvent> events) {
    return context(settings, events, problem -> {});
  }

  private static StoreContext context(
      ZooKeeperSettings settings, Consumer<StoreEvent> events, Consumer<String> onUnusable) {
    StoreExecutor executor = new StoreExecutor();
    return new StoreContext(
        settings,
        new StorePaths(settings),
        executor,
        new Connector(settings, executor),
        new Directories(),
        new StoreStats(),
        events,
        onUnusable,
        new StoreProblems(),
        new HighestZxid(0));
  }

  /** Returns the write that creates entries. */
  public static EntryCreation creation(
      StoreContext context,
      UUID id,
      List<PlannedEntry> entries,
      EntryDetails details,
      int lockDelayMillis) {
    return new EntryCreation(
        context.paths(),
        context.directories(),
        new StoreEffect.CreateEntries(new SessionKey(1), id, entries, details, lockDelayMillis));
  }

  /** Returns a connected handle of a new session, or of one that somebody else has. */
  public static Handle handle(Connector connector, Optional<SessionIdentity> session)
      throws Exception {
    CompletableFuture<Void> connected = new CompletableFuture<>();
    Handle handle = connector.open(session, Ensemble.SESSION, false, completing(connected));
    connected.get(60, TimeUnit.SECONDS);
    return handle;
  }

  /** Returns a listener that completes a future when there is a connection. */
  public static HandleListener completing(CompletableFuture<Void> connected) {
    return new HandleListener() {
      @Override
      public void onConnected() {
        connected.complete(null);
      }

      @Override
      public void onDisconnected() {}

      @Override
      public void onExpired() {}
    };
  }

  public static SessionKey open(ZooKeeperLockStore store, RecordedEvents events, int key) {
    SessionKey session = new SessionKey(key);
    store.openSession(new StoreEffect.OpenSession(session));
    events.await(SessionOpened.class, opened -> opened.session().equals(session));
    return session;
  }

  public static UUID create(ZooKeeperLockStore store, SessionKey session, String lock) {
    UUID id = UUID.randomUUID();
    store.createEntries(
        new StoreEffect.CreateEntries(
            session, id, List.of(planned(new LockName(lock))), DETAILS, 0));
    return id;
  }

  public static EntriesCreated created(RecordedEvents events, UUID id) {
    return events.await(EntriesCreated.class, created -> created.id().equals(id));
  }

  public static void delete(ZooKeeperLockStore store, SessionKey session, EntriesCreated created) {
    store.deleteEntries(new StoreEffect.DeleteEntries(session, created.id(), refs(created)));
  }

  static List<EntryRef> refs(EntriesCreated created) {
    return created.entries().stream()
        .map(e -> new EntryRef(e.lock(), e.name().text(), Optional.empty()))
        .toList();
  }

  public static void awaitCreated(RecordedEvents events, int count) {
    Awaitility.await("created").until(() -> events.all(EntriesCreated.class).size() >= count);
  }

  public static void awaitDeleted(RecordedEvents events, int count) {
    Awaitility.await("deleted").until(() -> events.all(EntriesDeleted.class).size() >= count);
  }
}
