package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.EntriesDeleted;
import io.lockkeeper.server.core.api.StoreEvent.ReadEntry;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.EntryTerms;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.core.lock.RevocationRequest;
import io.lockkeeper.server.core.lock.SessionKey;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * What every store does with what exists: updates of entries, and limits. The rest is in {@link
 * LockStoreContract}, which holds for the same stores.
 */
public abstract class LockStoreUpdateContract {

  protected static final SessionKey SESSION = new SessionKey(1);

  /** The tag of the account that markers count for. */
  static final String TAG = AccountTag.of("jwt:shop");

  static final EntryDetails DETAILS =
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
              TAG,
              true));
  static final FencingToken TOKEN = new FencingToken(Long.MAX_VALUE - 1);
  private static final RevocationRequest ASK =
      new RevocationRequest("ask-1", "ops", "reboot", Optional.of(Duration.ofSeconds(3)), true);

  /** What hears the store. */
  protected final RecordedEvents events = new RecordedEvents();

  /** Returns a store that has been started with {@link #events}. */
  protected abstract LockStore store();

  /** Overwrites an entry's data as a whole, as Curator's Revoker does. */
  protected abstract void revokeAsCuratorDoes(LockName lock, EntryName entry);

  final LockName lock = new LockName("contract/" + UUID.randomUUID());

  final EntriesCreated create(UUID id, LockName... locks) {
    List<PlannedEntry> entries =
        Arrays.stream(locks).map(l -> planned(l, MutexKind.EXCLUSIVE)).toList();
    return create(id, 0, entries);
  }

  final EntriesCreated create(UUID id, int lockDelayMillis, List<PlannedEntry> entries) {
    store()
        .createEntries(
            new StoreEffect.CreateEntries(SESSION, id, entries, DETAILS, lockDelayMillis));
    return events.await(EntriesCreated.class, created -> created.id().equals(id));
  }

  final CreatedEntry createOne(Mode mode) {
    return create(UUID.randomUUID(), 0, List.of(planned(lock, mode))).entries().get(0);
  }

  static PlannedEntry planned(LockName lock, Mode mode) {
    return new PlannedEntry(lock, mode, Optional.empty());
  }

  final PlannedEntry readBeside(EntryName entry) {
    return beside(entry, ReadWriteKind.READ);
  }

  final PlannedEntry beside(EntryName entry, Mode mode) {
    return new PlannedEntry(lock, mode, Optional.of(new PlannedEntry.Beside(entry, TOKEN)));
  }

  final ReadEntry read(EntryName entry) {
    return read(lock, entry);
  }

  final ReadEntry read(LockName of, EntryName entry) {
    int before = events.all(StoreEvent.DetailsRead.class).size();
    store().readDetails(new StoreEffect.ReadDetails(of, entry.text()));
    Awaitility.await().until(() -> events.all(StoreEvent.DetailsRead.class).size() > before);
    return events.all(StoreEvent.DetailsRead.class).get(before).read().orElseThrow();
  }

  private EntryUpdate.Outcome update(long number, EntryName entry, EntryUpdate update) {
    store().updateEntry(new StoreEffect.UpdateEntry(number, lock, entry, update));
    return events.await(UpdateEvent.EntryUpdateAnswered.class, e -> e.number() == number).outcome();
  }

  private boolean setLimit(long number, OptionalInt limit) {
    store().setLimit(new StoreEffect.SetLimit(number, lock, limit, TAG));
    return events.await(UpdateEvent.LimitAnswered.class, e -> e.change() == number).done();
  }

  final void awaitMarkers(String... forms) {
    Awaitility.await("markers")
        .untilAsserted(
            () -> {
              Set<String> found = events.markers().getOrDefault(lock, Set.of());
              assertThat(found).hasSize(forms.length);
              assertThat(found.stream().filter(m -> Arrays.stream(forms).anyMatch(m::startsWith)))
                  .hasSize(forms.length);
            });
  }

  final void open() {
    store().openSession(new StoreEffect.OpenSession(SESSION));
    events.await(SessionEvent.SessionOpened.class);
  }

  static EntryRef ref(CreatedEntry entry) {
    return new EntryRef(entry.lock(), entry.name().text(), Optional.empty());
  }

  @Test
  void descriptionIsReplacedAndWhatTheEntryWasCreatedWithStays() {
    // Given
    open();
    events.awaitCurrent();
    CreatedEntry writing = createOne(ReadWriteKind.WRITE);
    LockName other = new LockName(lock.value() + "/other");
    List<PlannedEntry> planned =
        List.of(planned(other, ReadWriteKind.READ), readBeside(writing.name()));
    EntryName entry = create(UUID.randomUUID(), 0, planned).entries().get(1).name();
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
    EntryUpdate.Outcome outcome =
        update(1, entry, new EntryUpdate.Describe(next, 99, 9, Optional.empty()));
    // Then
    assertThat(outcome).isEqualTo(EntryUpdate.Outcome.DONE);
    assertThat(read(entry))
        .isEqualTo(new ReadEntry(next, before.czxid(), before.index(), 1, before.keptToken()));
    events.await(
        StoreEvent.EntryChanged.class, e -> e.entry().equals(entry) && e.zxid() > before.czxid());
  }

  @Test
  void wishIsAddedToTheEntryAndSurvivesItsNextDescription() {
    // Given
    open();
    events.awaitCurrent();
    EntryName entry = createOne(MutexKind.EXCLUSIVE).name();
    // When
    assertThat(update(1, entry, new EntryUpdate.Ask(ASK))).isEqualTo(EntryUpdate.Outcome.DONE);
    ReadEntry asked = read(entry);
    update(2, entry, new EntryUpdate.Describe(DETAILS, 0, 0, Optional.empty()));
    // Then
    assertThat(asked.details().ask()).contains(ASK);
    assertThat(asked.details().leaseId()).isEqualTo(DETAILS.leaseId());
    assertThat(read(entry)).isEqualTo(asked);
  }

  @Test
  void newerWishReplacesTheOlder() {
    // Given
    open();
    events.awaitCurrent();
    EntryName entry = createOne(MutexKind.EXCLUSIVE).name();
    RevocationRequest newer = new RevocationRequest("ask-2", "", "", Optional.empty(), false);
    // When
    update(1, entry, new EntryUpdate.Ask(ASK));
    update(2, entry, new EntryUpdate.Ask(newer));
    // Then
    assertThat(read(entry).details().ask()).contains(newer);
  }

  @Test
  void overwrittenEntryCarriesCuratorsWishAndIsRestoredByItsDescription() {
    // Given
    open();
    events.awaitCurrent();
    CreatedEntry created = createOne(MutexKind.EXCLUSIVE);
    revokeAsCuratorDoes(lock, created.name());
    ReadEntry revoked = read(created.name());
    // When
    EntryDetails next = DETAILS;
    update(1, created.name(), new EntryUpdate.Describe(next, 7, 2, Optional.of(TOKEN)));
    // Then
    assertThat(revoked.details().leaseId()).isEmpty();
    assertThat(revoked.details().ask().map(RevocationRequest::id))
        .contains(RevocationRequest.BY_CURATOR);
    assertThat(read(created.name()))
        .isEqualTo(new ReadEntry(next, created.czxid(), 7, 2, Optional.of(TOKEN)));
  }

  @Test
  void wishToAnEntryThatIsNotOursIsWhatCuratorUnderstands() {
    // Given
    open();
    events.awaitCurrent();
    EntryName entry = createOne(MutexKind.EXCLUSIVE).name();
    revokeAsCuratorDoes(lock, entry);
    // When
    EntryUpdate.Outcome outcome = update(1, entry, new EntryUpdate.Ask(ASK));
    // Then
    assertThat(outcome).isEqualTo(EntryUpdate.Outcome.DONE);
    assertThat(read(entry).details().ask().map(RevocationRequest::id))
        .contains(RevocationRequest.BY_CURATOR);
  }

  @Test
  void removedEntryVanishesAndItsGuardStays() {
    // Given
    open();
    events.awaitCurrent();
    UUID id = UUID.randomUUID();
    EntryName entry =
        create(id, 700, List.of(planned(lock, MutexKind.EXCLUSIVE))).entries().get(0).name();
    // When
    EntryUpdate.Outcome outcome = update(1, entry, new EntryUpdate.Remove());
    // Then
    assertThat(outcome).isEqualTo(EntryUpdate.Outcome.DONE);
    events.await(StoreEvent.EntryVanished.class, e -> e.entry().equals(entry));
    awaitMarkers("delay-700-" + TAG + "-" + id);
  }

  @Test
  void updatesOfAnEntryThatIsGoneSaySo() {
    // Given
    open();
    events.awaitCurrent();
    CreatedEntry created = createOne(MutexKind.EXCLUSIVE);
    store()
        .deleteEntries(
            new StoreEffect.DeleteEntries(SESSION, UUID.randomUUID(), List.of(ref(created))));
    events.await(EntriesDeleted.class);
    // When
    List<EntryUpdate.Outcome> outcomes =
        List.of(
            update(1, created.name(), new EntryUpdate.Describe(DETAILS, 0, 0, Optional.empty())),
            update(2, created.name(), new EntryUpdate.Ask(ASK)),
            update(3, created.name(), new EntryUpdate.Remove()));
    // Then
    assertThat(outcomes).containsOnly(EntryUpdate.Outcome.GONE);
  }

  @Test
  void limitIsNamedByOneMarkerAtATimeAndCanBeTakenBack() {
    // Given
    events.awaitCurrent();
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
    assertThat(events.all(StoreEvent.MarkerAppeared.class))
        .filteredOn(e -> e.lock().equals(lock))
        .hasSize(2);
  }

  @Test
  void newLimitStandsBehindTheOldOneWhileBothAreSeen() {
    // Given
    events.awaitCurrent();
    // When
    setLimit(1, OptionalInt.of(9));
    setLimit(2, OptionalInt.of(5));
    awaitMarkers("limit-5-");
    // Then
    List<Integer> sequences =
        events.all(StoreEvent.MarkerAppeared.class).stream()
            .filter(e -> e.lock().equals(lock))
            .map(e -> ((MarkerName.Limit) e.marker()).sequence())
            .toList();
    assertThat(sequences).isSorted().doesNotHaveDuplicates();
  }
}
