package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Requests, reads and watches while a namespace moves from one shard to another. */
class MovingNamespacesTest {

  private static final Duration SOON = Duration.ofMinutes(1);
  private static final int FOR_EVER = 1_000_000;

  @AutoClose private final FakeShards shards = new FakeShards("a", "b");
  private final FakeShard a = shards.shard("a");
  private final FakeShard b = shards.shard("b");
  @AutoClose private final LockkeeperClient client = shards.clientOf("a").build();
  private final RecordingWatch watch = new RecordingWatch();

  MovingNamespacesTest() throws IOException {}

  private void awaitTold(String... events) {
    await().untilAsserted(() -> assertThat(watch.told()).containsExactly(events));
  }

  @Test
  void requestIsAskedAgainUntilTheNamespaceHasArrived() throws InterruptedException {
    // Given
    a.moveFor(3);
    // When
    LockHandle handle = client.lock("orders/1");
    // Then
    assertThat(handle.isValid()).isTrue();
    assertThat(a.asked()).hasSize(4);
    assertThat(a.tablesAsked()).isZero();
  }

  @Test
  void requestWithAWaitLimitTimesOutAndOneThatMayNotWaitAtOnce() throws InterruptedException {
    // Given
    a.moveFor(FOR_EVER);
    // When / Then
    assertThat(client.tryLock("orders/1")).isEmpty();
    assertThat(a.asked()).hasSize(1);
    assertThat(client.tryLock("orders/2", Duration.ofMillis(300))).isEmpty();
    assertThat(a.asked()).hasSizeGreaterThan(2);
  }

  @Test
  void requestWithoutALimitOutlastsTheRequestTimeout() throws Exception {
    // Given
    a.moveFor(FOR_EVER);
    try (LockkeeperClient brief =
        shards.clientOf("a").requestTimeout(Duration.ofMillis(500)).build()) {
      CompletableFuture<LockHandle> waits = brief.acquire(LockRequest.of("orders/1"));
      assertThatThrownBy(() -> brief.getLock("orders/1")).isInstanceOf(LockkeeperException.class);
      await().until(() -> a.asked().size() > 15); // Every 50 ms at most.
      assertThat(waits).isNotDone();
      // When
      a.moveFor(0);
      // Then
      assertThat(waits.get(SOON.toSeconds(), TimeUnit.SECONDS).isValid()).isTrue();
    }
  }

  @Test
  void whoLosesHisPlaceToAMoveIsAskedForAnewUnderAnotherId() throws Exception {
    // Given
    CompletableFuture<LockHandle> waits =
        client.acquire(LockRequest.of("orders/taken").waitAtMost(Duration.ofMinutes(5)));
    await().until(() -> a.asked().size() == 1);
    // When
    a.moveFor(1);
    a.tellMoved();
    await().until(() -> a.asked().size() == 3);
    // Then
    String first = a.asked().get(0).getRequestId();
    String second = a.asked().get(1).getRequestId();
    assertThat(second).isNotEqualTo(first);
    assertThat(a.asked().get(2).getRequestId()).isEqualTo(second);
    assertThat(a.asked().get(2).getWaitTimeout().getSeconds()).isLessThan(300);
    assertThat(waits).isNotDone();
    // When
    shards.publish(1, Map.of("orders", "b"));
    a.tellMoved();
    await().until(() -> b.asked().size() == 1);
    // Then
    assertThat(b.askedNames()).containsExactly("orders/taken");
    assertThat(waits).isNotDone();
    assertThat(a.released()).isEmpty();
  }

  @Test
  void whatAnotherServerOfTheShardMayKnowIsReleasedThere() throws Exception {
    // Given
    CompletableFuture<LockHandle> waits = client.acquire(LockRequest.of("orders/taken"));
    await().until(() -> a.asked().size() == 1);
    shards.publish(1, Map.of("orders", "b"));
    // When
    a.breakStreams();
    await().until(() -> b.asked().size() == 1);
    // Then
    String atFirst = a.asked().get(0).getRequestId();
    await().until(() -> a.released().contains(atFirst));
    assertThat(waits).isNotDone();
    assertThat(b.released()).isEmpty();
    // When
    waits.cancel(false);
    // Then
    String moved = b.asked().get(0).getRequestId();
    await().until(() -> b.released().contains(moved));
  }

  @Test
  void lockThatIsHeldStaysHeldWhereItsNamespaceHasLeft() throws InterruptedException {
    // Given
    LockHandle before = client.lock("orders/1");
    // When
    shards.publish(1, Map.of("orders", "b"));
    LockHandle after = client.lock("orders/2");
    // Then
    assertThat(before.isValid()).isTrue();
    assertThat(after.isValid()).isTrue();
    before.close();
    assertThat(a.released()).containsExactly(a.asked().get(0).getRequestId());
  }

  @Test
  void readsFollowAndGoThereAtOnceFromThenOn() {
    // Given
    shards.publish(1, Map.of("orders", "b"));
    // When
    client.getLock("orders/1");
    client.getLock("orders/2");
    // Then
    assertThat(a.read()).containsExactly("orders/1");
    assertThat(b.read()).containsExactly("orders/1", "orders/2");
    assertThat(a.tablesAsked()).isEqualTo(1);
    assertThat(client.listLocks("orders/").map(LockInfo::name)).containsExactly("orders/b");
    assertThat(client.listLocks("ord").map(LockInfo::name)).containsExactly("orda");
    assertThat(client.listLocks("").map(LockInfo::name)).containsExactly("a");
    assertThat(a.read()).containsExactly("orders/1", "ord", "");
  }

  @Test
  void listFollows() {
    // Given
    shards.publish(1, Map.of("orders", "b"));
    // When / Then
    assertThat(client.listLocks("orders/").map(LockInfo::name)).containsExactly("orders/b");
  }

  @Test
  void readIsAskedAgainWhileTheNamespaceMoves() {
    // Given
    a.moveFor(2);
    // When
    LockInfo lock = client.getLock("orders/1");
    // Then
    assertThat(lock.name()).isEqualTo("orders/1");
    assertThat(a.read()).hasSize(3);
  }

  @Test
  void readThatTheTableSendsToWhoRefusesItIsAskedAgainLater() throws InterruptedException {
    // Given
    shards.publish(1, Map.of("orders", "a"));
    shards.serve("orders", "b");
    CompletableFuture<LockInfo> reads = client.async().getLock("orders/1");
    await().until(() -> a.read().size() == 2);
    // When
    shards.publish(2, Map.of("orders", "b"));
    // Then
    assertThat(reads.join().name()).isEqualTo("orders/1");
    assertThat(b.read()).containsExactly("orders/1");
    client.lock("orders/1");
    assertThat(a.asked()).isEmpty(); // The reads' table is the requests', too.
  }

  @Test
  void watchThatEndsForAMoveBeginsAnewWithAGap() {
    // Given
    Watch unused = client.watch("orders/", watch);
    awaitTold("snapshot end");
    // When
    shards.publish(1, Map.of("orders", "b"));
    a.endWatches("orders/");
    // Then
    awaitTold("snapshot end", "gap", "snapshot end");
    assertThat(b.watched()).hasSize(1);
    assertThat(b.watched().get(0).getStartRevision()).isZero();
    // When
    unused.close();
    Watch again = client.watch("orders/", watch);
    // Then
    awaitTold("snapshot end", "gap", "snapshot end", "snapshot end");
    assertThat(a.watched()).hasSize(1);
    again.close();
  }

  @Test
  void watchThatIsRefusedAtFirstFollowsWithoutAGap() {
    // Given
    shards.publish(1, Map.of("orders", "b"));
    // When
    Watch unused = client.watch("orders/", watch);
    // Then
    awaitTold("snapshot end");
    assertThat(b.watched()).hasSize(1);
  }

  @Test
  void watchOfAnotherPrefixIsOfTheShardThatWasGiven() {
    // Given
    shards.publish(1, Map.of("orders", "b"));
    client.getLock("orders/1");
    // When
    Watch unused = client.watch("ord", watch);
    // Then
    awaitTold("snapshot end");
    assertThat(a.watched()).hasSize(1);
    assertThat(b.watched()).isEmpty();
  }

  @Test
  void watchOfLocksOfSeveralShardsFails() {
    // Given
    shards.publish(1, Map.of("orders", "b", "users", "a"));
    client.getLock("orders/1");
    // When
    Watch unused = client.watchLocks(List.of("orders/1", "users/1"), watch);
    // Then
    awaitTold("failed ACROSS_SHARDS");
    assertThat(a.watched()).isEmpty();
    assertThat(b.watched()).isEmpty();
  }

  /** Writes down what it is told. */
  private static final class RecordingWatch implements WatchListener {
    private final List<String> told = new CopyOnWriteArrayList<>();

    List<String> told() {
      return told;
    }

    @Override
    public void onSnapshotEnd() {
      told.add("snapshot end");
    }

    @Override
    public void onGap(String reason) {
      told.add("gap");
    }

    @Override
    public void onFailed(LockkeeperException why) {
      told.add(
          "failed " + (why instanceof RequestRefusedException refused ? refused.reason() : why));
    }
  }
}
