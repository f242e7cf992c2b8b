package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * A ZooKeeper that removes the directory of a lock the moment it is empty, which is just before the
 * next acquire.
 */
final class ReapedDirectoriesIT {

  private static final int LOCKS = 50;
  private static final int ROUNDS = 10;

  @Test
  void directoryRemovedUnderTheNextAcquireIsMadeAgainAndTokensStillRise() {
    // Given
    try (ZooKeeperProcess zookeeper =
            ZooKeeperProcess.in(Scratch.directory("zookeeper"))
                .configuration("tickTime", "500")
                .configuration("syncLimit", "2")
                .containersReapedEvery(Duration.ofMillis(50))
                .start();
        ServerProcess server =
            ServerProcess.start(zookeeper.connectString(), Rig.shortSessions(10))) {
      ManagedChannel channel = server.connect();
      Map<String, Long> tokens = new HashMap<>();

      // When
      for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LOCKS; i++) {
          String lock = "reaped/" + i;
          Asking asking = Asking.forLock(channel, lock);
          long token = asking.awaitToken();
          asking.release();

          // Then
          assertThat(token).as(lock).isGreaterThan(tokens.getOrDefault(lock, 0L));
          tokens.put(lock, token);
        }
      }
      assertThat(server.output()).doesNotContain("ERROR");
    }
  }
}
