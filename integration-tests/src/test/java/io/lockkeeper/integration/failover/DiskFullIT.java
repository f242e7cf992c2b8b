package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** One ZooKeeper server of three whose disk is full. */
@Alone
final class DiskFullIT {

  private static final Duration PATIENCE = Duration.ofSeconds(40);
  private static final byte[] CHUNK = new byte[4_096];

  @Test
  void fullDiskOfOneServerCostsNothing() throws Exception {
    // Given
    Path disk = Scratch.directory("small-disk");
    assumeMounted(disk);
    try (Ensemble ensemble =
            Ensemble.start(
                3, Pace.QUICK, i -> i == 0 ? disk : Scratch.directory("zookeeper-" + (i + 1)));
        Cluster cluster = Cluster.start(Plan.quick(2).onZooKeepers(3), ensemble);
        Load load = Load.start(cluster.addresses(), 8, Guest.TTL, "disk-full")) {
      ZooKeeperProcess victim = ensemble.servers().get(0);

      // When
      fill(disk.resolve("filling"));
      Awaitility.await("the end of a server that cannot write")
          .atMost(PATIENCE)
          .until(() -> Ensemble.mode(victim).isEmpty());

      // Then
      load.awaitMarks(load.turners(), System.nanoTime(), PATIENCE);
      Files.delete(disk.resolve("filling"));
      victim.restart();
      load.awaitMarks(load.turners(), System.nanoTime(), PATIENCE);
      assertThat(load.violations()).isEmpty();
      assertThat(load.losses()).isEmpty();
    } finally {
      run("umount", disk.toString());
    }
  }

  private static void assumeMounted(Path directory) throws Exception {
    boolean mounted =
        run("mount", "-t", "tmpfs", "-o", "size=8m", "lockkeeper-test", directory.toString()) == 0;
    if (!mounted) {
      System.out.println("SKIPPED: a small file system cannot be mounted here");
    }
    Assumptions.assumeTrue(mounted, "SKIPPED: a small file system cannot be mounted here");
  }

  private static int run(String... command) throws Exception {
    return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
  }

  private static void fill(Path file) {
    try (OutputStream out = Files.newOutputStream(file)) {
      while (true) {
        out.write(CHUNK);
      }
    } catch (IOException full) {
      assertThat(full).hasMessageContaining("No space left");
    }
  }
}
