package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.api.LockHistory;
import io.lockkeeper.server.coordinator.api.PastHold;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Occurrence;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.simulation.Wish;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HoldHistoryTest {

  private static final LockName LOCK = new LockName("orders/42");

  private final AtomicLong clock = new AtomicLong(1_000);
  private final HoldHistory history = new HoldHistory(clock::get);

  private static Occurrence end(
      LockName lock, String holder, Map<String, String> metadata, HoldEnd end) {
    return occurrence(
        lock,
        end,
        Optional.of(
            new Occurrence.EndedHold(
                new LeaseId(1, 2),
                holder,
                metadata,
                List.of(FencingToken.of(7, 0)),
                OptionalLong.of(20))));
  }

  private static Occurrence occurrence(
      LockName lock, HoldEnd end, Optional<Occurrence.EndedHold> ended) {
    return new Occurrence(
        new UUID(1, 2),
        Wish.named("r-1").write(lock.value()).by("owner").command(Optional.empty()),
        new Notice.Released(),
        end,
        OptionalLong.empty(),
        OptionalLong.of(30),
        OptionalLong.empty(),
        ended);
  }

  private void ended(LockName lock, String holder) {
    history.onOccurrence(end(lock, holder, Map.of(), HoldEnd.RELEASED));
  }

  private static List<String> holders(LockHistory shown) {
    return shown.holds().stream().map(PastHold::holder).map(Contender::holder).toList();
  }

  @Test
  void holdThatHasEndedIsRememberedWithItsTimesAndItsEnd() {
    // Given
    history.onOccurrence(end(LOCK, "shop-1", Map.of("a", "b"), HoldEnd.FORCED));
    // When
    clock.addAndGet(500);
    LockHistory shown = history.of(LOCK, 10);
    // Then
    assertThat(shown.recordedForNanos()).isEqualTo(500);
    assertThat(shown.holds())
        .singleElement()
        .satisfies(
            hold -> {
              assertThat(hold.end()).isEqualTo(HoldEnd.FORCED);
              assertThat(hold.endedAgoNanos()).isEqualTo(500);
              assertThat(hold.holder().queuedForNanos()).isEqualTo(50);
              assertThat(hold.holder().heldForNanos()).contains(30L);
              assertThat(hold.holder().token()).contains(FencingToken.of(7, 0));
              assertThat(hold.holder().metadata()).containsEntry("a", "b");
            });
  }

  @Test
  void whatEndsNoHoldIsNotRemembered() {
    // When
    history.onOccurrence(occurrence(LOCK, HoldEnd.UNKNOWN, Optional.empty()));
    // Then
    assertThat(history.of(LOCK, 10).holds()).isEmpty();
  }

  @Test
  void newestComeFirstAndNoMoreThanWasAskedFor() {
    // When
    for (int i = 0; i < LockHistory.MAX_HOLDS + 5; i++) {
      ended(LOCK, "h" + i);
    }
    // Then
    assertThat(holders(history.of(LOCK, 2))).containsExactly("h54", "h53");
    assertThat(history.of(LOCK, 1_000).holds()).hasSize(LockHistory.MAX_HOLDS);
  }

  @Test
  void lockWhoseLastHoldEndedLongestAgoIsForgottenFirst() {
    // Given
    LockName busy = new LockName("busy");
    ended(busy, "first");
    clock.addAndGet(300);
    ended(LOCK, "forgotten");
    ended(busy, "second");
    // When
    clock.addAndGet(1_000);
    for (int i = 0; i < HoldHistory.MAX_IN_ALL - 2; i++) {
      ended(new LockName("many/" + i), "h");
    }
    // Then
    assertThat(history.of(LOCK, 10).recordedForNanos()).isEqualTo(1_000);
    assertThat(history.of(LOCK, 10).holds()).isEmpty();
    assertThat(holders(history.of(busy, 10))).containsExactly("second", "first");
  }

  private void forgetAllOfBefore() {
    for (int i = 0; i < HoldHistory.MAX_IN_ALL; i++) {
      ended(new LockName("many/" + i), "h");
    }
  }

  @Test
  void lockOfWhichNothingIsForgottenIsRememberedSinceTheStart() {
    // Given
    LockName busy = new LockName("busy");
    ended(busy, "first");
    clock.addAndGet(300);
    ended(LOCK, "forgotten");
    ended(busy, "second");
    // When
    for (int i = 0; i < HoldHistory.MAX_IN_ALL - 2; i++) {
      ended(new LockName("many/" + i), "h");
    }
    clock.addAndGet(1_000);
    // Then: not for less time than the list shows
    assertThat(history.of(busy, 10).recordedForNanos()).isEqualTo(1_300);
    assertThat(history.of(new LockName("never/seen"), 10).recordedForNanos()).isEqualTo(1_000);
  }

  @Test
  void lockThatIsForgottenInPartIsRememberedSinceTheEndOfThatPart() {
    // Given
    clock.addAndGet(100);
    ended(LOCK, "forgotten");
    clock.addAndGet(300);
    ended(LOCK, "kept");
    // When
    for (int i = 0; i < HoldHistory.MAX_IN_ALL - 1; i++) {
      ended(new LockName("many/" + i), "h");
    }
    clock.addAndGet(1_000);
    // Then
    assertThat(holders(history.of(LOCK, 10))).containsExactly("kept");
    assertThat(history.of(LOCK, 10).recordedForNanos()).isEqualTo(1_300);
  }

  @Test
  void lockThatComesBackIsRememberedSinceTheNewestThatMayHaveBeenItsOwn() {
    // Given
    clock.addAndGet(300);
    ended(LOCK, "forgotten");
    clock.addAndGet(500);
    forgetAllOfBefore();
    // When
    ended(LOCK, "again");
    clock.addAndGet(1_000);
    // Then
    assertThat(holders(history.of(LOCK, 10))).containsExactly("again");
    assertThat(history.of(LOCK, 10).recordedForNanos()).isEqualTo(1_500);
  }

  @Test
  void whatNoAnswerHasRoomForIsNotForgotten() {
    // Given
    clock.addAndGet(300);
    // When
    for (int i = 0; i < LockHistory.MAX_HOLDS + 5; i++) {
      ended(LOCK, "h" + i);
    }
    // Then
    assertThat(history.of(LOCK, 10).recordedForNanos()).isEqualTo(300);
  }

  @Test
  void metadataThatIsLargeIsNotKept() {
    // When
    history.onOccurrence(
        end(
            LOCK,
            "talker",
            Map.of("story", "x".repeat(HoldHistory.MAX_METADATA_BYTES)),
            HoldEnd.RELEASED));
    // Then
    assertThat(history.of(LOCK, 1).holds().get(0).holder().metadata()).isEmpty();
  }
}
