package io.lockkeeper.integration.shards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.client.ErrorReason;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.RequestRefusedException;
import io.lockkeeper.integration.failover.Cluster;
import io.lockkeeper.integration.failover.Load;
import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Program;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.ConfigureLockResponse;
import io.lockkeeper.v1.ConfiguredLimit;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.GetLockResponse;
import io.lockkeeper.v1.ListNamespacesRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.PlacedNamespace;
import io.lockkeeper.v1.ShardServiceGrpc;
import io.lockkeeper.v1.ShardTable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Namespaces that move between two ensembles, and an ensemble that is down. */
@Alone
final class ShardsIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @RegisterExtension private static final TwoShards shards = TwoShards.start();

  private static GetLockResponse look(Cluster at, String lock) {
    return LockServiceGrpc.newBlockingStub(shards.connect(at))
        .getLock(GetLockRequest.newBuilder().setName(lock).build());
  }

  private static boolean moves(String namespace) {
    return shards.table(shards.a()).getMovesList().stream()
        .anyMatch(move -> move.getNamespace().equals(namespace));
  }

  private static String servedBy(String namespace) {
    return shards.table(shards.a()).getNamespacesList().stream()
        .filter(named -> named.getNamespace().equals(namespace))
        .map(PlacedNamespace::getShard)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void namespaceMovesThereAndBackUnderLoadAndItsTokensRise() {
    try (Load load = Load.start(shards.a().addresses(), 8, Duration.ofSeconds(10), "load")) {
      for (String to : List.of("b", "a", "b")) {
        // When
        String said = shards.require(0, "move", "load", to, "--wait", "2s", "--force");
        long moved = System.nanoTime();
        // Then: everybody goes on there
        assertThat(said).contains("namespace 'load' is served by shard '" + to + "'");
        load.awaitMarks(load.turners(), moved, PATIENCE);
      }
      assertThat(load.violations()).isEmpty();
      assertThat(look(shards.b(), "load/own/0").getLock().getName()).isEqualTo("load/own/0");
      assertThatThrownBy(() -> look(shards.a(), "load/own/0"))
          .isInstanceOf(StatusRuntimeException.class)
          .hasMessageContaining("served by shard 'b'");
    }
    assertThat(shards.require(0)).contains("load", "version");
  }

  @Test
  void waiterIsGrantedAtTheOtherShardAndTheHolderIsWaitedFor() throws Exception {
    try (LockkeeperClient client = TwoShards.clientOf(shards.a());
        LockkeeperClient other = TwoShards.clientOf(shards.b())) {
      // Given
      LockHandle holder = client.lock(LockRequest.of("wait/1"));
      CompletableFuture<LockHandle> waiter = other.acquire(LockRequest.of("wait/1"));
      await().until(() -> look(shards.a(), "wait/1").getLock().getQueueLength() == 1);
      // When
      Process move = shards.begin("move", "wait", "b");
      await().atMost(PATIENCE).until(() -> moves("wait"));
      assertThat(holder.isValid()).isTrue();
      assertThat(waiter).isNotDone();
      holder.close();
      // Then
      LockHandle granted = waiter.get(60, TimeUnit.SECONDS);
      assertThat(granted.fencingToken()).isGreaterThan(holder.fencingToken());
      assertThat(move.waitFor()).isZero();
      assertThat(look(shards.b(), "wait/1").getLock().getHoldersCount()).isEqualTo(1);
      granted.close();
    }
  }

  @Test
  void moveThatIsKilledGoesOnWhenItIsRunAgain() throws Exception {
    try (LockkeeperClient client = TwoShards.clientOf(shards.a())) {
      // Given
      LockHandle holder = client.lock(LockRequest.of("resumed/1"));
      TwoShards.kill(begun("resumed"));
      // Then: nothing is granted meanwhile, anywhere, and the holder holds
      Asking asking = Asking.forLock(shards.connect(shards.a()), "resumed/2");
      assertThat(asking.awaitEnd().getCode()).isEqualTo(Code.UNAVAILABLE);
      Asking there = Asking.forLock(shards.connect(shards.b()), "resumed/2");
      assertThat(there.awaitEnd().getDescription()).contains("shard 'a'");
      assertThat(holder.isValid()).isTrue();
      // When
      holder.close();
      shards.require(0, "move", "resumed", "b");
      // Then
      try (LockHandle next = client.lock(LockRequest.of("resumed/1"))) {
        assertThat(next.fencingToken()).isGreaterThan(holder.fencingToken());
      }
      assertThat(servedBy("resumed")).isEqualTo("b");
    }
  }

  private static Process begun(String namespace) {
    Process move = shards.begin("move", namespace, "b");
    await().atMost(PATIENCE).until(() -> moves(namespace));
    // From when the shard itself knows, it is under way.
    await()
        .atMost(PATIENCE)
        .until(
            () -> shards.table(shards.b()).getVersion() == shards.table(shards.a()).getVersion());
    return move;
  }

  @Test
  void moveThatIsKilledIsTakenBack() throws Exception {
    try (LockkeeperClient client = TwoShards.clientOf(shards.a())) {
      // Given
      LockHandle holder = client.lock(LockRequest.of("undone/1"));
      TwoShards.kill(begun("undone"));
      final CompletableFuture<LockHandle> waiter = client.acquire(LockRequest.of("undone/2"));
      // When
      shards.require(0, "move", "undone", "--undo");
      // Then
      assertThat(servedBy("undone")).isEqualTo("a");
      assertThat(moves("undone")).isFalse();
      waiter.get(60, TimeUnit.SECONDS).close();
      assertThat(holder.isValid()).isTrue();
      holder.close();
    }
  }

  @Test
  void moveOfWhatStaysHeldIsUndoneUnlessItIsForced() throws Exception {
    try (LockkeeperClient client = TwoShards.clientOf(shards.a())) {
      // Given
      LockHandle holder = client.lock(LockRequest.of("held/1"));
      // When
      String undone = shards.require(1, "move", "held", "b", "--wait", "1s");
      // Then
      assertThat(undone).contains("the move is undone", "--force");
      assertThat(holder.isValid()).isTrue();
      assertThat(servedBy("held")).isEqualTo("a");
      // When
      shards.require(0, "move", "held", "b", "--wait", "1s", "--force");
      // Then
      await().until(() -> !holder.isValid());
      try (LockHandle next = client.lock(LockRequest.of("held/1"))) {
        assertThat(next.fencingToken()).isGreaterThan(holder.fencingToken());
      }
    }
  }

  @Test
  void twoMovesAtOnceBothEnd() throws Exception {
    // When
    Process one = shards.begin("move", "one", "b");
    Process two = shards.begin("move", "two", "b");
    // Then
    assertThat(List.of(one.waitFor(), two.waitFor())).containsOnly(0);
    assertThat(List.of(servedBy("one"), servedBy("two"))).containsOnly("b");
    assertThat(shards.table(shards.b())).isEqualTo(shards.table(shards.a()));
  }

  @Test
  void tableThatSomebodyDeletesIsBackBeforeAnythingIsGranted() throws Exception {
    shards.require(0, "move", "guarded", "b");
    ShardTable table = shards.table(shards.a());
    // When
    shards.a().znodes().delete("/lockkeeper/shards");
    // Then
    await().until(() -> shards.table(shards.a()).equals(table));
    Asking asking = Asking.forLock(shards.connect(shards.a()), "guarded/1");
    assertThat(asking.awaitEnd().getDescription()).contains("shard 'b'");
  }

  @Test
  void whatIsFrozenDoesNotMove() {
    // Given
    Program frozen =
        Program.run(
            Map.of(), "freeze", "ice/", "--reason", "x", "--server", shards.a().addresses());
    assertThat(frozen.exitCode()).isZero();
    // Then
    assertThat(shards.require(1, "move", "ice", "b")).contains("is frozen at shard 'a'");
    assertThat(moves("ice")).isFalse();
  }

  @Test
  void limitsMoveWithTheirNamespace() {
    // Given
    ConfigureLockRequest limit =
        ConfigureLockRequest.newBuilder().setName("limits/pool").setLimit(3).build();
    ConfigureLockResponse unused =
        LockServiceGrpc.newBlockingStub(shards.connect(shards.a())).configureLock(limit);
    // When
    shards.require(0, "move", "limits", "b");
    // Then
    ListNamespacesRequest wanted =
        ListNamespacesRequest.newBuilder().setNamespace("limits").build();
    assertThat(
            ShardServiceGrpc.newBlockingStub(shards.connect(shards.b()))
                .listNamespaces(wanted)
                .getLimitsList())
        .containsExactly(ConfiguredLimit.newBuilder().setName("limits/pool").setLimit(3).build());
  }

  @Test
  void shardThatIsDownLeavesTheOtherAloneAndItsOwnWaitForIt() throws Exception {
    shards.require(0, "move", "down", "b");
    try (LockkeeperClient client = TwoShards.clientOf(shards.a())) {
      // Given
      client.lock(LockRequest.of("down/1")).close();
      // When
      shards.b().ensemble().servers().forEach(server -> server.kill());
      shards.b().seat(0).kill();
      CompletableFuture<LockHandle> waiter = client.acquire(LockRequest.of("down/1"));
      for (int i = 0; i < 20; i++) {
        client.lock(LockRequest.of("up/" + i)).close();
      }
      Program shown = shards.shards();
      Program moved = shards.shards("move", "other", "b");
      // Then
      assertThat(waiter).isNotDone();
      assertThat(shown.exitCode()).isEqualTo(1);
      assertThat(shown.text()).contains("unknown");
      assertThat(moved.exitCode()).isNotZero();
      assertThat(moves("other")).isFalse();
      // When
      shards.b().ensemble().startAll();
      shards.b().restore();
      // Then
      waiter.get(60, TimeUnit.SECONDS).close();
    }
  }

  @Test
  void locksOfTwoShardsInOneRequestAreRefusedByName() {
    shards.require(0, "move", "far", "b");
    try (LockkeeperClient client = TwoShards.clientOf(shards.a())) {
      assertThatThrownBy(
              () ->
                  client.lock(
                      LockRequest.of(LockSpec.exclusive("near/1"), LockSpec.exclusive("far/1"))))
          .isInstanceOfSatisfying(
              RequestRefusedException.class,
              refused -> assertThat(refused.reason()).isEqualTo(ErrorReason.ACROSS_SHARDS));
    }
  }
}
