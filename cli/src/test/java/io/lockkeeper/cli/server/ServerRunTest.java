package io.lockkeeper.cli.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import java.lang.Thread.UncaughtExceptionHandler;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How a server's process ends. */
class ServerRunTest {

  private final UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();

  @AfterEach
  void restore() {
    Thread.setDefaultUncaughtExceptionHandler(before);
  }

  @Test
  void zooKeeperThatCannotBeUsedHasAnExitCodeOfItsOwnThatPreventsARestart() {
    // Given
    try (ServerRun run = new ServerRun()) {
      // When // Then
      assertThatExceptionOfType(CliException.class)
          .isThrownBy(() -> run.await(CompletableFuture.completedFuture("data is older")))
          .satisfies(e -> assertThat(e.exitCode()).isEqualTo(ExitCodes.UNFIT_ZOOKEEPER));
    }
  }
}
