package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.SmallDisk;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.time.Duration;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** One ZooKeeper server of three whose disk is full. */
@Alone
final class DiskFullIT {

  private static final Duration PATIENCE = Duration.ofSeconds(40);

  @Test
  void fullDiskOfOneServerCostsNothing() throws Exception {
    // Given
    Optional<SmallDisk> mounted = SmallDisk.mount(8);
    if (mounted.isEmpty()) {
      System.out.println("SKIPPED: a small file system cannot be mounted here");
    }
    Assumptions.assumeTrue(
        mounted.isPresent(), "SKIPPED: a small file system cannot be mounted here");
    try (SmallDisk disk = mounted.get();
        Cluster cluster =
            Cluster.start(
                Plan.quick(2).onZooKeepers(3),
                Ensemble.start(
                    Ensemble.Plan.of(3, Pace.QUICK)
                        .in(
                            i ->
                                i == 0
                                    ? disk.directory()
                                    : Scratch.directory("zookeeper-" + (i + 1)))));
        Load load = Load.start(cluster.addresses(), 8, Guest.TTL, "disk-full")) {
      ZooKeeperProcess victim = cluster.zookeeper();

      // When
      disk.fill();
      Awaitility.await("the end of a server that cannot write")
          .atMost(PATIENCE)
          .until(() -> Ensemble.mode(victim).isEmpty());

      // Then
      load.awaitMarks(load.turners(), System.nanoTime(), PATIENCE);
      disk.empty();
      victim.restart();
      load.awaitMarks(load.turners(), System.nanoTime(), PATIENCE);
      assertThat(load.violations()).isEmpty();
      assertThat(load.losses()).isEmpty();
    }
  }
}
