package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.internal.runtime.LeaderWatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Who leads, made of what a watch shows. */
class LeaderWatchTest {

  private final List<String> told = new ArrayList<>();
  private final List<CompletableFuture<LockInfo>> lookups = new ArrayList<>();
  private final LeaderWatch watch =
      new LeaderWatch(
          leader -> told.add(leader.map(Leader::value).orElse("nobody")),
          () -> {
            lookups.add(new CompletableFuture<>());
            return lookups.get(lookups.size() - 1);
          });

  private static Contender holder(String entry, Map<String, String> metadata) {
    return new Contender(
        "somebody",
        "tag",
        "id",
        "",
        LockMode.EXCLUSIVE,
        0,
        0,
        "",
        metadata,
        Duration.ZERO,
        Duration.ZERO,
        false,
        OptionalLong.of(7),
        Optional.empty(),
        entry);
  }

  private static Contender leader(String entry, String value) {
    return holder(entry, Map.of(LeaderWatch.VALUE, value));
  }

  private static Contender unread(String entry) {
    return holder(entry, Map.of());
  }

  private static LockInfo info(Contender... holders) {
    return new LockInfo(
        "leader",
        List.of(holders),
        0,
        List.of(),
        OptionalInt.empty(),
        Optional.empty(),
        1,
        Optional.empty());
  }

  private void change(Contender... holders) {
    watch.onChange(
        new LockChange("leader", ChangeCause.GRANTED, Optional.empty(), List.of(holders), 0, 1, 1));
  }

  @Test
  void lookupThatEndsAfterTheWatchTellsNothing() {
    // Given
    change(unread("1"));
    watch.onFailed(new LockkeeperException("the client is closed"));
    // When
    lookups.get(0).completeExceptionally(new LockkeeperException("the client is closed"));
    // Then
    assertThat(told).isEmpty();
  }

  @Test
  void lookupThatEndsAfterItIsClosedTellsNothing() {
    // Given
    change(unread("1"));
    watch.close();
    // When
    lookups.get(0).complete(info(leader("1", "one")));
    // Then
    assertThat(told).isEmpty();
  }

  @Test
  void sameLeaderIsToldOnce() {
    // When
    watch.onSnapshotEnd();
    change(leader("1", "one"));
    change(leader("1", "one"));
    change();
    change();
    // Then
    assertThat(told).containsExactly("nobody", "one", "nobody");
  }

  @Test
  void leaderWhoseServerIsAnotherIsLookedUp() {
    // Given
    watch.onSnapshot(info(unread("1")));
    watch.onSnapshotEnd();
    List<String> before = List.copyOf(told);
    // When
    lookups.get(0).complete(info(leader("1", "one")));
    // Then
    assertThat(before).isEmpty();
    assertThat(told).containsExactly("one");
  }

  @Test
  void answerThatIsOvertakenIsNotTold() {
    // Given
    change(unread("1"));
    change(leader("2", "two"));
    // When
    lookups.get(0).complete(info(leader("1", "one")));
    // Then
    assertThat(told).containsExactly("two");
  }

  @Test
  void leaderThatCannotBeLookedUpIsToldAsFarAsItIsKnown() {
    // Given
    change(unread("1"));
    // When
    lookups
        .get(0)
        .completeExceptionally(new ServerUnavailableException("nobody answers", List.of()));
    change(unread("2"));
    lookups.get(1).complete(info(leader("3", "three")));
    // Then
    assertThat(told).containsExactly("");
  }

  @Test
  void afterAGapWhatWasKnownIsToldAgainOnlyIfItDiffers() {
    // Given
    watch.onSnapshot(info(leader("1", "one")));
    watch.onSnapshotEnd();
    // When
    watch.onGap("slow");
    watch.onSnapshot(info(leader("1", "one")));
    watch.onSnapshotEnd();
    watch.onGap("slow");
    watch.onSnapshotEnd();
    // Then
    assertThat(told).containsExactly("one", "nobody");
  }
}
