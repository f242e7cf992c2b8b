package io.lockkeeper.cli.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli;
import io.lockkeeper.cli.FakeServer;
import io.lockkeeper.cli.shell.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServersTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "why a",
        "leases",
        "leases show a",
        "status",
        "cluster",
        "watch",
        "bench",
        "run a -- true",
        "hold a",
        "elect a"
      })
  void everyCommandNamesTheServerThatDoesNotAnswerAndTheReason(String command) {
    // Given
    String address = FakeServer.closedAddress();
    List<String> args = new ArrayList<>(List.of(command.split(" ")));
    int end = args.contains("--") ? args.indexOf("--") : args.size();
    args.addAll(end, List.of("--server", address));
    // When
    Cli cli = Cli.run(args.toArray(String[]::new));
    // Then
    assertThat(cli.err())
        .startsWith("lockkeeper: no Lockkeeper server answers:\n  " + address + ": ")
        .contains("Connection refused", "lockkeeper dev", "LOCKKEEPER_SERVER")
        .doesNotContain("\tat ");
    assertThat(cli.exitCode()).isEqualTo(ExitCodes.UNAVAILABLE);
  }

  @Test
  void tokenOfTheFileIsSentWithEachCall(@TempDir Path directory) throws IOException {
    // Given
    Path file = Files.writeString(directory.resolve("token"), "t0ken\n");
    try (FakeServer server = new FakeServer()) {
      // When
      Cli cli = Cli.run("ls", "--server", server.address(), "--token-file", file.toString());
      // Then
      assertThat(cli.exitCode()).isZero();
      assertThat(server.authorizations).containsExactly("Bearer t0ken");
    }
  }
}
