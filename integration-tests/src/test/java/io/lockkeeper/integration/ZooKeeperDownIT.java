package io.lockkeeper.integration;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.NOT_SERVING;
import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.Status.Code;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** ZooKeeper that is not there yet, or goes away for a moment. */
@Tag("smoke")
final class ZooKeeperDownIT {

  @AutoClose private static final ZooKeeperProcess zookeeper = Rig.startZooKeeper();

  @BeforeEach
  void up() {
    if (!zookeeper.isAlive()) {
      zookeeper.start();
    }
  }

  @Test
  void serverStartsWithoutZooKeeperSaysSoAndServesWhenItComes() {
    // Given
    zookeeper.kill();
    try (ServerProcess server = ServerProcess.launch(zookeeper.connectString(), "--root=/start")) {
      server.awaitHealth(NOT_SERVING);

      // When
      Status early = Asking.forLock(server.connect(), "down/early").awaitEnd();
      Awaitility.await("the address in the log")
          .until(() -> server.output().contains("zookeeper=\"" + zookeeper.connectString()));
      zookeeper.start();

      // Then
      assertThat(early.getCode()).isEqualTo(Code.UNAVAILABLE);
      Asking.retryUntilGranted(server.connect(), "down/late");
    }
  }

  @Test
  void locksThatAnOutageCostsAreCountedAsThatAndNamedInTheLog() throws InterruptedException {
    // Given: client-java counts from its own side, and closes its lease a moment before the bound
    try (ServerProcess server =
            ServerProcess.start(
                zookeeper.connectString(), Rig.shortSessions(15, "--root=/outage"));
        LockkeeperClient client = LockkeeperClient.builder(server.address()).build()) {
      for (int i = 0; i < 9; i++) {
        client.lock("down/lost-" + i);
      }

      // When
      zookeeper.kill();

      // Then
      Awaitility.await("the losses").until(() -> server.output().contains("locks were lost"));
      assertThat(server.metric("lockkeeper_losses_total{by=\"service\",reason=\"session_lost\"}"))
          .isEqualTo(9);
      assertThat(server.metric("lockkeeper_losses_total")).isEqualTo(9);
      assertThat(server.output().lines().filter(line -> line.contains("locks were lost")))
          .singleElement()
          .asString()
          .contains("WARN", "holds=\"9\"", "down/lost-0", "down/lost-4")
          .doesNotContain("down/lost-5");
    }
  }

  @Test
  void restartOfZooKeeperKeepsHoldersWaitersAndTheirOrder() {
    // Given
    try (ServerProcess server = ServerProcess.start(zookeeper.connectString(), "--root=/restart")) {
      Asking holder = Asking.forLock(server.connect(), "down/restart");
      final long token = holder.awaitToken();
      Asking waiter = Asking.forLock(server.connect(), "down/restart");
      waiter.await(EventCase.QUEUED);

      // When
      zookeeper.restart();
      server.awaitHealth(SERVING);

      // Then
      assertThat(holder.find(EventCase.LOST)).isEmpty();
      assertThat(waiter.find(EventCase.GRANTED)).isEmpty();
      holder.release();
      assertThat(waiter.awaitToken()).isGreaterThan(token);
    }
  }
}
