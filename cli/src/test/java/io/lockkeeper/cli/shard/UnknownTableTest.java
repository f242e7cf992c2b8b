package io.lockkeeper.cli.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.lockkeeper.cli.Cli;
import io.lockkeeper.cli.FakeServer;
import io.lockkeeper.cli.shell.ExitCodes;
import java.util.Collections;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** While somebody changes the table, its servers do not know for a moment what it says. */
class UnknownTableTest {

  private static final Status UNKNOWN = Status.UNAVAILABLE.withDescription("it changes");

  @AutoClose private final FakeServer server = new FakeServer();

  private Cli move() {
    return Cli.run("shards", "move", "n", "b", "--server", server.address());
  }

  @Test
  void isAskedForOnceMore() {
    // Given
    server.nextEnds.addAll(Collections.nCopies(2, UNKNOWN));
    // When
    Cli result = move();
    // Then
    assertThat(result.err()).contains("there are no shards");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.FAILED);
  }

  @Test
  void isNotAskedForWithoutEnd() {
    // Given
    server.nextEnds.addAll(Collections.nCopies(10 * TableChanges.ATTEMPTS, UNKNOWN));
    // When
    Cli result = move();
    // Then
    assertThat(result.err()).contains("it changes");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.UNAVAILABLE);
    assertThat(server.requests).hasSize(TableChanges.ATTEMPTS);
  }
}
