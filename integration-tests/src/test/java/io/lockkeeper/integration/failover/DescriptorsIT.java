package io.lockkeeper.integration.failover;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING;
import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Descriptors;
import io.lockkeeper.integration.harness.ServerProcess;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A coordinator that has no file descriptor left. */
final class DescriptorsIT {

  @RegisterExtension private static final Cluster cluster = Cluster.shared(Plan.quick(2));

  @Test
  void coordinatorWithoutDescriptorsTakesNobodyInAndKeepsItsHoldersUntilItHasSome()
      throws InterruptedException {
    // Given
    ServerProcess coordinator = cluster.seat(0).process();
    try (LockkeeperClient client =
            LockkeeperClient.builder(coordinator.address()).ttl(Duration.ofMinutes(1)).build();
        LockHandle held = client.lock("descriptors/held")) {
      ServingStatus without;

      // When
      try (Descriptors exhausted = Descriptors.exhaust(coordinator.pid(), coordinator.port())) {
        without = coordinator.health();
        assertThat(exhausted.strangers()).isPositive();
        try (LockHandle another = client.lock("descriptors/another")) {
          assertThat(another.isValid()).isTrue();
        }
      }

      // Then
      assertThat(without).isEqualTo(UNKNOWN);
      coordinator.awaitHealth(SERVING);
      assertThat(held.isValid()).isTrue();
    }
  }
}
