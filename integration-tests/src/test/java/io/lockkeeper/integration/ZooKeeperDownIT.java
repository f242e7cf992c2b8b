package io.lockkeeper.integration;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.NOT_SERVING;
import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.Status.Code;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** ZooKeeper that is not there yet, or goes away for a moment. */
final class ZooKeeperDownIT {

  @Test
  void serverStartsWithoutZooKeeperSaysSoAndServesWhenItComes() {
    // Given
    ZooKeeperProcess zookeeper =
        ZooKeeperProcess.in(Scratch.directory("zookeeper"))
            .configuration("tickTime", "500")
            .configuration("syncLimit", "2")
            .build();
    try (ServerProcess server =
        ServerProcess.launch(zookeeper.connectString(), Rig.shortSessions(5))) {
      server.awaitHealth(NOT_SERVING);

      // When
      Status early = Asking.forLock(server.connect(), "down/early").awaitEnd();
      Awaitility.await("words about it")
          .atMost(Duration.ofSeconds(15))
          .until(() -> server.output().contains("zookeeper=\"" + zookeeper.connectString()));
      zookeeper.start();

      // Then
      assertThat(early.getCode()).isEqualTo(Code.UNAVAILABLE);
      server.awaitHealth(SERVING);
      Asking.forLock(server.connect(), "down/late").awaitGrant();
    } finally {
      zookeeper.close();
    }
  }

  @Test
  void locksThatAnOutageCostsAreCountedAsThatAndNamedInTheLog() throws InterruptedException {
    // Given: client-java counts from its own side, and closes its lease a moment before the bound
    try (Rig rig = Rig.start(Rig.shortSessions(5));
        LockkeeperClient client = LockkeeperClient.builder(rig.server().address()).build()) {
      for (int i = 0; i < 9; i++) {
        client.lock("down/lost-" + i);
      }

      // When
      rig.zookeeper().kill();

      // Then
      Awaitility.await("the losses")
          .atMost(Duration.ofSeconds(30))
          .until(() -> rig.server().output().contains("locks were lost"));
      assertThat(
              rig.server()
                  .metric("lockkeeper_losses_total{by=\"service\",reason=\"session_lost\"}"))
          .isEqualTo(9);
      assertThat(rig.server().metric("lockkeeper_losses_total")).isEqualTo(9);
      assertThat(rig.server().output().lines().filter(line -> line.contains("locks were lost")))
          .singleElement()
          .asString()
          .contains("WARN", "holds=\"9\"", "down/lost-0", "down/lost-4")
          .doesNotContain("down/lost-5");
    }
  }

  @Test
  void restartOfZooKeeperKeepsHoldersWaitersAndTheirOrder() {
    // Given
    try (Rig rig = Rig.start(Rig.shortSessions(15))) {
      Asking holder = Asking.forLock(rig.connect(), "down/restart");
      final long token = holder.awaitToken();
      Asking waiter = Asking.forLock(rig.connect(), "down/restart");
      waiter.await(EventCase.QUEUED);

      // When
      rig.zookeeper().restart();
      rig.server().awaitHealth(SERVING);

      // Then
      assertThat(holder.find(EventCase.LOST)).isEmpty();
      assertThat(waiter.find(EventCase.GRANTED)).isEmpty();
      holder.release();
      assertThat(waiter.awaitToken()).isGreaterThan(token);
    }
  }
}
