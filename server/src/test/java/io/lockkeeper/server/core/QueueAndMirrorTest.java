package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.queue.Mirror;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class QueueAndMirrorTest {

  private static final LockName LOCK = new LockName("a/b");
  private static final LockName OTHER = new LockName("c");

  private final Mirror mirror = new Mirror();

  @Test
  void waitersAndHoldersAreCountedWithoutThoseWhoHaveReleased() {
    // Given
    Entry first = appear(LOCK, 1, 10);
    Entry second = appear(LOCK, 2, 11);
    appear(LOCK, 3, 12);
    LockQueue queue = mirror.queue(LOCK).orElseThrow();
    queue.admit(0, OptionalInt.empty());
    // When
    queue.release(first);
    List<Entry> admitted = queue.admit(5, OptionalInt.empty());
    // Then
    assertThat(admitted).containsExactly(second);
    assertThat(queue.holders()).containsExactly(second);
    assertThat(queue.waiting()).isEqualTo(1);
    assertThat(second.heldSinceNanos()).isEqualTo(5);
    assertThat(queue.waiters(10)).extracting(e -> e.name().sequence()).containsExactly(3);
  }

  @Test
  void whatIsAdmittedIsReportedOnce() {
    appear(LOCK, 1, 10);
    LockQueue queue = mirror.queue(LOCK).orElseThrow();
    assertThat(queue.admit(0, OptionalInt.empty())).hasSize(1);
    assertThat(queue.admit(0, OptionalInt.empty())).isEmpty();
  }

  @Test
  void placeCountsAllWhoAreAhead() {
    Entry first = appear(LOCK, 1, 10);
    Entry second = appear(LOCK, 5, 11);
    Entry third = appear(LOCK, 9, 12);
    LockQueue queue = mirror.queue(LOCK).orElseThrow();
    assertThat(List.of(queue.ahead(first), queue.ahead(second), queue.ahead(third)))
        .containsExactly(0, 1, 2);
  }

  @Test
  void everyEntryOfAQueueIsFoundByItsIdAndHasItsPlace() {
    for (int size = 1; size <= 5; size++) {
      // Given
      LockName lock = new LockName("size/" + size);
      List<UUID> ids = new ArrayList<>();
      for (int i = 0; i < size; i++) {
        ids.add(new UUID(size, i));
        mirror.appeared(lock, named(ids.get(i), i), 10 + i, 0);
      }
      LockQueue queue = mirror.queue(lock).orElseThrow();
      for (int i = 0; i < size; i++) {
        // When
        Entry found = queue.entryOf(ids.get(i)).orElseThrow();
        // Then
        assertThat(found.name().sequence()).isEqualTo(i);
        assertThat(queue.ahead(found)).isEqualTo(i);
      }
      assertThat(queue.entryOf(new UUID(9, 9))).isEmpty();
    }
  }

  private static EntryName named(UUID id, int sequence) {
    String name = EntryName.prefix(id, MutexKind.EXCLUSIVE) + EntryName.suffix(sequence);
    return EntryName.parse(name).orElseThrow();
  }

  @Test
  void entryThatIsSeenTwiceIsOneEntry() {
    appear(LOCK, 1, 10);
    assertThat(mirror.appeared(LOCK, name(1), 10, 0)).isEmpty();
    assertThat(mirror.entryCount()).isEqualTo(1);
    assertThat(mirror.queue(LOCK).orElseThrow().size()).isEqualTo(1);
  }

  @Test
  void lockWithoutEntriesIsForgotten() {
    // Given
    appear(LOCK, 1, 10);
    // When
    Optional<Entry> gone = mirror.vanished(LOCK, name(1).text(), 11);
    Optional<Entry> again = mirror.vanished(LOCK, name(1).text(), 12);
    // Then
    assertThat(gone).isPresent();
    assertThat(again).isEmpty();
    assertThat(mirror.queues()).isEmpty();
    assertThat(mirror.entryCount()).isZero();
    assertThat(mirror.revision()).isEqualTo(12);
  }

  @Test
  void rebuildMakesTheMirrorWhatTheListingsFound() {
    // Given
    Entry kept = appear(LOCK, 1, 10);
    appear(LOCK, 2, 11);
    appear(OTHER, 1, 12);
    mirror.markCurrent();
    // When
    mirror.markStale();
    mirror.beginRebuild(Set.of(LOCK));
    mirror.listed(LOCK, List.of(listed(1), listed(4)), List.of(), 0);
    // Then
    assertThat(mirror.isCurrent()).isFalse();
    assertThat(mirror.queue(OTHER)).isEmpty();
    assertThat(mirror.queue(LOCK).orElseThrow().entries())
        .extracting(e -> e.name().sequence())
        .containsExactly(1, 4);
    assertThat(mirror.find(LOCK, name(1).text())).containsSame(kept);
    assertThat(mirror.entryCount()).isEqualTo(2);
  }

  @Test
  void emptyListingForgetsTheLock() {
    appear(LOCK, 1, 10);
    mirror.beginRebuild(Set.of(LOCK));
    mirror.listed(LOCK, List.of(), List.of(), 0);
    assertThat(mirror.queues()).isEmpty();
    assertThat(mirror.entryCount()).isZero();
  }

  @Test
  void howTheLastHolderEndedIsForgottenWhereItIsNoLongerKnown() {
    // Given
    mirror.noteDeparture(LOCK, departure(HoldEnd.RELEASED));
    mirror.noteDeparture(OTHER, departure(HoldEnd.LEASE_ENDED));
    // When, Then
    assertThat(mirror.lastDeparture(LOCK)).contains(departure(HoldEnd.RELEASED));
    mirror.noteDeparture(LOCK, departure(HoldEnd.UNKNOWN));
    assertThat(mirror.lastDeparture(LOCK)).isEmpty();
    assertThat(mirror.lastDeparture(OTHER)).contains(departure(HoldEnd.LEASE_ENDED));
    mirror.markStale();
    assertThat(mirror.lastDeparture(OTHER)).isEmpty();
  }

  private Entry appear(LockName lock, int sequence, long zxid) {
    return mirror.appeared(lock, name(sequence), zxid, 0).orElseThrow();
  }

  private static StoreEvent.ListedEntry listed(int sequence) {
    return new StoreEvent.ListedEntry(name(sequence), Optional.empty(), 0);
  }

  private static EntryName name(int sequence) {
    return EntryName.parse("lock-" + String.format(Locale.ROOT, "%010d", sequence)).orElseThrow();
  }

  @Test
  void nodeThatIsKnownToBeDeletedIsNotBelievedToBeThereUntilTheWatchHasToldThatItWent() {
    // Given
    MarkerName guard = MarkerName.Guard.of(new UUID(1, 1), 3_000, AccountTag.NOBODY);
    appear(LOCK, 1, 10);
    mirror.vanished(LOCK, name(1).text(), 0);
    // When
    mirror.suppress(LOCK, name(1).text(), 10);
    mirror.suppress(LOCK, guard.text(), 10);
    // Then: neither an event nor a listing from before brings it back
    assertThat(mirror.appeared(LOCK, name(1), 10, 0)).isEmpty();
    assertThat(mirror.markerAppeared(LOCK, guard, 10)).isFalse();
    mirror.listed(LOCK, List.of(listed(1), listed(2)), List.of(guard), 0);
    assertThat(mirror.queue(LOCK).orElseThrow().entries())
        .extracting(e -> e.name().sequence())
        .containsExactly(2);
    assertThat(mirror.marked()).isEmpty();
    // And afterwards nothing is remembered
    mirror.vanished(LOCK, name(1).text(), 11);
    mirror.markerVanished(LOCK, guard, 11);
    assertThat(mirror.suppressed()).isEmpty();
  }

  @Test
  void lockIsInUseAsLongAsItHasEntriesOrMarkers() {
    // Given
    MarkerName guard = MarkerName.Guard.of(new UUID(1, 1), 3_000, AccountTag.of("shop"));
    appear(LOCK, 1, 10);
    mirror.markerAppeared(LOCK, guard, 10);
    long bytes = mirror.nameBytes();
    // When
    mirror.vanished(LOCK, name(1).text(), 11);
    // Then
    assertThat(mirror.queues()).containsOnlyKeys(LOCK);
    assertThat(mirror.queue(LOCK).orElseThrow().waiting()).isZero();
    assertThat(mirror.firstMode(LOCK)).isEmpty();
    assertThat(mirror.nameBytes()).isEqualTo(bytes);
    assertThat(mirror.nodeCount()).isEqualTo(1);
    assertThat(mirror.markerBytes(AccountTag.of("shop"))).isPositive();
    // When
    mirror.markerVanished(LOCK, guard, 12);
    // Then
    assertThat(mirror.queues()).isEmpty();
    assertThat(mirror.nameBytes()).isZero();
    assertThat(mirror.nodeCount()).isZero();
    assertThat(mirror.markerBytes(AccountTag.of("shop"))).isZero();
  }

  @Test
  void rebuildForgetsTheMarkersOfDirectoriesThatAreGoneAndCountsTheOthersOnce() {
    // Given
    MarkerName guard = MarkerName.Guard.of(new UUID(1, 1), 3_000, AccountTag.of("shop"));
    mirror.markerAppeared(LOCK, guard, 10);
    mirror.markerAppeared(OTHER, guard, 10);
    long both = mirror.markerBytes(AccountTag.of("shop"));
    // When
    mirror.beginRebuild(Set.of(OTHER));
    mirror.listed(OTHER, List.of(), List.of(guard), 0);
    // Then
    assertThat(mirror.marked()).containsExactly(OTHER);
    assertThat(mirror.nodeCount()).isEqualTo(1);
    assertThat(mirror.markerBytes(AccountTag.of("shop"))).isBetween(1L, both - 1);
  }

  @Test
  void whatVanishedBeforeItsNamesakeWasCreatedBringsThatNotBack() {
    // Given: numbers come again where the counter is at its end
    mirror.suppress(LOCK, name(1).text(), 12);
    // When
    mirror.vanished(LOCK, name(1).text(), 11);
    // Then
    assertThat(mirror.appeared(LOCK, name(1), 12, 0)).isEmpty();
    mirror.vanished(LOCK, name(1).text(), 13);
    assertThat(mirror.suppressed()).isEmpty();
  }

  private static Mirror.Departure departure(HoldEnd end) {
    return new Mirror.Departure(end, OptionalLong.empty());
  }
}
