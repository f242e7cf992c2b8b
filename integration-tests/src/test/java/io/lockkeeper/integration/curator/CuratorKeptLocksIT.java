package io.lockkeeper.integration.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A lock that one of our clients keeps, and that Curator's wants. */
final class CuratorKeptLocksIT {

  private final Neighbourhood here = Neighbourhood.shared();
  private final Hand billing = here.peer("billing").hand("kept");

  @Test
  void curatorsClientGetsWhatOurClientKeeps() throws InterruptedException {
    // Given
    String path = Neighbourhood.path("kept-ours");
    LockRequest kept = LockRequest.of("kept-ours").keepUnused(Duration.ofMinutes(10));
    try (LockkeeperClient client = LockkeeperClient.builder(here.address()).build()) {
      LockHandle first = client.lock(kept);
      first.close();
      here.awaitEntries("kept-ours", 1);
      // When
      billing.acquire(Recipe.MUTEX, path);
      // Then
      assertThat(client.tryLock(kept.waitAtMost(Duration.ZERO))).isEmpty();
      billing.release(Recipe.MUTEX, path);
      try (LockHandle again = client.lock(kept)) {
        assertThat(again.fencingToken()).isGreaterThan(first.fencingToken());
      }
    }
  }
}
