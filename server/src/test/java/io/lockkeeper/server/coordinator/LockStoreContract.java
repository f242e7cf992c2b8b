package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.LockStore.EntryRef;
import io.lockkeeper.server.coordinator.LockStore.NewEntry;
import io.lockkeeper.server.core.EntryDetails;
import io.lockkeeper.server.core.LeaseId;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.Mode;
import io.lockkeeper.server.core.SessionKey;
import io.lockkeeper.server.core.StoreEvent;
import io.lockkeeper.server.core.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.StoreEvent.EntriesDeleted;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What every store does, whatever is behind it. */
public abstract class LockStoreContract {

  protected static final SessionKey SESSION = new SessionKey(1);
  private static final EntryDetails DETAILS =
      new EntryDetails("0123", "request", "owner", "me", Map.of("k", "v"), true);
  private static final LeaseId LEASE = new LeaseId(7, 8);

  /** Returns a store that has been started with {@link #events}. */
  protected abstract LockStore store();

  /** Returns what hears the store. */
  protected abstract RecordedEvents events();

  private final LockName lock = new LockName("contract/" + UUID.randomUUID());

  private EntriesCreated create(UUID id, LockName... locks) {
    List<NewEntry> entries =
        java.util.Arrays.stream(locks).map(l -> new NewEntry(l, Mode.EXCLUSIVE)).toList();
    store().createEntries(SESSION, id, entries, DETAILS);
    return events().await(EntriesCreated.class, created -> created.id().equals(id));
  }

  private void open() {
    store().openSession(SESSION);
    events().await(StoreEvent.SessionOpened.class);
  }

  private static EntryRef ref(CreatedEntry entry) {
    return new EntryRef(entry.lock(), entry.name().text());
  }

  @Test
  void mirrorIsCurrentAfterItsFirstRebuild() {
    // When
    events().awaitCurrent();
    // Then
    List<StoreEvent> all = events().all();
    assertThat(all.get(0)).isInstanceOf(StoreEvent.RebuildStarted.class);
    assertThat(all).anyMatch(StoreEvent.MirrorCurrent.class::isInstance);
  }

  @Test
  void openedSessionIsProvenAtATimeThatHasPassed() {
    // Given
    long before = System.nanoTime();
    // When
    store().openSession(SESSION);
    StoreEvent.SessionOpened opened = events().await(StoreEvent.SessionOpened.class);
    // Then
    assertThat(opened.session()).isEqualTo(SESSION);
    assertThat(opened.timeoutNanos()).isPositive();
    assertThat(opened.provenAtNanos() - before).isNotNegative();
    assertThat(System.nanoTime() - opened.provenAtNanos()).isNotNegative();
  }

  @Test
  void askingForAProofBringsALaterOne() {
    // Given
    open();
    long asked = System.nanoTime();
    // When
    store().proveSession(SESSION);
    // Then
    events().await(StoreEvent.SessionProved.class, proof -> proof.sentAtNanos() - asked >= 0);
  }

  @Test
  void createdEntryAppearsInTheMirrorUnderTheSameNameAndZxid() {
    // Given
    open();
    events().awaitCurrent();
    UUID id = UUID.randomUUID();
    // When
    CreatedEntry created = create(id, lock).entries().get(0);
    // Then
    StoreEvent.EntryAppeared appeared =
        events().await(StoreEvent.EntryAppeared.class, e -> e.lock().equals(lock));
    assertThat(appeared.entry()).isEqualTo(created.name());
    assertThat(appeared.zxid()).isEqualTo(created.czxid());
    assertThat(created.name().id()).contains(id);
    assertThat(created.name().mode()).isEqualTo(Mode.EXCLUSIVE);
    assertThat(created.index()).isZero();
  }

  @Test
  void laterEntriesOfALockHaveLaterSequenceNumbersAndLaterTokens() {
    // Given
    open();
    // When
    CreatedEntry first = create(UUID.randomUUID(), lock).entries().get(0);
    CreatedEntry second = create(UUID.randomUUID(), lock).entries().get(0);
    // Then
    assertThat(second.name().sequence()).isGreaterThan(first.name().sequence());
    assertThat(second.czxid()).isGreaterThan(first.czxid());
  }

  @Test
  void entriesOfOneAcquisitionAreCreatedTogetherInTheOrderAskedFor() {
    // Given
    open();
    LockName other = new LockName(lock.value() + "/other");
    // When
    EntriesCreated created = create(UUID.randomUUID(), other, lock);
    // Then
    assertThat(created.entries()).extracting(CreatedEntry::lock).containsExactly(other, lock);
    assertThat(created.entries())
        .extracting(CreatedEntry::czxid)
        .containsOnly(created.entries().get(0).czxid());
  }

  @Test
  void deletedEntryVanishesAndDeletingItAgainIsAnsweredToo() {
    // Given
    open();
    events().awaitCurrent();
    UUID id = UUID.randomUUID();
    CreatedEntry created = create(id, lock).entries().get(0);
    // When
    store().deleteEntries(SESSION, id, List.of(ref(created)));
    events().await(EntriesDeleted.class, e -> e.id().equals(id));
    store().deleteEntries(SESSION, id, List.of(ref(created)));
    // Then
    events()
        .await(
            StoreEvent.EntryVanished.class,
            e -> e.entry().equals(created.name()) && e.zxid() > created.czxid());
    org.awaitility.Awaitility.await().until(() -> events().all(EntriesDeleted.class).size() == 2);
  }

  @Test
  void barrierPassesAfterEverythingThatWasCommittedBeforeIt() {
    // Given
    open();
    events().awaitCurrent();
    CreatedEntry created = create(UUID.randomUUID(), lock).entries().get(0);
    // When
    store().barrier(42);
    events().await(StoreEvent.BarrierPassed.class, b -> b.barrier() == 42);
    // Then
    List<StoreEvent> all = events().all();
    StoreEvent appeared = new StoreEvent.EntryAppeared(lock, created.name(), created.czxid());
    assertThat(all).contains(appeared);
    assertThat(all.indexOf(appeared)).isLessThan(all.indexOf(new StoreEvent.BarrierPassed(42)));
  }

  @Test
  void detailsAreReadAsTheyWereWritten() {
    // Given
    open();
    events().awaitCurrent();
    CreatedEntry created = create(UUID.randomUUID(), lock).entries().get(0);
    // When
    store().readDetails(lock, created.name().text());
    StoreEvent.DetailsRead read = events().await(StoreEvent.DetailsRead.class);
    // Then
    assertThat(read.lock()).isEqualTo(lock);
    assertThat(read.entry()).isEqualTo(created.name().text());
    assertThat(read.read())
        .contains(new StoreEvent.ReadEntry(DETAILS, created.czxid(), created.index()));
  }

  @Test
  void detailsOfAnEntryThatIsGoneAreEmpty() {
    // Given
    open();
    events().awaitCurrent();
    // When
    store().readDetails(lock, "_c_" + UUID.randomUUID() + "-lock-0000000001");
    // Then
    assertThat(events().await(StoreEvent.DetailsRead.class).read()).isEqualTo(Optional.empty());
  }

  @Test
  void leaseIsRecordedOnceAndErasedOnce() {
    // Given
    open();
    // When
    store().recordLease(SESSION, LEASE, 15_000, "me", "00ff");
    events().await(StoreEvent.LeaseRecorded.class, e -> e.lease().equals(LEASE));
    store().eraseLease(SESSION, LEASE);
    events().await(StoreEvent.LeaseErased.class, e -> e.lease().equals(LEASE));
    // Then
    assertThat(events().all(StoreEvent.LeaseRecorded.class)).hasSize(1);
    assertThat(events().all(StoreEvent.LeaseErased.class)).hasSize(1);
  }

  @Test
  void closedSessionTakesItsEntriesWithIt() {
    // Given
    open();
    events().awaitCurrent();
    CreatedEntry created = create(UUID.randomUUID(), lock).entries().get(0);
    // When
    store().closeSession(SESSION);
    // Then
    events().await(StoreEvent.SessionEnded.class, e -> !e.deposed());
    events().await(StoreEvent.EntryVanished.class, e -> e.entry().equals(created.name()));
  }

  @Test
  void pathsOfLongerNamesTakeMoreBytes() {
    // When
    int plain = store().pathBytes(new LockName("a"), Mode.EXCLUSIVE);
    int encoded = store().pathBytes(new LockName("%"), Mode.EXCLUSIVE);
    // Then
    assertThat(encoded).isEqualTo(plain + 2);
    assertThat(store().leasePathBytes()).isPositive();
  }
}
