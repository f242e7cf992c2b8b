package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.Rig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The client library cut off from a real server. */
@Tag("smoke")
final class ClientNetworkIT {

  private static final int CLIENTS = 10;

  @Test
  void partitionedHoldersLoseTheirLocksBeforeAnybodyElseIsGranted() throws Exception {
    // Given
    int server = Rig.shared().server().port();
    try (ByteProxy network = ByteProxy.to(server);
        LockkeeperClient observer = LockkeeperClient.builder("127.0.0.1:" + server).build()) {
      List<LockkeeperClient> clients = new ArrayList<>();
      List<LockHandle> holds = new ArrayList<>();
      List<CompletableFuture<Long>> grantedAt = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        Duration ttl = Duration.ofMillis(5_000 + 100 * i);
        String lock = "client-network/" + i;
        clients.add(LockkeeperClient.builder(network.address()).ttl(ttl).build());
        holds.add(clients.get(i).lock(lock));
        grantedAt.add(
            observer.acquire(LockRequest.of(lock)).thenApply(handle -> System.nanoTime()));
      }

      // When
      network.blackhole();

      // Then
      for (int i = 0; i < CLIENTS; i++) {
        LockHandle held = holds.get(i);
        long margin = grantedAt.get(i).get(1, TimeUnit.MINUTES) - held.validUntilNanos();
        assertThat(margin).as("margin of client %d", i).isPositive();
        assertThat(held.lost()).as("client %d is told", i).succeedsWithin(Duration.ofMinutes(1));
      }
      network.heal();
      clients.forEach(LockkeeperClient::close);
    }
  }
}
