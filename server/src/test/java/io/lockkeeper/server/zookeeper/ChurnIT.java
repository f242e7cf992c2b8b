package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Many writes at once, and directories that come and go under them. */
final class ChurnIT {

  private final RecordedEvents events = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeperProxy proxy = ensemble.proxy();
  private final ZooKeeperLockStore store = ensemble.store(proxy.connectString(), "c1", events);
  private SessionKey session;

  @BeforeEach
  void start() {
    session = Asked.open(store, events, 1);
    events.awaitCurrent();
  }

  @Test
  void largeWritesNeverMakeALargeRequestAndTokensNeverTie() throws Exception {
    // Given
    EntryDetails heavy = Asked.details(Map.of("k", "x".repeat(4_000)));
    // When
    for (int i = 0; i < 1_000; i++) {
      List<PlannedEntry> one = List.of(Asked.planned(new LockName("one")));
      store.createEntries(new StoreEffect.CreateEntries(session, UUID.randomUUID(), one, heavy, 0));
    }
    Asked.awaitCreated(events, 1_000);
    // Then
    assertThat(proxy.largestRequestBytes()).isBetween(50_000, 256 << 10);
    Set<String> tokens = new HashSet<>();
    for (EntriesCreated created : events.all(EntriesCreated.class)) {
      CreatedEntry entry = created.entries().get(0);
      tokens.add(entry.czxid() + "/" + entry.index());
    }
    assertThat(tokens).hasSize(1_000);
    assertThat(store.stats().get("transactions")).isLessThan(500);
    CreatedEntry last = events.all(EntriesCreated.class).get(999).entries().get(0);
    store.readDetails(new StoreEffect.ReadDetails(last.lock(), last.name().text()));
    StoreEvent.ReadEntry read = events.await(StoreEvent.DetailsRead.class).read().orElseThrow();
    assertThat(read)
        .isEqualTo(new StoreEvent.ReadEntry(heavy, last.czxid(), last.index(), Optional.empty()));
  }

  @Test
  void sixtyFourLocksOfTheLongestNamesGoThroughTogetherAndLeaveTogether() throws Exception {
    // Given
    List<PlannedEntry> entries = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      String name = String.format("%03d", i) + "%".repeat(509);
      entries.add(Asked.planned(new LockName(name)));
    }
    UUID id = UUID.randomUUID();
    EntryDetails heavy = Asked.details(Map.of("k", "x".repeat(4_000)));
    // When
    store.createEntries(new StoreEffect.CreateEntries(session, id, entries, heavy, 700));
    EntriesCreated created = Asked.created(events, id);
    Awaitility.await("seen").until(() -> events.markers().size() == 64);
    List<EntryRef> both = new ArrayList<>();
    for (CreatedEntry entry : created.entries()) {
      Optional<String> guard = Optional.of(MarkerName.Guard.of(id, 700, AccountTag.NOBODY).text());
      both.add(new EntryRef(entry.lock(), entry.name().text(), guard));
    }
    store.deleteEntries(new StoreEffect.DeleteEntries(session, id, both));
    Asked.awaitDeleted(events, 1);
    store.deleteEntries(new StoreEffect.DeleteEntries(session, id, both));
    Asked.awaitDeleted(events, 2);
    // Then
    assertThat(created.entries())
        .hasSize(64)
        .extracting(CreatedEntry::czxid)
        .containsOnly(created.entries().get(0).czxid());
    Awaitility.await("gone").until(() -> events.markers().isEmpty());
    assertThat(events.mirror()).isEmpty();
    assertThat(Ensemble.truth(ensemble.client())).isEmpty();
  }

  @Test
  void oneBadWriteFailsAloneAndOthersGoThrough() throws Exception {
    // Given
    EntryDetails huge = Asked.details(Map.of("k", "x".repeat(1 << 20)));
    UUID bad = UUID.randomUUID();
    // When
    for (int i = 0; i < 20; i++) {
      var unused = Asked.create(store, session, "good");
    }
    store.createEntries(
        new StoreEffect.CreateEntries(
            session, bad, List.of(Asked.planned(new LockName("bad"))), huge, 0));
    for (int i = 0; i < 20; i++) {
      var unused = Asked.create(store, session, "good");
    }
    Asked.awaitCreated(events, 40);
    // Then
    assertThat(events.all(StoreEvent.EntriesRefused.class))
        .extracting(StoreEvent.EntriesRefused::id)
        .containsExactly(bad);
    assertThat(events.all(SessionEvent.SessionSuspended.class)).isEmpty();
  }
}
