package io.lockkeeper.cli.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.lockkeeper.cli.Cli;
import io.lockkeeper.cli.FakeServer;
import io.lockkeeper.cli.Main;
import io.lockkeeper.v1.WatchRequest;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class WatchCommandTest {

  @AutoClose private final FakeServer server = new FakeServer();

  private static String change(int revision) {
    return "{\"revision\":\"" + revision + "\",\"change\":{\"name\":\"a\",\"coalesced\":1}}";
  }

  @Test
  void watchResumesAtTheNextServerAfterTheLastEvent() {
    // Given
    server.answer("Watch", change(5));
    server.answer("Watch", "{\"heartbeat\":{}}");
    server.nextEnds.add(Status.UNAVAILABLE);
    try (FakeServer second = new FakeServer()) {
      second.answer("Watch", change(6));
      // When
      Cli cli = Cli.run("watch", "--json", "--server", server.address() + "," + second.address());
      // Then
      assertThat(cli.out().lines()).containsExactly(change(5), change(6));
      assertThat(cli.err()).isEmpty();
      assertThat(second.requests)
          .containsExactly(WatchRequest.newBuilder().setStartRevision(5).build());
    }
  }

  @Test
  void lossAndReturnOfTheOnlyServerAreReported() {
    // Given
    server.answer("Watch", change(5));
    server.nextEnds.add(Status.UNAVAILABLE);
    // When
    Cli cli = Cli.run("watch", "--json", "--server", server.address());
    // Then
    assertThat(cli.err().lines())
        .containsExactly(
            "lockkeeper: the server is gone; trying again",
            "lockkeeper: the server is back; what was missed follows");
    assertThat(cli.out()).hasLineCount(2);
    assertThat(cli.exitCode()).isZero();
  }

  @Test
  void watchEndsWhenNobodyReadsItsOutput() {
    // Given
    List.of(5, 6, 7).forEach(revision -> server.answer("Watch", change(revision)));
    List<String> written = new ArrayList<>();
    Writer brokenPipe =
        new Writer() {
          @Override
          public void write(char[] text, int from, int length) {
            written.add(new String(text, from, length).strip());
          }

          @Override
          public void flush() throws IOException {
            throw new IOException("Broken pipe");
          }

          @Override
          public void close() {}
        };
    // When
    int exitCode =
        Main.commandLine()
            .setOut(new PrintWriter(brokenPipe))
            .execute("watch", "--json", "--server", server.address());
    // Then
    assertThat(exitCode).isZero();
    assertThat(written).filteredOn(text -> !text.isEmpty()).containsExactly(change(5));
  }
}
