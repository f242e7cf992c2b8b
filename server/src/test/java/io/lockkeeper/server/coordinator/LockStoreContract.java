package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Amendment;
import io.lockkeeper.server.core.EntryDetails;
import io.lockkeeper.server.core.EntryName;
import io.lockkeeper.server.core.EntryRef;
import io.lockkeeper.server.core.EntryTerms;
import io.lockkeeper.server.core.ErrandEvent;
import io.lockkeeper.server.core.FencingToken;
import io.lockkeeper.server.core.LeaseId;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.MarkerName;
import io.lockkeeper.server.core.Mode;
import io.lockkeeper.server.core.MutexKind;
import io.lockkeeper.server.core.PlannedEntry;
import io.lockkeeper.server.core.ReadWriteKind;
import io.lockkeeper.server.core.ReleaseAsk;
import io.lockkeeper.server.core.SessionEvent;
import io.lockkeeper.server.core.SessionKey;
import io.lockkeeper.server.core.StoreEvent;
import io.lockkeeper.server.core.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.StoreEvent.EntriesDeleted;
import io.lockkeeper.server.core.StoreEvent.ReadEntry;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What every store does, whatever is behind it. */
public abstract class LockStoreContract {

  protected static final SessionKey SESSION = new SessionKey(1);
  private static final EntryDetails DETAILS =
      new EntryDetails(
          "0123",
          "request",
          "owner",
          "me",
          Map.of("k", "v"),
          true,
          true,
          Optional.empty(),
          Optional.empty(),
          new EntryTerms(
              3,
              Optional.of(Duration.ZERO),
              Optional.of(Duration.ofMillis(1_500)),
              Duration.ofMillis(700),
              true));
  private static final LeaseId LEASE = new LeaseId(7, 8);
  private static final FencingToken TOKEN = new FencingToken(Long.MAX_VALUE - 1);
  private static final ReleaseAsk ASK =
      new ReleaseAsk("ask-1", "ops", "reboot", Optional.of(Duration.ofSeconds(3)), true);

  /** Returns a store that has been started with {@link #events}. */
  protected abstract LockStore store();

  /** Returns what hears the store. */
  protected abstract RecordedEvents events();

  /** Overwrites an entry's data as a whole, as Curator's Revoker does. */
  protected abstract void revokeAsCuratorDoes(LockName lock, EntryName entry);

  private final LockName lock = new LockName("contract/" + UUID.randomUUID());

  private EntriesCreated create(UUID id, LockName... locks) {
    List<PlannedEntry> entries =
        Arrays.stream(locks).map(l -> planned(l, MutexKind.EXCLUSIVE)).toList();
    return create(id, 0, entries);
  }

  private EntriesCreated create(UUID id, int lockDelayMillis, List<PlannedEntry> entries) {
    store().createEntries(SESSION, id, entries, DETAILS, lockDelayMillis);
    return events().await(EntriesCreated.class, created -> created.id().equals(id));
  }

  private CreatedEntry createOne(Mode mode) {
    return create(UUID.randomUUID(), 0, List.of(planned(lock, mode))).entries().get(0);
  }

  private static PlannedEntry planned(LockName lock, Mode mode) {
    return new PlannedEntry(lock, mode, Optional.empty());
  }

  private PlannedEntry readBeside(EntryName entry) {
    return new PlannedEntry(
        lock, ReadWriteKind.READ, Optional.of(new PlannedEntry.Beside(entry, TOKEN)));
  }

  private ReadEntry read(EntryName entry) {
    int before = events().all(StoreEvent.DetailsRead.class).size();
    store().readDetails(lock, entry.text());
    Awaitility.await().until(() -> events().all(StoreEvent.DetailsRead.class).size() > before);
    return events().all(StoreEvent.DetailsRead.class).get(before).read().orElseThrow();
  }

  private Amendment.Outcome amend(long number, EntryName entry, Amendment amendment) {
    store().amend(number, lock, entry, amendment);
    return events()
        .await(ErrandEvent.AmendmentAnswered.class, e -> e.amendment() == number)
        .outcome();
  }

  private boolean setLimit(long number, OptionalInt limit) {
    store().setLimit(number, lock, limit);
    return events().await(ErrandEvent.LimitAnswered.class, e -> e.change() == number).done();
  }

  private void awaitMarkers(String... forms) {
    Awaitility.await("markers")
        .untilAsserted(
            () -> {
              Set<String> found = events().markers().getOrDefault(lock, Set.of());
              assertThat(found).hasSize(forms.length);
              assertThat(found.stream().filter(m -> Arrays.stream(forms).anyMatch(m::startsWith)))
                  .hasSize(forms.length);
            });
  }

  private void open() {
    store().openSession(SESSION);
    events().await(SessionEvent.SessionOpened.class);
  }

  private static EntryRef ref(CreatedEntry entry) {
    return new EntryRef(entry.lock(), entry.name().text(), Optional.empty());
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
    SessionEvent.SessionOpened opened = events().await(SessionEvent.SessionOpened.class);
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
    events().await(SessionEvent.SessionProved.class, proof -> proof.sentAtNanos() - asked >= 0);
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
    Awaitility.await().until(() -> events().all(EntriesDeleted.class).size() == 2);
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
        .contains(new ReadEntry(DETAILS, created.czxid(), created.index(), Optional.empty()));
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
    events().awaitCurrent();
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
    events().await(StoreEvent.EntryAppeared.class, e -> e.entry().equals(reading.name()));
  }

  @Test
  void nothingIsCreatedBesideAnEntryThatIsGone() {
    // Given
    open();
    events().awaitCurrent();
    CreatedEntry writing = createOne(ReadWriteKind.WRITE);
    store().deleteEntries(SESSION, UUID.randomUUID(), List.of(ref(writing)));
    events().await(EntriesDeleted.class);
    LockName other = new LockName(lock.value() + "/other");
    UUID id = UUID.randomUUID();
    // When
    store()
        .createEntries(
            SESSION,
            id,
            List.of(planned(other, ReadWriteKind.READ), readBeside(writing.name())),
            DETAILS,
            5);
    // Then
    StoreEvent.EntriesRefused refused = events().await(StoreEvent.EntriesRefused.class);
    assertThat(refused.id()).isEqualTo(id);
    assertThat(refused.message()).contains(lock.value(), "does not exist any more");
    store().barrier(1);
    events().await(StoreEvent.BarrierPassed.class);
    assertThat(events().mirror()).doesNotContainKeys(lock, other);
    assertThat(events().markers()).doesNotContainKeys(lock, other);
  }

  @Test
  void guardComesAfterItsEntryAndGoesBeforeIt() {
    // Given
    open();
    events().awaitCurrent();
    UUID id = UUID.randomUUID();
    MarkerName guard = MarkerName.Guard.of(id, 700);
    // When
    List<PlannedEntry> entries = List.of(planned(lock, MutexKind.EXCLUSIVE));
    CreatedEntry created = create(id, 700, entries).entries().get(0);
    EntryRef both = new EntryRef(lock, created.name().text(), Optional.of(guard.text()));
    store().deleteEntries(SESSION, id, List.of(both));
    // Then
    StoreEvent.EntryVanished vanished =
        events().await(StoreEvent.EntryVanished.class, e -> e.lock().equals(lock));
    assertThat(events().all())
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
    events().awaitCurrent();
    UUID id = UUID.randomUUID();
    MarkerName.Guard guard = MarkerName.Guard.of(id, 700);
    List<PlannedEntry> entries = List.of(planned(lock, MutexKind.EXCLUSIVE));
    CreatedEntry created = create(id, 700, entries).entries().get(0);
    // When
    store().deleteEntries(SESSION, id, List.of(ref(created)));
    events().await(StoreEvent.EntryVanished.class, e -> e.lock().equals(lock));
    awaitMarkers(guard.text());
    store().removeGuard(lock, guard);
    store().removeGuard(lock, guard);
    // Then
    awaitMarkers();
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
            Optional.of(MarkerName.Guard.of(id, 5).text()));
    CreatedEntry created = create(id, lock).entries().get(0);
    EntryRef unguarded = new EntryRef(lock, created.name().text(), never.guard());
    // When
    store().deleteEntries(SESSION, id, List.of(never, unguarded));
    // Then
    assertThat(events().await(EntriesDeleted.class).id()).isEqualTo(id);
    Awaitility.await().until(() -> !events().mirror().containsKey(lock));
  }

  @Test
  void descriptionIsReplacedAndWhatTheEntryWasCreatedWithStays() {
    // Given
    open();
    events().awaitCurrent();
    CreatedEntry writing = createOne(ReadWriteKind.WRITE);
    EntryName entry =
        create(UUID.randomUUID(), 0, List.of(readBeside(writing.name()))).entries().get(0).name();
    ReadEntry before = read(entry);
    EntryDetails next =
        new EntryDetails(
            "0123",
            "request",
            "owner",
            "me",
            Map.of("k", "w"),
            true,
            true,
            Optional.of(1_500L),
            Optional.empty(),
            DETAILS.terms());
    // When
    Amendment.Outcome outcome = amend(1, entry, new Amendment.Describe(next, 99, Optional.empty()));
    // Then
    assertThat(outcome).isEqualTo(Amendment.Outcome.DONE);
    assertThat(read(entry))
        .isEqualTo(new ReadEntry(next, before.czxid(), before.index(), before.keptToken()));
    events()
        .await(
            StoreEvent.EntryChanged.class,
            e -> e.entry().equals(entry) && e.zxid() > before.czxid());
  }

  @Test
  void wishIsAddedToTheEntryAndSurvivesItsNextDescription() {
    // Given
    open();
    events().awaitCurrent();
    EntryName entry = createOne(MutexKind.EXCLUSIVE).name();
    // When
    assertThat(amend(1, entry, new Amendment.Ask(ASK))).isEqualTo(Amendment.Outcome.DONE);
    ReadEntry asked = read(entry);
    amend(2, entry, new Amendment.Describe(DETAILS, 0, Optional.empty()));
    // Then
    assertThat(asked.details().ask()).contains(ASK);
    assertThat(asked.details().leaseId()).isEqualTo(DETAILS.leaseId());
    assertThat(read(entry)).isEqualTo(asked);
  }

  @Test
  void newerWishReplacesTheOlder() {
    // Given
    open();
    events().awaitCurrent();
    EntryName entry = createOne(MutexKind.EXCLUSIVE).name();
    ReleaseAsk newer = new ReleaseAsk("ask-2", "", "", Optional.empty(), false);
    // When
    amend(1, entry, new Amendment.Ask(ASK));
    amend(2, entry, new Amendment.Ask(newer));
    // Then
    assertThat(read(entry).details().ask()).contains(newer);
  }

  @Test
  void overwrittenEntryCarriesCuratorsWishAndIsRestoredByItsDescription() {
    // Given
    open();
    events().awaitCurrent();
    CreatedEntry created = createOne(MutexKind.EXCLUSIVE);
    revokeAsCuratorDoes(lock, created.name());
    ReadEntry revoked = read(created.name());
    // When
    EntryDetails next = DETAILS;
    amend(1, created.name(), new Amendment.Describe(next, 7, Optional.of(TOKEN)));
    // Then
    assertThat(revoked.details().leaseId()).isEmpty();
    assertThat(revoked.details().ask().map(ReleaseAsk::id)).contains(ReleaseAsk.BY_CURATOR);
    assertThat(read(created.name()))
        .isEqualTo(new ReadEntry(next, created.czxid(), 7, Optional.of(TOKEN)));
  }

  @Test
  void wishToAnEntryThatIsNotOursIsWhatCuratorUnderstands() {
    // Given
    open();
    events().awaitCurrent();
    EntryName entry = createOne(MutexKind.EXCLUSIVE).name();
    revokeAsCuratorDoes(lock, entry);
    // When
    Amendment.Outcome outcome = amend(1, entry, new Amendment.Ask(ASK));
    // Then
    assertThat(outcome).isEqualTo(Amendment.Outcome.DONE);
    assertThat(read(entry).details().ask().map(ReleaseAsk::id)).contains(ReleaseAsk.BY_CURATOR);
  }

  @Test
  void removedEntryVanishesAndItsGuardStays() {
    // Given
    open();
    events().awaitCurrent();
    UUID id = UUID.randomUUID();
    EntryName entry =
        create(id, 700, List.of(planned(lock, MutexKind.EXCLUSIVE))).entries().get(0).name();
    // When
    Amendment.Outcome outcome = amend(1, entry, new Amendment.Remove());
    // Then
    assertThat(outcome).isEqualTo(Amendment.Outcome.DONE);
    events().await(StoreEvent.EntryVanished.class, e -> e.entry().equals(entry));
    awaitMarkers("delay-700-" + id);
  }

  @Test
  void amendmentsOfAnEntryThatIsGoneSaySo() {
    // Given
    open();
    events().awaitCurrent();
    CreatedEntry created = createOne(MutexKind.EXCLUSIVE);
    store().deleteEntries(SESSION, UUID.randomUUID(), List.of(ref(created)));
    events().await(EntriesDeleted.class);
    // When
    List<Amendment.Outcome> outcomes =
        List.of(
            amend(1, created.name(), new Amendment.Describe(DETAILS, 0, Optional.empty())),
            amend(2, created.name(), new Amendment.Ask(ASK)),
            amend(3, created.name(), new Amendment.Remove()));
    // Then
    assertThat(outcomes).containsOnly(Amendment.Outcome.GONE);
  }

  @Test
  void limitIsNamedByOneMarkerAtATimeAndCanBeTakenBack() {
    // Given
    events().awaitCurrent();
    // When
    assertThat(setLimit(1, OptionalInt.of(5))).isTrue();
    awaitMarkers("limit-5-");
    assertThat(setLimit(2, OptionalInt.of(9))).isTrue();
    awaitMarkers("limit-9-");
    assertThat(setLimit(3, OptionalInt.of(9))).isTrue();
    assertThat(setLimit(4, OptionalInt.empty())).isTrue();
    // Then
    awaitMarkers();
    assertThat(setLimit(5, OptionalInt.empty())).isTrue();
    assertThat(events().all(StoreEvent.MarkerAppeared.class))
        .filteredOn(e -> e.lock().equals(lock))
        .hasSize(2);
  }

  @Test
  void newLimitStandsBehindTheOldOneWhileBothAreSeen() {
    // Given
    events().awaitCurrent();
    // When
    setLimit(1, OptionalInt.of(9));
    setLimit(2, OptionalInt.of(5));
    awaitMarkers("limit-5-");
    // Then
    List<Integer> sequences =
        events().all(StoreEvent.MarkerAppeared.class).stream()
            .filter(e -> e.lock().equals(lock))
            .map(e -> ((MarkerName.Limit) e.marker()).sequence())
            .toList();
    assertThat(sequences).isSorted().doesNotHaveDuplicates();
  }
}
