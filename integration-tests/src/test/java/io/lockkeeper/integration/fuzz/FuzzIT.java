package io.lockkeeper.integration.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Alone;
import org.junit.jupiter.api.Test;

/** Hostile requests to every rpc, in the number that every build can bear. */
@Alone
final class FuzzIT {

  private static final long REQUESTS = 200_000;

  @Test
  void noRequestHoweverBrokenDisturbsAnotherTenantOrTheServer() {
    // Given
    long seed = Long.getLong("lockkeeper.fuzz.seed", System.nanoTime());
    try (FuzzedServer server = FuzzedServer.start()) {

      // When
      FuzzRun.Result result = FuzzRun.of(server, seed, REQUESTS);

      // Then
      System.out.printf(
          "fuzz: seed %d, %d requests, %d rounds of the witness, %s%n",
          seed, result.sent(), result.rounds(), result.ends());
      assertThat(result.findings()).as("seed " + seed).isEmpty();
      assertThat(result.sent()).isGreaterThanOrEqualTo(REQUESTS);
      assertThat(result.rounds()).as("the witness worked").isPositive();
    }
  }
}
