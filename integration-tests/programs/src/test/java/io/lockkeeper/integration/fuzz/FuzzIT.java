package io.lockkeeper.integration.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Alone;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A short run of {@code make fuzz}: hostile requests to every rpc. */
@Alone
final class FuzzIT {

  private static final long REQUESTS = 20_000;

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void noRequestHoweverBrokenDisturbsAnotherTenantOrTheCoordinators() {
    // Given
    long seed = Long.getLong("lockkeeper.fuzz.seed", System.nanoTime());
    try (FuzzedCluster cluster = FuzzedCluster.start()) {

      // When
      FuzzRun.Result result = FuzzRun.of(cluster, seed, REQUESTS);

      // Then
      System.out.println("fuzz: seed " + seed + ", " + result);
      assertThat(result.findings()).as("seed " + seed).isEmpty();
      assertThat(result.sent()).isGreaterThanOrEqualTo(REQUESTS);
      assertThat(result.forwarded()).isPositive();
      assertThat(result.rounds()).as("the witnesses worked").allMatch(rounds -> rounds > 0);
    }
  }
}
