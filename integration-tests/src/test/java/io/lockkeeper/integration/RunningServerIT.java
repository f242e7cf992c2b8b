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
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What an operator sees of a coordinator's process: its log, its settings, its signals. */
final class RunningServerIT {

  private static final Duration PATIENCE = Duration.ofSeconds(40);
  private static final String SERVING = "health=\"SERVING\"";

  private final Path directory = Scratch.directory("running");

  private static void awaitOutput(ServerProcess server, String... parts) {
    await(String.join(", ", parts))
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(server.output()).contains(parts));
  }

  private static List<String> linesWith(ServerProcess server, String part) {
    return server.output().lines().filter(line -> line.contains(part)).toList();
  }

  @Test
  void hostNameWithoutAnAddressIsALineAndNotHundreds() {
    // Given
    String wrong = "no-such-host.invalid";
    try (ServerProcess server = ServerProcess.launch(wrong + ":2181")) {
      // When
      awaitOutput(server, "ZooKeeper is out of reach");
      server.terminate();
      // Then
      assertThat(server.awaitExit()).isZero();
      assertThat(linesWith(server, "host=\"" + wrong + "\"")).hasSize(1);
      assertThat(linesWith(server, wrong).size()).isLessThan(5);
      assertThat(server.output()).contains("mend --zookeeper").doesNotContain("\tat ");
    }
  }

  @Test
  void hangUpTakesTheLevelsSaysWhatNeedsARestartAndRefusesWhatIsWrong() throws IOException {
    // Given
    Path config = Files.writeString(directory.resolve("lockkeeper.yaml"), "log-level: info\n");
    try (ZooKeeperProcess zookeeper = Rig.startZooKeeper();
        ServerProcess server =
            ServerProcess.start(
                zookeeper.connectString(), Rig.shortSessions(6, "--config=" + config))) {
      awaitOutput(server, SERVING);
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
      server.terminate();
      assertThat(server.awaitExit()).isZero();
    }
  }

  @Test
  void filesAreReadAtOnceOnAHangUp() throws IOException {
    // Given
    String rule = "rules: [{identities: [\"token:%s\"], locks: [\"*\"], rights: [read]}]\n";
    Path policy = Files.writeString(directory.resolve("policy.yaml"), rule.formatted("a"));
    try (ServerProcess server = ServerProcess.launch("127.0.0.1:1", "--policy=" + policy)) {
      awaitOutput(server, "gRPC endpoint listens");
      // When
      Files.writeString(policy, "rulez: []\n");
      Signals.send(server.pid(), "HUP");
      // Then
      awaitOutput(server, "not all files that the settings name could be taken", "rulez");
      Files.writeString(policy, rule.formatted("b"));
      Signals.send(server.pid(), "HUP");
      awaitOutput(server, "the files that the settings name were read again, and are in force");
    }
  }

  @Test
  void stallIsLoggedWithHowLongItWas() {
    // Given
    try (ZooKeeperProcess zookeeper = Rig.startZooKeeper();
        ServerProcess server =
            ServerProcess.start(zookeeper.connectString(), Rig.shortSessions(20))) {
      server.pause();
      await().pollDelay(Duration.ofSeconds(2)).until(() -> true);
      // When
      server.resume();
      // Then
      await("a busy machine stands still for less, before or after")
          .atMost(PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(linesWith(server, "the process stood still"))
                      .anyMatch(line -> line.matches(".* millis=\"([2-9]|\\d\\d)\\d{3}\"")));
    }
  }

  @Test
  void everyLineIsAJsonObjectWhereThatIsAskedFor() {
    // Given
    try (ServerProcess server =
        ServerProcess.launch("127.0.0.1:1", "--log-format=json", "--log-level=debug")) {
      awaitOutput(server, "ZooKeeper is out of reach");
      // When
      server.terminate();
      // Then
      assertThat(server.awaitExit()).isZero();
      JsonMapper json = JsonMapper.builder().build();
      List<JsonNode> lines = server.output().lines().map(json::readTree).toList();
      assertThat(lines)
          .allMatch(line -> line.has("time") && line.has("level") && line.has("logger"));
      assertThat(lines.get(0).get("settings").get("log-format").asString()).isEqualTo("json");
    }
  }

  @Test
  void checkTellsGoodSettingsFromBadOnesAndAMisspeltVariable() {
    // Given
    String[] check = {"serve", "--check", "--insecure"};
    Map<String, String> ofKubernetes =
        Map.of(
            "LOCKKEEPER_SERVICE_HOST", "10.96.0.12",
            "LOCKKEEPER_PORT", "tcp://10.96.0.12:7420",
            "LOCKKEEPER_PORT_7420_TCP_ADDR", "10.96.0.12",
            "LOCKKEEPER_SERVICE_PORT_GRPC", "7420");
    // When
    Program good = Program.run(ofKubernetes, check);
    Program misspelt = Program.run(Map.of("LOCKKEEPER_MAX_WAITER", "5"), check);
    Program bad = Program.run(Map.of("LOCKKEEPER_DATA_DIR", "/dev/null"), check);
    // Then
    assertThat(good.exitCode()).as(good.text()).isZero();
    assertThat(good.text()).startsWith("settings are good");
    assertThat(misspelt.exitCode()).isEqualTo(2);
    assertThat(misspelt.text())
        .contains("LOCKKEEPER_MAX_WAITER; did you mean LOCKKEEPER_MAX_WAITERS?");
    assertThat(bad.exitCode()).isEqualTo(2);
    assertThat(bad.text()).contains("--data-dir: /dev/null is not a directory");
  }

  @Test
  void coordinatorsOnACopiedDataDirectorySaySoAndRestartsOnOneDoNot() throws IOException {
    // Given
    Path home = directory.resolve("home");
    Path copy = Files.createDirectory(directory.resolve("copy"));
    String[] flags = Rig.shortSessions(6, "--data-dir=" + home);
    try (ZooKeeperProcess zookeeper = Rig.startZooKeeper()) {
      try (ServerProcess killed = ServerProcess.start(zookeeper.connectString(), flags)) {
        killed.kill();
      }
      try (ServerProcess heir = ServerProcess.start(zookeeper.connectString(), flags)) {
        await().pollDelay(Duration.ofSeconds(4)).until(() -> true);
        assertThat(heir.output()).doesNotContain("copy of this one's data directory");
        Files.copy(home.resolve("home"), copy.resolve("home"));
        // When
        try (ServerProcess twin =
            ServerProcess.start(
                zookeeper.connectString(), Rig.shortSessions(6, "--data-dir=" + copy))) {
          // Then
          awaitOutput(heir, "copy of this one's data directory", twin.address());
          assertThat(linesWith(heir, "data directory: each takes").size()).isLessThan(3);
        }
      }
    }
  }
}
