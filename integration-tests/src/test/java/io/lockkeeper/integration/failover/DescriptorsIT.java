package io.lockkeeper.integration.failover;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.integration.harness.Descriptors;
import io.lockkeeper.integration.harness.ServerProcess;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A coordinator that has no file descriptor left. */
@Alone
final class DescriptorsIT {

  @Test
  void coordinatorWithoutDescriptorsTakesNobodyInAndKeepsItsHoldersUntilItHasSome()
      throws InterruptedException {
    try (Cluster cluster = Cluster.start(Plan.quick(1));
        LockkeeperClient client = cluster.client(Duration.ofMinutes(1));
        LockHandle held = client.lock("descriptors/held")) {
      // Given
      ServerProcess coordinator = cluster.seat(0).process();
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
      assertThat(without).isEqualTo(ServingStatus.UNKNOWN);
      coordinator.awaitHealth(SERVING);
      assertThat(held.isValid()).isTrue();
    }
  }
}
