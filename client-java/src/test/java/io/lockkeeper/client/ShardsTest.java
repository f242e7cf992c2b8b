package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.Shard;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A client that was given the addresses of one shard finds the others. */
class ShardsTest {

  private static final Duration SOON = Duration.ofMinutes(1);

  @AutoClose private final FakeShards shards = new FakeShards("a", "b");
  private final FakeShard a = shards.shard("a");
  private final FakeShard b = shards.shard("b");

  /** Waits for a table that never comes for longer than any test lasts. */
  @AutoClose
  private final LockkeeperClient client =
      shards.clientOf("a").requestTimeout(Duration.ofMinutes(5)).build();

  ShardsTest() throws IOException {}

  private static <T> T get(CompletableFuture<T> future)
      throws ExecutionException, InterruptedException, TimeoutException {
    return future.get(SOON.toSeconds(), TimeUnit.SECONDS);
  }

  private static LockRequest both(String one, String other) {
    return LockRequest.of(LockSpec.exclusive(one), LockSpec.exclusive(other));
  }

  @Test
  void whereNobodyIsSplitNobodyIsAskedForATable() throws InterruptedException {
    // When
    client.lock("orders/1").close();
    client.lock(both("orders/2", "users/1")).close();
    client.getLock("orders/1");
    // Then
    assertThat(a.tablesAsked()).isZero();
    assertThat(a.leases()).isEqualTo(1);
    assertThat(a.askedNames()).containsExactly("orders/1", "orders/2");
    assertThat(b.leases()).isZero();
  }

  @Test
  void requestGoesOnAtTheRightShardAndTheNextOneGoesThereAtOnce() throws Exception {
    // Given
    shards.publish(1, Map.of("orders", "b"));
    // When
    LockHandle first = client.lock("orders/1");
    client.lock("orders/2");
    get(first.releaseAsync());
    // Then
    assertThat(a.askedNames()).containsExactly("orders/1");
    assertThat(b.askedNames()).containsExactly("orders/1", "orders/2");
    assertThat(a.tablesAsked() + b.tablesAsked()).isEqualTo(1);
    assertThat(b.asked().get(0).getRequestId()).isNotEqualTo(a.asked().get(0).getRequestId());
    assertThat(b.released()).containsExactly(b.asked().get(0).getRequestId());
    assertThat(a.released()).isEmpty();
  }

  @Test
  void namespaceThatIsNotNamedGoesWhereItIsHashed() throws InterruptedException {
    // Given: of a and b, b has the higher weight for users and carts, and a for orders.
    shards.publish(1, Map.of("elsewhere", "b"));
    shards.serve("users", "b");
    shards.serve("carts", "b");
    client.lock("elsewhere/1");
    // When
    client.lock("users/1");
    client.lock("carts/1");
    client.lock("orders/1");
    // Then
    assertThat(b.askedNames()).containsExactly("elsewhere/1", "users/1", "carts/1");
    assertThat(a.askedNames()).containsExactly("elsewhere/1", "orders/1");
  }

  @Test
  void eachShardHasOneLeaseAndClosingEndsBoth() throws InterruptedException {
    // Given
    shards.publish(1, Map.of("orders", "b", "users", "a"));
    // When
    LockHandle there = client.lock("orders/1");
    LockHandle here = client.lock("users/1");
    client.lock("orders/2");
    client.lock("users/2");
    // Then
    assertThat(a.leases()).isEqualTo(1);
    assertThat(b.leases()).isEqualTo(1);
    assertThat(client.leaseTag()).isEqualTo("tag-a");
    // When
    client.close();
    // Then
    assertThat(List.of(here.isValid(), there.isValid())).containsOnly(false);
  }

  @Test
  void leaseThatIsLostAtOneShardLeavesTheLocksOfTheOther() throws Exception {
    // Given
    shards.publish(1, Map.of("orders", "b", "users", "a"));
    LockHandle there = client.lock("orders/1");
    LockHandle here = client.lock("users/1");
    // When
    b.endLeases();
    // Then
    await().until(() -> !there.isValid());
    assertThat(here.isValid()).isTrue();
    // When
    client.lock("orders/2");
    // Then
    assertThat(b.leases()).isEqualTo(2);
    assertThat(a.leases()).isEqualTo(1);
    assertThat(here.isValid()).isTrue();
  }

  @Test
  void tryThatMayNotWaitFollows() throws InterruptedException {
    // Given
    shards.publish(1, Map.of("orders", "b"));
    // When
    Optional<LockHandle> free = client.tryLock("orders/1");
    Optional<LockHandle> taken = client.tryLock("orders/taken");
    // Then
    assertThat(free).isPresent();
    assertThat(taken).isEmpty();
    assertThat(b.asked()).allMatch(AcquireRequest::hasWaitTimeout);
    assertThat(b.asked()).allMatch(request -> request.getWaitTimeout().getSeconds() == 0);
  }

  @Test
  void tryThatMayNotWaitFollowsTwiceAndNotForEver() throws InterruptedException {
    // Given: each says that it is the other one.
    shards.serve("orders", "nobody");
    a.setTable(shards.table(1, Map.of("orders", "b")));
    b.setTable(shards.table(2, Map.of("orders", "a")));
    // When
    Optional<LockHandle> handle = client.tryLock("orders/1");
    // Then
    assertThat(handle).isEmpty();
    assertThat(a.asked()).hasSize(2);
    assertThat(b.asked()).hasSize(1);
  }

  @Test
  void waitLimitIsCountedFromWhenTheCallerAsked() throws InterruptedException {
    // Given
    shards.publish(1, Map.of("orders", "b"));
    a.moveFor(2); // Each is a pause of 50 ms at least.
    // When
    Optional<LockHandle> handle = client.tryLock("orders/1", Duration.ofSeconds(20));
    // Then
    Duration left = Protos.toJava(b.asked().get(0).getWaitTimeout());
    assertThat(handle).isPresent();
    assertThat(left).isLessThanOrEqualTo(Duration.ofMillis(19_900)).isPositive();
  }

  @Test
  void shardThatTheTableNamesAndThatRefusesIsAskedAgainLater() throws Exception {
    // Given
    shards.publish(1, Map.of("orders", "a"));
    shards.serve("orders", "b");
    // When
    CompletableFuture<LockHandle> waits = client.acquire(LockRequest.of("orders/1"));
    Optional<LockHandle> atOnce = client.tryLock("orders/2");
    await().until(() -> a.asked().size() >= 3);
    // Then
    assertThat(atOnce).isEmpty();
    assertThat(waits).isNotDone();
    // When
    shards.serve("orders", "a");
    // Then
    assertThat(get(waits).isValid()).isTrue();
    assertThat(a.asked().stream().map(AcquireRequest::getRequestId)).doesNotHaveDuplicates();
    assertThat(b.asked()).isEmpty();
  }

  @Test
  void olderTableReplacesNoNewerOne() throws Exception {
    // Given
    shards.publish(5, Map.of("orders", "b", "users", "a"));
    client.lock("orders/1");
    b.setTable(shards.table(4, Map.of("orders", "a", "users", "b")));
    shards.serve("orders", "nobody");
    // When
    Optional<LockHandle> refused = client.tryLock("orders/2");
    // Then
    assertThat(refused).isEmpty();
    assertThat(b.tablesAsked()).isEqualTo(1);
    assertThat(a.askedNames()).containsExactly("orders/1");
    // When
    client.lock("users/1");
    // Then
    assertThat(a.askedNames()).containsExactly("orders/1", "users/1");
  }

  @Test
  void withoutAnAnswerItGoesByWhatTheShardSays() throws InterruptedException {
    // Given
    shards.publish(1, Map.of("orders", "b", "users", "b"));
    a.failToTellTheTable(Status.PERMISSION_DENIED);
    // When
    client.lock("orders/1");
    client.lock("orders/2");
    client.lock("users/1");
    // Then
    assertThat(a.askedNames()).containsExactly("orders/1", "users/1");
    assertThat(b.askedNames()).containsExactly("orders/1", "orders/2", "users/1");
    assertThat(b.leases()).isEqualTo(1);
  }

  @Test
  void namespaceThatTheTableLeavesOutIsWhereItsServerSays() throws InterruptedException {
    // Given: by its weight, orders would be of a; whoever has no right on it is not told else.
    shards.publish(1, Map.of());
    shards.serve("orders", "b");
    // When
    client.lock("orders/1");
    client.lock("orders/2");
    // Then
    assertThat(a.askedNames()).contains("orders/1").doesNotContain("orders/2");
    assertThat(b.askedNames()).contains("orders/1", "orders/2");
    assertThat(a.tablesAsked()).isEqualTo(1);
  }

  @Test
  void shardThatIsSilentAboutTheTableIsNotAwaitedForEver() throws Exception {
    // Given
    shards.publish(1, Map.of("orders", "b"));
    a.beSilentAboutTheTable();
    try (LockkeeperClient brief =
        shards.clientOf("a").requestTimeout(Duration.ofSeconds(2)).build()) {
      // When
      Optional<LockHandle> handle = brief.tryLock("orders/1");
      LockInfo lock = brief.getLock("orders/1");
      // Then
      assertThat(handle).isPresent();
      assertThat(lock.name()).isEqualTo("orders/1");
      assertThat(b.read()).containsExactly("orders/1");
    }
  }

  @Test
  void tableThatIsTooLargeIsNotTaken() throws InterruptedException {
    // Given
    shards.serve("orders", "b");
    shards.serve("users", "b");
    io.lockkeeper.v1.ShardTable.Builder large = shards.table(1, Map.of("orders", "b")).toBuilder();
    for (int i = 0; i < 1_000; i++) {
      large.addShards(Shard.newBuilder().setId("s" + i).addAddresses("s" + i + ":1"));
    }
    a.setTable(large.build());
    // When
    client.lock("orders/1");
    client.lock("users/1");
    // Then
    assertThat(a.askedNames()).containsExactly("orders/1", "users/1");
    assertThat(b.askedNames()).containsExactly("orders/1", "users/1");
  }

  @Test
  void locksOfSeveralShardsAreRefusedByWhoeverKnows() throws InterruptedException {
    // Given
    shards.publish(1, Map.of("orders", "b", "users", "a"));
    LockRequest across = both("users/1", "orders/1");
    // When / Then
    assertThatThrownBy(() -> client.lock(across))
        .isInstanceOfSatisfying(
            RequestRefusedException.class,
            e -> assertThat(e.reason()).isEqualTo(ErrorReason.ACROSS_SHARDS));
    assertThat(a.askedNames()).containsExactly("users/1");
    // When
    client.lock("orders/2");
    // Then
    assertThatThrownBy(() -> client.lock(across))
        .isInstanceOfSatisfying(
            RequestRefusedException.class,
            e -> {
              assertThat(e.reason()).isEqualTo(ErrorReason.ACROSS_SHARDS);
              assertThat(e.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
              assertThat(e).hasMessageContaining("users/1").hasMessageContaining("orders/1");
            });
    assertThat(a.askedNames()).containsExactly("users/1", "orders/2");
    client.lock(both("orders/3", "orders/4"));
    assertThat(b.askedNames()).containsExactly("orders/2", "orders/3");
  }

  @Test
  void lockThatIsKeptAtTheSecondShardIsGrantedAgainWithoutAServer() throws InterruptedException {
    // Given
    shards.publish(1, Map.of("orders", "b"));
    LockRequest kept = LockRequest.of("orders/1").keepUnused(Duration.ofSeconds(30));
    // When
    LockHandle first = client.lock(kept);
    first.close();
    LockHandle second = client.lock(kept);
    // Then
    assertThat(second.fencingToken()).isEqualTo(first.fencingToken());
    assertThat(second.isValid()).isTrue();
    assertThat(b.askedNames()).containsExactly("orders/1");
    assertThat(b.released()).isEmpty();
    // When
    b.endLeases();
    // Then
    await().until(() -> !second.isValid());
    client.lock(kept).close();
    assertThat(b.askedNames()).containsExactly("orders/1", "orders/1");
  }

  @Test
  void requestThatIsWithdrawnBetweenTwoShardsIsAskedNowhere() throws Exception {
    // Given
    shards.publish(1, Map.of("orders", "b"));
    a.beSilentAboutTheTable();
    CompletableFuture<LockHandle> waits = client.acquire(LockRequest.of("orders/1"));
    await().until(() -> a.tablesAsked() == 1);
    // When
    waits.cancel(false);
    client.close();
    // Then
    assertThat(b.asked()).isEmpty();
    assertThat(b.leases()).isZero();
  }

  @Test
  void clientThatIsClosedEndsWhatIsBetweenTwoShards() {
    // Given
    shards.publish(1, Map.of("orders", "b"));
    a.beSilentAboutTheTable();
    CompletableFuture<LockHandle> waits = client.acquire(LockRequest.of("orders/1"));
    CompletableFuture<LockInfo> reads = client.async().getLock("orders/1");
    await().until(() -> a.tablesAsked() == 1 && a.read().size() == 1);
    // When
    client.close();
    // Then
    assertThatThrownBy(() -> get(waits)).hasMessageContaining("this client is closed");
    assertThatThrownBy(() -> get(reads)).hasMessageContaining("this client is closed");
    assertThat(b.asked()).isEmpty();
  }

  @Test
  void whatIsBetweenTwoShardsCountsAndLeavesRoomWhenItEnds() throws Exception {
    // Given
    shards.publish(1, Map.of("orders", "b"));
    a.beSilentAboutTheTable();
    List<CompletableFuture<LockHandle>> many =
        IntStream.range(0, 10_000)
            .mapToObj(i -> client.acquire(LockRequest.of("orders/" + i)))
            .toList();
    // When / Then
    assertThatThrownBy(() -> client.lock("users/1")).hasMessageContaining("10000 requests");
    await().until(() -> a.asked().size() == 10_000);
    // When
    many.forEach(waits -> waits.cancel(false));
    // Then
    assertThat(client.tryLock("users/1")).isPresent();
  }
}
