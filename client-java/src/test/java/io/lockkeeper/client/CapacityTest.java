package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** How many requests and locks one client can have at a time. */
class CapacityTest {

  @AutoClose private final GrantingServer server = new GrantingServer();
  @AutoClose private final LockkeeperClient client = server.clientBuilder().build();

  CapacityTest() throws IOException {}

  @Test
  void requestBeyondTheCapacityFailsUntilALockIsReleased() throws Exception {
    // Given
    List<CompletableFuture<LockHandle>> many =
        IntStream.range(0, 10_000)
            .mapToObj(i -> client.acquire(LockRequest.of("orders/" + i)))
            .toList();
    // When / Then
    assertThatThrownBy(() -> client.lock("users/1")).hasMessageContaining("10000 requests");
    // When
    many.get(0).get(1, TimeUnit.MINUTES).releaseAsync().get(1, TimeUnit.MINUTES);
    // Then
    assertThat(client.tryLock("users/1")).isPresent();
  }
}
