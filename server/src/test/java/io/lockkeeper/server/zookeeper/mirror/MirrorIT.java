package io.lockkeeper.server.zookeeper.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.QueueListed;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.Ensemble;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import io.lockkeeper.server.zookeeper.record.EntryData;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The mirror over connections that break. */
@Tag("smoke")
final class MirrorIT {

  private final RecordedEvents events = new RecordedEvents();
  private final RecordedEvents writerEvents = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeperProxy proxy = ensemble.proxy();
  private final ZooKeeper truth = ensemble.client();
  private final ZooKeeperLockStore writer = ensemble.store("writer", writerEvents);
  private SessionKey session;

  @BeforeEach
  void start() {
    session = Asked.open(writer, writerEvents, 1);
    var unused = ensemble.store(proxy.connectString(), "reader", events);
    events.awaitCurrent();
  }

  private void awaitTruth() {
    Awaitility.await("mirror is the truth")
        .until(() -> events.isCurrent() && Ensemble.mirror(events).equals(Ensemble.truth(truth)));
  }

  @Test
  void whatHappensWhileDisconnectedIsSeenAfterTheRebuild() throws Exception {
    // Given
    EntriesCreated gone = Asked.created(writerEvents, Asked.create(writer, session, "a"));
    awaitTruth();
    proxy.refuse();
    events.await(StoreEvent.MirrorStale.class);
    // When
    Asked.delete(writer, session, gone);
    Asked.created(writerEvents, Asked.create(writer, session, "b"));
    Asked.awaitDeleted(writerEvents, 1);
    proxy.heal();
    // Then
    awaitTruth();
    assertThat(events.mirror()).containsOnlyKeys(new LockName("b"));
  }

  @Test
  void queuesThatDoNotFitIntoOneReplyAreReadBackWithSeveral() throws Exception {
    // Given: 1.3 MB of names, where a reply may have 1 MiB
    ZooKeeperSettings roomy = ensemble.settings("narrow");
    ZooKeeperSettings narrow =
        new ZooKeeperSettings(
            roomy.connectString(),
            roomy.rootPath(),
            roomy.locksPath(),
            roomy.times(),
            roomy.member(),
            1 << 20,
            roomy.access());
    for (int lock = 0; lock < 32; lock++) {
      String directory = "/lk/locks/long-" + lock;
      List<Op> writes = new ArrayList<>();
      writes.add(create(directory));
      for (int i = 0; i < 700; i++) {
        writes.add(create("%s/_c_%s-lock-%010d".formatted(directory, UUID.randomUUID(), i)));
      }
      truth.multi(writes);
    }
    // When
    RecordedEvents found = new RecordedEvents();
    var unused = ensemble.store(narrow, found);
    // Then
    found.awaitCurrent();
    assertThat(Ensemble.mirror(found)).isEqualTo(Ensemble.truth(truth));
  }

  private static Op create(String path) {
    return Op.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
  }

  @Test
  void clientPutsTheWatchBackByItselfAfterAReconnect() {
    // Given
    long watchesAsked = proxy.count(OpCode.addWatch);
    proxy.cutAll();
    events.await(StoreEvent.MirrorStale.class);
    events.awaitCurrent();
    // When
    UUID id = Asked.create(writer, session, "after");
    // Then
    events.await(StoreEvent.EntryAppeared.class, e -> e.entry().id().equals(Optional.of(id)));
    assertThat(proxy.count(OpCode.addWatch)).isEqualTo(watchesAsked);
    assertThat(proxy.count(OpCode.setWatches2)).isPositive();
  }

  @Test
  void randomCutsDuringChangesEndInTheTruth() {
    // Given
    long seed = new Random().nextLong();
    System.out.println("MirrorIT seed " + seed);
    Random random = new Random(seed);
    Deque<EntriesCreated> live = new ArrayDeque<>();
    // When
    for (int i = 0; i < 1_500; i++) {
      UUID id = Asked.create(writer, session, "l/" + random.nextInt(40));
      if (i % 3 == 0) {
        live.add(Asked.created(writerEvents, id));
      }
      if (live.size() > 20) {
        Asked.delete(writer, session, live.remove());
      }
      if (i % 150 == 149) {
        proxy.cutAll();
        Awaitility.await().until(events::isCurrent);
      }
    }
    Asked.awaitCreated(writerEvents, 1_500);
    // Then
    awaitTruth();
    assertThat(events.all(StoreEvent.MirrorStale.class)).hasSizeGreaterThan(5);
  }

  @Test
  void entriesThatShareASequenceNumberAreListedWithTheirCreation() throws Exception {
    // Given
    Asked.created(writerEvents, Asked.create(writer, session, "tied"));
    byte[] indexed = EntryData.of(Asked.DETAILS).with(5, 0, Optional.empty());
    String first = "_c_" + UUID.randomUUID() + "-lock-2147483647";
    String second = "_c_" + UUID.randomUUID() + "-lock-2147483647";
    for (String name : List.of(second, first)) {
      truth.create("/lk/locks/tied/" + name, indexed, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    }
    // When
    proxy.cutAll();
    events.await(StoreEvent.MirrorStale.class);
    QueueListed listed = events.await(QueueListed.class, e -> e.lock().value().equals("tied"));
    // Then
    assertThat(listed.entries()).hasSize(3);
    for (StoreEvent.ListedEntry entry : listed.entries()) {
      boolean tied = entry.name().sequence() == Integer.MAX_VALUE;
      long czxid = truth.exists("/lk/locks/tied/" + entry.name(), false).getCzxid();
      assertThat(entry.czxid()).isEqualTo(tied ? Optional.of(czxid) : Optional.empty());
      assertThat(entry.index()).isEqualTo(tied ? 5 : 0);
    }
  }

  @Test
  void markersThatChangeWhileDisconnectedAreListed() {
    // Given
    LockName lock = new LockName("marked");
    UUID id = UUID.randomUUID();
    writer.setLimit(new StoreEffect.SetLimit(1, lock, OptionalInt.of(5), AccountTag.NOBODY));
    writer.createEntries(
        new StoreEffect.CreateEntries(
            session, id, List.of(Asked.planned(lock)), Asked.DETAILS, 700));
    EntriesCreated created = Asked.created(writerEvents, id);
    Awaitility.await().until(() -> events.markers().getOrDefault(lock, Set.of()).size() == 2);
    proxy.refuse();
    events.await(StoreEvent.MirrorStale.class);
    // When
    writer.setLimit(new StoreEffect.SetLimit(2, lock, OptionalInt.of(7), AccountTag.NOBODY));
    writerEvents.await(UpdateEvent.LimitAnswered.class, e -> e.change() == 2);
    writer.deleteEntries(
        new StoreEffect.DeleteEntries(
            session,
            id,
            List.of(
                new EntryRef(
                    lock,
                    created.entries().get(0).name().text(),
                    Optional.of(MarkerName.Guard.of(id, 700, AccountTag.NOBODY).text())))));
    Asked.awaitDeleted(writerEvents, 1);
    proxy.heal();
    // Then
    QueueListed listed =
        events.await(QueueListed.class, e -> e.lock().equals(lock) && !e.markers().isEmpty());
    assertThat(listed.entries()).isEmpty();
    assertThat(listed.markers()).singleElement().isInstanceOf(MarkerName.Limit.class);
    assertThat(((MarkerName.Limit) listed.markers().get(0)).limit()).isEqualTo(7);
    assertThat(writer.stats()).containsEntry("nodes_ignored", 0L);
  }

  @Test
  void entriesBeyondTheEndOfTheCounterTieWithThoseAtItsEnd() throws Exception {
    // Given
    Asked.created(writerEvents, Asked.create(writer, session, "end"));
    for (String suffix : List.of("-2147483648", "2147483647", "-2147483647")) {
      String name = "_c_" + UUID.randomUUID() + "-lock-" + suffix;
      truth.create("/lk/locks/end/" + name, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    }
    // When
    proxy.cutAll();
    events.await(StoreEvent.MirrorStale.class);
    QueueListed listed = events.await(QueueListed.class, e -> e.lock().value().equals("end"));
    // Then
    assertThat(listed.entries()).hasSize(4);
    assertThat(listed.entries())
        .filteredOn(entry -> entry.czxid().isPresent())
        .hasSize(3)
        .allMatch(entry -> entry.name().sequence() == Integer.MAX_VALUE);
  }

  @Test
  void nodesThatAreNoEntriesAreIgnored() throws Exception {
    // When
    for (String path : List.of("/lk/locks/%zz", "/lk/locks/ok", "/lk/locks/ok/leases")) {
      truth.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }
    Asked.created(writerEvents, Asked.create(writer, session, "ok"));
    // Then
    Awaitility.await().until(() -> events.mirror().size() == 1);
    assertThat(writer.stats().get("nodes_ignored")).isEqualTo(2);
  }

  @Test
  void entryThatMustNotBeReadSaysSo() throws Exception {
    // Given
    Asked.created(writerEvents, Asked.create(writer, session, "closed"));
    List<ACL> closed = new ArrayList<>(List.of(new ACL(Perms.DELETE, Ids.ANYONE_ID_UNSAFE)));
    String path =
        truth.create(
            "/lk/locks/closed/_c_" + UUID.randomUUID() + "-lock-",
            new byte[0],
            closed,
            CreateMode.EPHEMERAL_SEQUENTIAL);
    // When
    String name = path.substring(path.lastIndexOf('/') + 1);
    writer.readDetails(new StoreEffect.ReadDetails(new LockName("closed"), name));
    // Then
    StoreEvent.ReadEntry read =
        writerEvents.await(StoreEvent.DetailsRead.class).read().orElseThrow();
    assertThat(read.details().holder()).isEqualTo("(cannot be read)");
    assertThat(read.czxid()).isZero();
  }

  @Test
  void cyclesLeaveTwoWatchesForEachMirrorAndNoMore() throws Exception {
    // Given: the server counts the watches of all its clients
    try (Ensemble own = Ensemble.own()) {
      RecordedEvents heard = new RecordedEvents();
      ZooKeeperLockStore store = own.store("c1", heard);
      SessionKey one = Asked.open(store, heard, 1);
      heard.awaitCurrent();
      String before = own.server().ask("wchs");
      // When
      for (int i = 0; i < 100; i++) {
        Asked.create(store, one, "cycle/" + i);
      }
      Asked.awaitCreated(heard, 100);
      heard.all(EntriesCreated.class).forEach(e -> Asked.delete(store, one, e));
      Asked.awaitDeleted(heard, 100);
      store.readDetails(
          new StoreEffect.ReadDetails(
              new LockName("cycle/1"), "_c_" + UUID.randomUUID() + "-lock-0000000000"));
      heard.await(StoreEvent.DetailsRead.class);
      // Then
      assertThat(before).contains("Total watches:2");
      assertThat(own.server().ask("wchs")).contains("Total watches:2");
      Awaitility.await().until(() -> heard.mirror().isEmpty());
    }
  }
}
