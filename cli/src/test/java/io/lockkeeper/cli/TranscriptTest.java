package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.lockkeeper.cli.call.Me;
import io.lockkeeper.cli.text.Json;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares the commands with {@code transcripts.txt}, which begins with a description of itself.
 */
class TranscriptTest {

  private static final String SERVER = "localhost:11111";
  private static final String CLOSED = "localhost:99999";

  private final String closed = FakeServer.closedAddress();
  @AutoClose private final FakeServer server = new FakeServer();
  @TempDir private Path directory;
  private boolean asksServer = true;

  static Stream<Named<List<String>>> transcripts() throws IOException {
    try (InputStream file = TranscriptTest.class.getResourceAsStream("/transcripts.txt")) {
      String text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
      return Arrays.stream(text.split("(?m)^## ", -1))
          .skip(1)
          .map(one -> List.of(one.split("(?m)^(?=[@$])", -1)))
          .map(parts -> Named.of(parts.get(0).strip(), parts.subList(1, parts.size())));
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("transcripts")
  void commandsSendAndPrintWhatTheTranscriptShows(List<String> parts) throws IOException {
    for (String part : parts) {
      if (part.startsWith("@")) {
        give(part.substring(1).strip());
      } else {
        assertThat(run(part.substring(0, part.indexOf('\n')))).isEqualTo(part.stripTrailing());
      }
    }
  }

  private void give(String state) throws IOException {
    String[] words = state.split("\\s", 2);
    switch (words[0]) {
      case "lock" -> server.lock(words[1]);
      case "health" -> server.health.setStatus("", ServingStatus.valueOf(words[1]));
      case "reject" -> {
        String[] status = words[1].split(" ", 2);
        server.rejection =
            Optional.of(Status.Code.valueOf(status[0]).toStatus().withDescription(status[1]));
      }
      case "file" -> {
        String[] file = words[1].split("\n", 2);
        Files.writeString(directory.resolve(file[0]), file[1]);
        asksServer = false;
      }
      default -> server.answer(words[0], words[1]);
    }
  }

  /** Returns the command line with all that the command has sent and printed. */
  private String run(String line) {
    server.requests.clear();
    boolean named = line.contains("--server") || !asksServer;
    Cli cli =
        Cli.run(
            Arrays.stream((named ? line : line + " --server " + SERVER).split(" "))
                .skip(1)
                .map(word -> word.equals("''") ? "" : word)
                .map(word -> word.replace(SERVER, server.address()).replace(CLOSED, closed))
                .map(word -> word.replace("DIR", directory.toString()))
                .toArray(String[]::new));
    StringBuilder shown = new StringBuilder(line).append('\n');
    server.requests.forEach(
        request ->
            shown.append(
                "> " + request.getDescriptorForType().getName() + " " + Json.line(request) + "\n"));
    shown.append(cli.out());
    cli.err().lines().forEach(error -> shown.append("! " + error + "\n"));
    shown.append(cli.exitCode() == 0 ? "" : "= " + cli.exitCode());
    return shown
        .toString()
        .stripTrailing()
        .replace(server.address(), SERVER)
        .replace(closed, CLOSED)
        .replace(directory.toString(), "DIR")
        .replace(Me.atHost(), "ME")
        .replaceAll("(?m)^[-0-9]{10} [:.0-9]{12}  ", "TIME  ");
  }
}
