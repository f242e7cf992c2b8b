package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.EntriesDeleted;
import io.lockkeeper.server.core.api.StoreEvent.ReadEntry;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What every store does, whatever is behind it. */
public abstract class LockStoreContract extends LockStoreUpdateContract {

  private static final LeaseId LEASE = new LeaseId(7, 8);

  @Test
  void mirrorIsCurrentAfterItsFirstRebuild() {
    // When
    events.awaitCurrent();
    // Then
    List<StoreEvent> all = events.all();
    List<StoreEvent> before =
        all.stream().takeWhile(event -> !(event instanceof StoreEvent.MirrorCurrent)).toList();
    assertThat(all.get(0))
        .isInstanceOfAny(StoreEvent.RebuildStarted.class, FreezeEvent.Listed.class);
    assertThat(before).anyMatch(StoreEvent.RebuildStarted.class::isInstance);
    assertThat(before).anyMatch(FreezeEvent.Listed.class::isInstance);
  }

  @Test
  void openedSessionIsProvenAtATimeThatHasPassed() {
    // Given
    long before = System.nanoTime();
    // When
    store().openSession(new StoreEffect.OpenSession(SESSION));
    SessionEvent.SessionOpened opened = events.await(SessionEvent.SessionOpened.class);
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
    store().proveSession(new StoreEffect.ProveSession(SESSION));
    // Then
    events.await(SessionEvent.SessionProved.class, proof -> proof.sentAtNanos() - asked >= 0);
  }

  @Test
  void createdEntryAppearsInTheMirrorUnderTheSameNameAndZxid() {
    // Given
    open();
    events.awaitCurrent();
    UUID id = UUID.randomUUID();
    // When
    CreatedEntry created = create(id, lock).entries().get(0);
    // Then
    StoreEvent.EntryAppeared appeared =
        events.await(StoreEvent.EntryAppeared.class, e -> e.lock().equals(lock));
    assertThat(appeared.entry()).isEqualTo(created.name());
    assertThat(appeared.zxid()).isEqualTo(created.czxid());
    assertThat(created.name().id()).contains(id);
    assertThat(created.name().mode()).isEqualTo(MutexKind.EXCLUSIVE);
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
    events.awaitCurrent();
    UUID id = UUID.randomUUID();
    CreatedEntry created = create(id, lock).entries().get(0);
    // When
    store().deleteEntries(new StoreEffect.DeleteEntries(SESSION, id, List.of(ref(created))));
    events.await(EntriesDeleted.class, e -> e.id().equals(id));
    store().deleteEntries(new StoreEffect.DeleteEntries(SESSION, id, List.of(ref(created))));
    // Then
    events.await(
        StoreEvent.EntryVanished.class,
        e -> e.entry().equals(created.name()) && e.zxid() > created.czxid());
    Awaitility.await().until(() -> events.all(EntriesDeleted.class).size() == 2);
  }

  @Test
  void barrierPassesAfterEverythingThatWasCommittedBeforeIt() {
    // Given
    open();
    events.awaitCurrent();
    CreatedEntry created = create(UUID.randomUUID(), lock).entries().get(0);
    // When
    store().barrier(new StoreEffect.Barrier(42));
    events.await(StoreEvent.BarrierPassed.class, b -> b.barrier() == 42);
    // Then
    List<StoreEvent> all = events.all();
    StoreEvent appeared = new StoreEvent.EntryAppeared(lock, created.name(), created.czxid());
    assertThat(all).contains(appeared);
    assertThat(all.indexOf(appeared)).isLessThan(all.indexOf(new StoreEvent.BarrierPassed(42)));
  }

  @Test
  void detailsAreReadAsTheyWereWritten() {
    // Given
    open();
    events.awaitCurrent();
    CreatedEntry created = create(UUID.randomUUID(), lock).entries().get(0);
    // When
    store().readDetails(new StoreEffect.ReadDetails(lock, created.name().text()));
    StoreEvent.DetailsRead read = events.await(StoreEvent.DetailsRead.class);
    // Then
    assertThat(read.lock()).isEqualTo(lock);
    assertThat(read.entry()).isEqualTo(created.name().text());
    assertThat(read.read())
        .contains(new ReadEntry(DETAILS, created.czxid(), created.index(), Optional.empty()));
  }

  @Test
  void detailsOfAnEntryThatIsGoneAreEmpty() {
    // Given
    open();
    events.awaitCurrent();
    // When
    store()
        .readDetails(
            new StoreEffect.ReadDetails(lock, "_c_" + UUID.randomUUID() + "-lock-0000000001"));
    // Then
    assertThat(events.await(StoreEvent.DetailsRead.class).read()).isEqualTo(Optional.empty());
  }

  @Test
  void leaseIsRecordedOnceAndErasedOnce() {
    // Given
    open();
    // When
    store().recordLease(new StoreEffect.RecordLease(SESSION, LEASE, 15_000, "me", "00ff", ""));
    events.await(StoreEvent.LeaseRecorded.class, e -> e.lease().equals(LEASE));
    store().eraseLease(new StoreEffect.EraseLease(SESSION, LEASE));
    events.await(StoreEvent.LeaseErased.class, e -> e.lease().equals(LEASE));
    // Then
    assertThat(events.all(StoreEvent.LeaseRecorded.class)).hasSize(1);
    assertThat(events.all(StoreEvent.LeaseErased.class)).hasSize(1);
  }

  @Test
  void pathsOfLongerNamesTakeMoreBytes() {
    // When
    int plain = store().pathBytes(new LockName("a"), MutexKind.EXCLUSIVE);
    int encoded = store().pathBytes(new LockName("%"), MutexKind.EXCLUSIVE);
    // Then
    assertThat(encoded).isEqualTo(plain + 2);
    assertThat(store().leasePathBytes()).isPositive();
  }

  @Test
  void sixtyFourLocksAreEnqueuedTogether() {
    // Given
    open();
    LockName[] locks =
        IntStream.range(0, 64)
            .mapToObj(i -> new LockName(lock.value() + "/" + i))
            .toArray(LockName[]::new);
    // When
    List<CreatedEntry> created = create(UUID.randomUUID(), locks).entries();
    // Then
    assertThat(created).extracting(CreatedEntry::lock).containsExactly(locks);
    assertThat(created).extracting(CreatedEntry::czxid).containsOnly(created.get(0).czxid());
  }

  @Test
  void entryPlacedBesideAnotherStandsAtItsNumberAndKeepsTheToken() {
    // Given
    open();
    events.awaitCurrent();
    CreatedEntry writing = createOne(ReadWriteKind.WRITE);
    CreatedEntry waiting = createOne(ReadWriteKind.WRITE);
    // When
    UUID id = UUID.randomUUID();
    CreatedEntry reading = create(id, 0, List.of(readBeside(writing.name()))).entries().get(0);
    // Then
    assertThat(reading.name().sequence()).isEqualTo(writing.name().sequence());
    assertThat(reading.name().mode()).isEqualTo(ReadWriteKind.READ);
    assertThat(reading.name().id()).contains(id);
    assertThat(reading.czxid()).isGreaterThan(waiting.czxid());
    assertThat(read(reading.name()))
        .isEqualTo(new ReadEntry(DETAILS, reading.czxid(), reading.index(), Optional.of(TOKEN)));
    events.await(StoreEvent.EntryAppeared.class, e -> e.entry().equals(reading.name()));
  }

  @Test
  void entriesOfOneHoldStandAtOneNumberAndEachGoesByItself() {
    // Given
    open();
    events.awaitCurrent();
    CreatedEntry first = createOne(MutexKind.EXCLUSIVE);
    CreatedEntry waiting = createOne(MutexKind.EXCLUSIVE);
    UUID id = UUID.randomUUID();
    // When
    CreatedEntry second =
        create(id, 0, List.of(beside(first.name(), MutexKind.EXCLUSIVE))).entries().get(0);
    store()
        .deleteEntries(
            new StoreEffect.DeleteEntries(SESSION, UUID.randomUUID(), List.of(ref(first))));
    events.await(StoreEvent.EntryVanished.class, e -> e.entry().equals(first.name()));
    // Then
    assertThat(second.name().sequence()).isEqualTo(first.name().sequence());
    assertThat(second.name().mode()).isEqualTo(MutexKind.EXCLUSIVE);
    assertThat(second.name().id()).contains(id);
    assertThat(read(second.name()).token()).isEqualTo(TOKEN);
    assertThat(events.mirror().get(lock))
        .containsExactlyInAnyOrder(second.name().text(), waiting.name().text());
  }

  @Test
  void entryIsPlacedBesideOneWhoseCreationIsNotAnsweredYet() {
    // Given
    open();
    events.awaitCurrent();
    CreatedEntry base = createOne(MutexKind.EXCLUSIVE);
    UUID inner = UUID.randomUUID();
    UUID innermost = UUID.randomUUID();
    String number = EntryName.suffix(base.name().sequence());
    EntryName next =
        EntryName.of(
            EntryName.prefix(inner, MutexKind.EXCLUSIVE) + number, inner, MutexKind.EXCLUSIVE);
    // When
    store()
        .createEntries(
            new StoreEffect.CreateEntries(
                SESSION, inner, List.of(beside(base.name(), MutexKind.EXCLUSIVE)), DETAILS, 0));
    CreatedEntry last =
        create(innermost, 0, List.of(beside(next, MutexKind.EXCLUSIVE))).entries().get(0);
    // Then
    assertThat(last.name().sequence()).isEqualTo(base.name().sequence());
    assertThat(events.all(EntriesCreated.class))
        .extracting(EntriesCreated::id)
        .containsExactly(base.name().id().orElseThrow(), inner, innermost);
    events.await(StoreEvent.EntryAppeared.class, e -> e.entry().equals(last.name()));
    assertThat(events.mirror().get(lock)).hasSize(3);
  }

  @Test
  void entriesSayWhichLocksOfTheirRequestTheyAreFor() {
    // Given
    open();
    events.awaitCurrent();
    CreatedEntry writing = createOne(ReadWriteKind.WRITE);
    LockName before = new LockName(lock.value() + "/before");
    LockName after = new LockName(lock.value() + "/after");
    // When
    List<CreatedEntry> created =
        create(
                UUID.randomUUID(),
                0,
                List.of(
                    planned(after, MutexKind.EXCLUSIVE),
                    readBeside(writing.name()),
                    planned(before, MutexKind.EXCLUSIVE)))
            .entries();
    // Then
    assertThat(created)
        .extracting(entry -> read(entry.lock(), entry.name()).ordinal())
        .containsExactly(0, 1, 2);
  }

  @Test
  void nothingIsCreatedBesideAnEntryThatIsGone() {
    // Given
    open();
    events.awaitCurrent();
    CreatedEntry writing = createOne(ReadWriteKind.WRITE);
    store()
        .deleteEntries(
            new StoreEffect.DeleteEntries(SESSION, UUID.randomUUID(), List.of(ref(writing))));
    events.await(EntriesDeleted.class);
    LockName other = new LockName(lock.value() + "/other");
    UUID id = UUID.randomUUID();
    // When
    store()
        .createEntries(
            new StoreEffect.CreateEntries(
                SESSION,
                id,
                List.of(planned(other, ReadWriteKind.READ), readBeside(writing.name())),
                DETAILS,
                5));
    // Then
    StoreEvent.EntriesRefused refused = events.await(StoreEvent.EntriesRefused.class);
    assertThat(refused.id()).isEqualTo(id);
    assertThat(refused.message()).contains(lock.value(), "does not exist any more");
    store().barrier(new StoreEffect.Barrier(1));
    events.await(StoreEvent.BarrierPassed.class);
    assertThat(events.mirror()).doesNotContainKeys(lock, other);
    assertThat(events.markers()).doesNotContainKeys(lock, other);
  }

  @Test
  void guardComesAfterItsEntryAndGoesBeforeIt() {
    // Given
    open();
    events.awaitCurrent();
    UUID id = UUID.randomUUID();
    MarkerName guard = MarkerName.Guard.of(id, 700, TAG);
    // When
    List<PlannedEntry> entries = List.of(planned(lock, MutexKind.EXCLUSIVE));
    CreatedEntry created = create(id, 700, entries).entries().get(0);
    EntryRef both = new EntryRef(lock, created.name().text(), Optional.of(guard.text()));
    store().deleteEntries(new StoreEffect.DeleteEntries(SESSION, id, List.of(both)));
    // Then
    StoreEvent.EntryVanished vanished =
        events.await(StoreEvent.EntryVanished.class, e -> e.lock().equals(lock));
    assertThat(events.all())
        .containsSubsequence(
            new StoreEvent.EntryAppeared(lock, created.name(), created.czxid()),
            new StoreEvent.MarkerAppeared(lock, guard, created.czxid()),
            new StoreEvent.MarkerVanished(lock, guard, vanished.zxid()),
            vanished);
  }

  @Test
  void guardOutlivesAnEntryThatIsDeletedAloneUntilItIsRemoved() {
    // Given
    open();
    events.awaitCurrent();
    UUID id = UUID.randomUUID();
    MarkerName.Guard guard = MarkerName.Guard.of(id, 700, TAG);
    List<PlannedEntry> entries = List.of(planned(lock, MutexKind.EXCLUSIVE));
    CreatedEntry created = create(id, 700, entries).entries().get(0);
    // When
    store().deleteEntries(new StoreEffect.DeleteEntries(SESSION, id, List.of(ref(created))));
    events.await(StoreEvent.EntryVanished.class, e -> e.lock().equals(lock));
    awaitMarkers(guard.text());
    store().removeGuard(new StoreEffect.RemoveGuard(lock, guard));
    store().removeGuard(new StoreEffect.RemoveGuard(lock, guard));
    // Then
    awaitMarkers();
  }

  @Test
  void entryIsRefusedWhoseGuardIsThere() {
    // Given
    open();
    events.awaitCurrent();
    UUID id = UUID.randomUUID();
    List<PlannedEntry> entries = List.of(planned(lock, MutexKind.EXCLUSIVE));
    CreatedEntry created = create(id, 700, entries).entries().get(0);
    store().deleteEntries(new StoreEffect.DeleteEntries(SESSION, id, List.of(ref(created))));
    events.await(StoreEvent.EntryVanished.class, e -> e.lock().equals(lock));
    // When
    store().createEntries(new StoreEffect.CreateEntries(SESSION, id, entries, DETAILS, 700));
    // Then
    StoreEvent.EntriesRefused refused = events.await(StoreEvent.EntriesRefused.class);
    assertThat(refused.message()).contains("somebody else removed");
    assertThat(events.mirror().getOrDefault(lock, Set.of())).isEmpty();
    awaitMarkers(MarkerName.Guard.of(id, 700, TAG).text());
  }

  @Test
  void deletionOfAnEntryWhoseGuardIsGoneIsAnswered() {
    // Given
    open();
    UUID id = UUID.randomUUID();
    EntryRef never =
        new EntryRef(
            lock,
            EntryName.prefix(id, MutexKind.EXCLUSIVE) + EntryName.suffix(3),
            Optional.of(MarkerName.Guard.of(id, 5, TAG).text()));
    CreatedEntry created = create(id, lock).entries().get(0);
    EntryRef unguarded = new EntryRef(lock, created.name().text(), never.guard());
    // When
    store().deleteEntries(new StoreEffect.DeleteEntries(SESSION, id, List.of(never, unguarded)));
    // Then
    assertThat(events.await(EntriesDeleted.class).id()).isEqualTo(id);
    Awaitility.await().until(() -> !events.mirror().containsKey(lock));
  }
}
