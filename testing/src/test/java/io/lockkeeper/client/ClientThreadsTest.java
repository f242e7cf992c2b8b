package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.testing.InMemoryLockkeeper;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Threads: none leaks, none is killed by what callbacks throw, and none of gRPC's runs them. */
class ClientThreadsTest {

  private static Set<Thread> lockkeeperThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(t -> t.getName().startsWith("lockkeeper-"))
        .collect(Collectors.toSet());
  }

  @Test
  void closedClientEndsItsLeaseAndAllItsThreads() throws InterruptedException {
    // Given
    Set<Thread> before = lockkeeperThreads();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start()) {
      for (int i = 0; i < 20; i++) {
        LockkeeperClient client = server.clientBuilder().build();
        client.lock("orders/" + i);
        client.getLock("orders/" + i);
        client.watch("", new WatchListener() {});
        // When
        client.close();
        client.close();
      }
      // Then
      assertThat(server.leaseCount()).isZero();
    }
    await().untilAsserted(() -> assertThat(lockkeeperThreads()).isSubsetOf(before));
  }

  @Test
  void networkClientThatNeverConnectedEndsItsThreadsToo() {
    // Given
    Set<Thread> before = lockkeeperThreads();
    LockkeeperClient client =
        LockkeeperClient.builder("127.0.0.1:1").requestTimeout(Duration.ofMillis(300)).build();
    // When
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of("orders/42"));
    // Then
    assertThat(asked)
        .failsWithin(Duration.ofMinutes(1))
        .withThrowableOfType(ExecutionException.class)
        .havingCause()
        .isInstanceOf(ServerUnavailableException.class)
        .withMessageContaining("127.0.0.1:1");
    assertThatThrownBy(() -> client.getLock("orders/42"))
        .isInstanceOf(ServerUnavailableException.class)
        .hasMessageContaining("127.0.0.1:1");
    client.close();
    await().untilAsserted(() -> assertThat(lockkeeperThreads()).isSubsetOf(before));
  }

  @Test
  void callbacksRunOnTheClientsOwnThreadAndMayBlockOnTheClient() throws InterruptedException {
    // Given: the lock is held, so that the callback is there before what it waits for.
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start();
        LockkeeperClient client = server.clientBuilder().build()) {
      LockHandle held = client.lock("orders/42");
      // When
      CompletableFuture<List<String>> seen =
          client
              .acquire(LockRequest.of("orders/42"))
              .thenApply(
                  handle -> {
                    handle.close();
                    try (LockHandle inner = client.lock("orders/43")) {
                      return List.of(Thread.currentThread().getName(), inner.name());
                    } catch (InterruptedException e) {
                      throw new IllegalStateException(e);
                    }
                  });
      held.close();
      // Then
      assertThat(seen)
          .succeedsWithin(Duration.ofMinutes(1))
          .isEqualTo(List.of("lockkeeper-callbacks", "orders/43"));
    }
  }

  @Test
  void clientClosedByItsOwnCallbackDoesNotHang() throws InterruptedException {
    // Given
    InMemoryLockkeeper server = InMemoryLockkeeper.start();
    LockkeeperClient client = server.clientBuilder().build();
    LockHandle held = client.lock("orders/42");
    // When
    CompletableFuture<Void> closed =
        client.acquire(LockRequest.of("orders/42")).thenAccept(handle -> client.close());
    held.close();
    // Then
    assertThat(closed).succeedsWithin(Duration.ofMinutes(1));
    assertThat(server.leaseCount()).isZero();
    server.close();
  }
}
