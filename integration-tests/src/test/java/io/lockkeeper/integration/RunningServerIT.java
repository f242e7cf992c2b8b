package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.lockkeeper.integration.harness.Program;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.server.testing.Signals;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What an operator sees of a coordinator process: its log, its settings, its signals. */
final class RunningServerIT {

  private final Path directory = Scratch.directory("running");

  private static void awaitOutput(ServerProcess server, String... parts) {
    await(String.join(", ", parts))
        .untilAsserted(() -> assertThat(server.output()).contains(parts));
  }

  @Test
  void hangUpTakesTheLevelsSaysWhatNeedsARestartAndRefusesWhatIsWrong() throws IOException {
    // Given
    Path config = Files.writeString(directory.resolve("lockkeeper.yaml"), "log-level: info\n");
    try (ServerProcess server =
        ServerProcess.start(Rig.shared().zookeeper().connectString(), "--config=" + config)) {
      // When
      Files.writeString(config, "log-level: info,io.lockkeeper=debug\nmax-leases: 7\n");
      Signals.send(server.pid(), "HUP");
      awaitOutput(server, "applied=\"[log-level=info,io.lockkeeper=debug]\"");
      awaitOutput(server, "from the next start on settings=\"[max-leases=7]\"");
      Program.run(Map.of(), "run", "--server", server.address(), "a/b", "--", "true");
      awaitOutput(server, "DEBUG NoticeLog: request granted request=\"");
      Files.writeString(config, "log-level: loud\n");
      Signals.send(server.pid(), "HUP");
      awaitOutput(server, "log-level: \"loud\" is none of error, warn");
      // Then
      assertThat(server.health()).isEqualTo(ServingStatus.SERVING);
    }
  }

  @Test
  void stallIsLoggedWithItsLength() {
    // Given
    try (ServerProcess server = ServerProcess.start(Rig.shared().zookeeper().connectString())) {
      server.pause();
      await().pollDelay(Duration.ofSeconds(1)).until(() -> true);
      // When
      server.resume();
      // Then
      await()
          .untilAsserted(
              () ->
                  assertThat(server.output())
                      .containsPattern("the process stood still.* millis=\"[1-9]\\d{3,}\""));
    }
  }

  @Test
  void coordinatorsOnACopiedDataDirectoryLogAnError() throws IOException {
    // Given
    Path home = directory.resolve("home");
    Path copy = Files.createDirectory(directory.resolve("copy"));
    try (ZooKeeperProcess zookeeper = Rig.startZooKeeper();
        ServerProcess original =
            ServerProcess.start(
                zookeeper.connectString(), Rig.shortSessions(6, "--data-dir=" + home))) {
      // What a coordinator sees within three ticks of its start may be older than itself.
      await().pollDelay(Duration.ofSeconds(2)).until(() -> true);
      Files.copy(home.resolve("home"), copy.resolve("home"));
      // When
      try (ServerProcess twin =
          ServerProcess.start(
              zookeeper.connectString(), Rig.shortSessions(6, "--data-dir=" + copy))) {
        // Then
        awaitOutput(original, "copy of this one's data directory", twin.address());
      }
    }
  }
}
