package io.lockkeeper.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.shell.ExitCodes;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CommandUnderLockTest {

  @TempDir private Path directory;
  private final StringWriter err = new StringWriter();
  private final FakeHandle handle = new FakeHandle();
  private final EndOptions options = new EndOptions();

  @Test
  void commandIsNotStartedOnceASignalHasCome() {
    // Given
    CommandUnderLock holding = holding();
    // When
    holding.onSignal("INT");
    // Then
    assertThat(holding.whileHeld(handle)).isEqualTo(130);
    assertThat(directory.resolve("started")).doesNotExist();
  }

  @ParameterizedTest
  @EnumSource
  void commandIsNotStartedOnceTheLockIsLost(OnLost onLost) {
    // Given
    options.onLost = onLost;
    CommandUnderLock holding = holding();
    // When
    handle.valid = false;
    // Then
    assertThat(holding.whileHeld(handle)).isEqualTo(ExitCodes.LOST);
    assertThat(err.toString()).contains("the lock is lost; the command is not started");
    assertThat(directory.resolve("started")).doesNotExist();
  }

  private CommandUnderLock holding() {
    List<String> command = List.of("touch", directory.resolve("started").toString());
    return new CommandUnderLock(command, options, Watchdog::start, new PrintWriter(err, true));
  }
}
