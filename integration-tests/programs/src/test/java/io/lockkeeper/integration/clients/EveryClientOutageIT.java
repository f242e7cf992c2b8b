package io.lockkeeper.integration.clients;

import static io.lockkeeper.integration.failover.Pace.letPass;

import io.lockkeeper.integration.failover.Cluster;
import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.failover.Pace;
import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The clients of every language, with ZooKeeper away and everything as it is in production. */
@Alone
final class EveryClientOutageIT {

  private static final Duration TTL = Duration.ofSeconds(15);
  private static final Duration OUTAGE = Duration.ofSeconds(18);

  @RegisterExtension
  private static final Cluster cluster =
      Cluster.start(new Plan(Pace.PRODUCTION, 1, 2, true, false));

  @Test
  void zooKeeperThatIsAwayFor18SecondsCostsNoLockAndNoPlace() {
    try (ClientCrew crew = ClientCrew.holding(cluster, "every/outage", TTL)) {
      ZooKeeperProcess zookeeper = cluster.ensemble().leader();

      // When
      zookeeper.kill();
      letPass(OUTAGE);
      zookeeper.start();

      // Then
      crew.mustHaveKeptEverything();
    }
  }
}
