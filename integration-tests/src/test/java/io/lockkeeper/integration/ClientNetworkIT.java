package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.Rig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The client library on a network that breaks, against a real server. */
@Timeout(120)
final class ClientNetworkIT {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final String lock = "client-network/" + UUID.randomUUID();
  @AutoClose private final ByteProxy network = ByteProxy.to(Rig.shared().server().port());

  @AutoClose
  private final LockkeeperClient observer =
      LockkeeperClient.builder(Rig.shared().server().address()).build();

  @Test
  void brokenConnectionsCostNeitherLockNorTokenNorPlace() throws Exception {
    // Given
    try (LockkeeperClient client = LockkeeperClient.builder(network.address()).build()) {
      LockHandle held = client.lock(lock);
      CompletableFuture<LockHandle> waiting = client.acquire(LockRequest.of(lock));
      await().atMost(LONG).until(() -> observer.getLock(lock).queueLength() == 1);
      String lease = client.leaseTag();
      // When
      for (int i = 0; i < 10; i++) {
        long deadline = held.validUntilNanos();
        network.cut();
        await().atMost(LONG).until(() -> held.validUntilNanos() - deadline > 0);
      }
      // Then
      assertThat(held.isValid()).isTrue();
      assertThat(client.leaseTag()).isEqualTo(lease);
      assertThat(observer.checkToken(lock, held.fencingToken()).current()).isTrue();
      assertThat(observer.getLock(lock).queueLength()).isEqualTo(1);
      held.close();
      assertThat(waiting.get(30, TimeUnit.SECONDS).fencingToken())
          .isGreaterThan(held.fencingToken());
    }
  }

  @Test
  void clientBehindADeadAddressResumesAtTheOther() throws Exception {
    // Given
    String addresses = network.address() + "," + Rig.shared().server().address();
    try (LockkeeperClient client =
        LockkeeperClient.builder(addresses).ttl(Duration.ofSeconds(9)).build()) {
      LockHandle held = client.lock(lock);
      long deadline = held.validUntilNanos();
      // When
      network.blackhole();
      await()
          .atMost(LONG)
          .until(() -> held.validUntilNanos() - deadline > TimeUnit.SECONDS.toNanos(9));
      // Then
      assertThat(held.isValid()).isTrue();
      assertThat(observer.checkToken(lock, held.fencingToken()).current()).isTrue();
    }
  }

  @Test
  void partitionedHoldersLoseTheirLocksBeforeAnybodyElseIsGranted() throws Exception {
    // Given
    List<LockkeeperClient> clients = new ArrayList<>();
    List<LockHandle> holds = new ArrayList<>();
    List<CompletableFuture<Long>> grantedAt = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      LockkeeperClient client =
          LockkeeperClient.builder(network.address())
              .ttl(Duration.ofMillis(2_000 + 100 * i))
              .build();
      clients.add(client);
      String name = lock + "/" + i;
      LockHandle held = client.lock(name);
      holds.add(held);
      grantedAt.add(observer.acquire(LockRequest.of(name)).thenApply(handle -> System.nanoTime()));
    }
    // When
    network.blackhole();
    // Then
    long minMarginNanos = Long.MAX_VALUE;
    for (int i = 0; i < clients.size(); i++) {
      LockHandle held = holds.get(i);
      long margin = grantedAt.get(i).get(60, TimeUnit.SECONDS) - held.validUntilNanos();
      assertThat(margin).as("margin of client %d", i).isPositive();
      assertThat(held.lost()).as("client %d is told", i).succeedsWithin(LONG);
      minMarginNanos = Math.min(minMarginNanos, margin);
    }
    System.out.printf(
        "own deadline: %d real partitions, margin min %.1f ms%n",
        clients.size(), minMarginNanos / 1e6);
    network.heal();
    clients.forEach(LockkeeperClient::close);
  }
}
