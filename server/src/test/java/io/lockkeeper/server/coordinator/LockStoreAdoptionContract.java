package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedLease;
import io.lockkeeper.server.core.api.SessionEvent.OrphanFound;
import io.lockkeeper.server.core.api.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.api.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.api.SessionEvent.SessionOpened;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.EntriesDeleted;
import io.lockkeeper.server.core.api.StoreEvent.ReadEntry;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every two stores do on one ensemble when one of them takes over from the other. */
public abstract class LockStoreAdoptionContract {

  private static final SessionKey OWN = new SessionKey(1);
  private static final SessionKey ADOPTED = new SessionKey(2);
  private static final SessionKey LATER = new SessionKey(3);
  private static final LeaseId LEASE = new LeaseId(7, 8);
  private static final EntryDetails DETAILS =
      new EntryDetails(
          LEASE.toString(),
          "request",
          "",
          "me",
          Map.of(),
          false,
          false,
          Optional.empty(),
          Optional.empty());

  private final RecordedEvents firstEvents = new RecordedEvents();
  private final RecordedEvents secondEvents = new RecordedEvents();
  private LockStore first;
  private LockStore second;
  private final LockName lock = new LockName("contract");

  /** Starts a store of the ensemble under a name. */
  protected abstract LockStore start(String id, RecordedEvents events);

  @BeforeEach
  void startBoth() {
    first = start("one", firstEvents);
    second = start("two", secondEvents);
  }

  @AfterEach
  void stopBoth() {
    first.stop();
    second.stop();
  }

  private CreatedEntry holdAtFirst() {
    openAtFirst();
    first.recordLease(new StoreEffect.RecordLease(OWN, LEASE, 15_000, "me", "00ff", ""));
    firstEvents.await(StoreEvent.LeaseRecorded.class);
    UUID id = UUID.randomUUID();
    PlannedEntry planned = new PlannedEntry(lock, MutexKind.EXCLUSIVE, Optional.empty());
    first.createEntries(new StoreEffect.CreateEntries(OWN, id, List.of(planned), DETAILS, 0));
    return firstEvents.await(EntriesCreated.class).entries().get(0);
  }

  private void openAtFirst() {
    firstEvents.awaitCurrent();
    secondEvents.awaitCurrent();
    first.openSession(new StoreEffect.OpenSession(OWN));
    firstEvents.await(SessionOpened.class);
  }

  private SessionAdopted adoptAtSecond() {
    OrphanFound orphan = secondEvents.await(OrphanFound.class);
    second.adoptSession(new StoreEffect.AdoptSession(ADOPTED, orphan.claim()));
    return secondEvents.await(SessionAdopted.class);
  }

  private void suspectFirst() {
    CopyOnWriteArrayList<List<Peer>> seen = new CopyOnWriteArrayList<>();
    second.watchPeers(seen::add);
    Awaitility.await("peer")
        .until(() -> seen.stream().anyMatch(peers -> peers.stream().anyMatch(this::isFirst)));
    second.suspect("one");
  }

  private boolean isFirst(Peer peer) {
    return peer.id().equals("one");
  }

  private static LeaseLocation locate(LockStore store) {
    CompletableFuture<LeaseLocation> answer = new CompletableFuture<>();
    store.locate(LEASE, found -> found.ifPresent(answer::complete));
    return Awaitility.await("located").until(() -> answer, CompletableFuture::isDone).join();
  }

  @Test
  void whatOneLeavesBehindIsAdoptedAsItIs() {
    // Given
    CreatedEntry created = holdAtFirst();
    long before = System.nanoTime();
    Map<String, Duration> leases = new HashMap<>();
    LongStream.rangeClosed(1, 600)
        .forEach(i -> leases.put(LeaseId.tagOf(i), Duration.ofSeconds(30)));
    leases.put(LEASE.tag(), Duration.ofMillis(4_500));
    Promises promises = new Promises(leases, Map.of(UUID.randomUUID(), Duration.ZERO));
    // When
    first.recordPromises(new StoreEffect.RecordPromises(OWN, promises));
    first.leave();
    SessionAdopted adopted = adoptAtSecond();
    // Then
    assertThat(firstEvents.await(SessionEnded.class)).isEqualTo(new SessionEnded(OWN, true));
    assertThat(adopted.session()).isEqualTo(ADOPTED);
    assertThat(adopted.leases()).containsExactly(new AdoptedLease(LEASE, 15_000, "me", "00ff", ""));
    assertThat(adopted.entries())
        .extracting(AdoptedEntry::lock, AdoptedEntry::name, AdoptedEntry::read)
        .containsExactly(
            tuple(
                lock,
                created.name(),
                new ReadEntry(DETAILS, created.czxid(), created.index(), Optional.empty())));
    assertThat(adopted.timeoutNanos()).isPositive();
    assertThat(adopted.takenAtNanos() - before).isPositive();
    assertThat(System.nanoTime() - adopted.takenAtNanos()).isPositive();
    assertThat(System.nanoTime() - adopted.provenAtNanos()).isPositive();
    assertThat(adopted.certain()).isFalse();
    assertThat(adopted.promisedNanos(LEASE).orElseThrow())
        .isBetween(4_500_000_000L, 4_501_000_000L);
    assertThat(adopted.promises().orElseThrow().waiters()).hasSize(1);
  }

  @Test
  void adopterLearnsTheOrderOfARequestsLocksAndWhatIsPlacedBesideAnother() {
    // Given
    CreatedEntry held = holdAtFirst();
    LockName other = new LockName("another");
    FencingToken token = FencingToken.of(held.czxid(), held.index());
    PlannedEntry.Beside beside = new PlannedEntry.Beside(held.name(), token);
    UUID id = UUID.randomUUID();
    List<PlannedEntry> planned =
        List.of(
            new PlannedEntry(lock, MutexKind.EXCLUSIVE, Optional.of(beside)),
            new PlannedEntry(other, MutexKind.EXCLUSIVE, Optional.empty()));
    first.createEntries(new StoreEffect.CreateEntries(OWN, id, planned, DETAILS, 0));
    List<CreatedEntry> created =
        firstEvents.await(EntriesCreated.class, e -> e.id().equals(id)).entries();
    // When
    first.leave();
    SessionAdopted adopted = adoptAtSecond();
    // Then
    CreatedEntry level = created.get(0);
    CreatedEntry last = created.get(1);
    assertThat(adopted.entries())
        .extracting(AdoptedEntry::lock, AdoptedEntry::name, AdoptedEntry::read)
        .containsExactlyInAnyOrder(
            tuple(lock, held.name(), new ReadEntry(DETAILS, held.czxid(), 0, 0, Optional.empty())),
            tuple(
                lock,
                level.name(),
                new ReadEntry(DETAILS, level.czxid(), 0, 0, Optional.of(token))),
            tuple(
                other, last.name(), new ReadEntry(DETAILS, last.czxid(), 0, 1, Optional.empty())));
    assertThat(level.name().sequence()).isEqualTo(held.name().sequence());
  }

  @Test
  void adoptedSessionTakesWritesAndIsClosedWhenItIsEmpty() {
    // Given
    CreatedEntry created = holdAtFirst();
    first.leave();
    adoptAtSecond();
    UUID id = UUID.randomUUID();
    // When
    EntryRef ref = new EntryRef(lock, created.name().text(), Optional.empty());
    second.deleteEntries(new StoreEffect.DeleteEntries(ADOPTED, id, List.of(ref)));
    second.eraseLease(new StoreEffect.EraseLease(ADOPTED, LEASE));
    secondEvents.await(EntriesDeleted.class, deleted -> deleted.id().equals(id));
    secondEvents.await(StoreEvent.LeaseErased.class);
    second.closeSession(new StoreEffect.CloseSession(ADOPTED));
    // Then
    assertThat(secondEvents.await(SessionEnded.class)).isEqualTo(new SessionEnded(ADOPTED, false));
    secondEvents.await(StoreEvent.EntryVanished.class, e -> e.entry().equals(created.name()));
  }

  @Test
  void whoLeavesClosesWhatIsEmpty() {
    // Given
    openAtFirst();
    // When
    first.leave();
    // Then
    assertThat(firstEvents.await(SessionEnded.class)).isEqualTo(new SessionEnded(OWN, false));
  }

  @Test
  void closedSessionEnds() {
    // Given
    openAtFirst();
    // When
    first.closeSession(new StoreEffect.CloseSession(OWN));
    // Then
    assertThat(firstEvents.await(SessionEnded.class)).isEqualTo(new SessionEnded(OWN, false));
  }

  @Test
  void whoIsSuspectedLosesItsSessionsAndNothingIsLostWithThem() {
    // Given
    CreatedEntry created = holdAtFirst();
    // When
    suspectFirst();
    SessionAdopted adopted = adoptAtSecond();
    first.proveSession(new StoreEffect.ProveSession(OWN));
    // Then
    assertThat(firstEvents.await(SessionEnded.class)).isEqualTo(new SessionEnded(OWN, true));
    assertThat(adopted.entries()).extracting(AdoptedEntry::name).containsExactly(created.name());
    second.barrier(new StoreEffect.Barrier(1));
    secondEvents.await(StoreEvent.BarrierPassed.class);
    assertThat(secondEvents.mirror().get(lock)).containsExactly(created.name().text());
  }

  @Test
  void deposedStoreChangesNothingOnASessionThatItHasLost() {
    // Given
    CreatedEntry created = holdAtFirst();
    suspectFirst();
    adoptAtSecond();
    // When
    EntryRef ref = new EntryRef(lock, created.name().text(), Optional.empty());
    first.deleteEntries(new StoreEffect.DeleteEntries(OWN, UUID.randomUUID(), List.of(ref)));
    // Then
    assertThat(firstEvents.await(SessionEnded.class)).isEqualTo(new SessionEnded(OWN, true));
    first.stop();
    second.barrier(new StoreEffect.Barrier(1));
    secondEvents.await(StoreEvent.BarrierPassed.class);
    assertThat(secondEvents.mirror().get(lock)).containsExactly(created.name().text());
    assertThat(firstEvents.all(EntriesDeleted.class)).isEmpty();
  }

  @Test
  void sessionThatSomebodyLooksAfterCannotBeAdopted() {
    // Given
    holdAtFirst();
    suspectFirst();
    adoptAtSecond();
    String claim = secondEvents.await(OrphanFound.class).claim();
    first.proveSession(new StoreEffect.ProveSession(OWN));
    firstEvents.await(SessionEnded.class);
    // When
    first.adoptSession(new StoreEffect.AdoptSession(LATER, claim));
    second.adoptSession(new StoreEffect.AdoptSession(LATER, claim));
    // Then
    assertThat(firstEvents.await(SessionEnded.class, end -> end.session().equals(LATER)))
        .isEqualTo(new SessionEnded(LATER, true));
    assertThat(secondEvents.await(SessionEnded.class)).isEqualTo(new SessionEnded(LATER, true));
  }

  @Test
  void sessionThatIsGoneCannotBeAdopted() {
    // Given
    openAtFirst();
    // When
    first.adoptSession(new StoreEffect.AdoptSession(LATER, "00000000000000ff"));
    // Then
    assertThat(firstEvents.await(SessionEnded.class)).isEqualTo(new SessionEnded(LATER, false));
  }

  @Test
  void sessionThatOwnsSomethingIsNeverClosedButFoundAgain() {
    // Given
    CreatedEntry created = holdAtFirst();
    // When
    first.closeSession(new StoreEffect.CloseSession(OWN));
    SessionEnded ended = firstEvents.await(SessionEnded.class);
    first.adoptSession(
        new StoreEffect.AdoptSession(LATER, firstEvents.await(OrphanFound.class).claim()));
    // Then
    assertThat(ended).isEqualTo(new SessionEnded(OWN, true));
    assertThat(firstEvents.await(SessionAdopted.class).entries())
        .extracting(AdoptedEntry::name)
        .containsExactly(created.name());
  }

  @Test
  void leaseIsWhereItsSessionIs() {
    // Given
    assertThat(locate(first)).isEqualTo(new LeaseLocation.Unknown());
    holdAtFirst();
    // When
    LeaseLocation atFirst = locate(first);
    Awaitility.await("seen by the other")
        .untilAsserted(
            () ->
                assertThat(locate(second))
                    .isInstanceOfSatisfying(
                        LeaseLocation.At.class, at -> assertThat(at.peer().id()).isEqualTo("one")));
    first.leave();
    secondEvents.await(OrphanFound.class);
    LeaseLocation between = locate(second);
    adoptAtSecond();
    // Then
    assertThat(atFirst).isEqualTo(new LeaseLocation.Here());
    assertThat(between).isEqualTo(new LeaseLocation.Nowhere());
    assertThat(locate(second)).isEqualTo(new LeaseLocation.Here());
    second.eraseLease(new StoreEffect.EraseLease(ADOPTED, LEASE));
    secondEvents.await(StoreEvent.LeaseErased.class);
    assertThat(locate(second)).isEqualTo(new LeaseLocation.Unknown());
  }

  @Test
  void peersAreToldAsTheyComeAndGo() {
    // Given
    CopyOnWriteArrayList<List<Peer>> seen = new CopyOnWriteArrayList<>();
    // When
    second.watchPeers(seen::add);
    Awaitility.await("there")
        .until(() -> seen.stream().anyMatch(peers -> peers.stream().anyMatch(this::isFirst)));
    first.leave();
    // Then
    Awaitility.await("gone").until(() -> seen.get(seen.size() - 1).isEmpty());
    assertThat(seen)
        .allSatisfy(peers -> assertThat(peers).extracting(Peer::id).doesNotContain("two"));
  }
}
