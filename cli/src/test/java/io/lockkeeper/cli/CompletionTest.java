package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CompletionTest {

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"bash", "zsh", "fish"})
  void everyCommandIsCompleted(String shell) {
    // When
    Cli result = Cli.run("completion", shell);
    // Then
    assertThat(result.exitCode()).isZero();
    assertThat(result.out())
        .contains("run", "elect", "why", "completion", "doctor", "conflict-exit-code");
  }

  @Test
  void scriptForBashIsOneThatBashReads() throws IOException {
    // Given
    Path script =
        Files.writeString(directory.resolve("script"), Cli.run("completion", "bash").out());
    // When
    Process bash = new ProcessBuilder("bash", "-n", script.toString()).inheritIO().start();
    // Then
    assertThat(bash.onExit().join().exitValue()).isZero();
  }

  @Test
  void scriptForFishNamesCommandsOptionsAndTheirValues() {
    assertThat(Cli.run("completion", "fish").out().lines())
        .contains(
            "complete -c lockkeeper -f",
            "complete -c lockkeeper -n '__fish_seen_subcommand_from run' -l on-lost -x -a"
                + " 'term kill ignore' -d 'What to do with the command when what is held is lost'")
        .anyMatch(line -> line.contains(" -l ca -r -F "))
        .anyMatch(
            line -> line.contains("__fish_seen_subcommand_from leases") && line.contains("-a show"))
        .noneMatch(line -> line.contains("-a close-lease"));
  }

  @Test
  void programAloneAndHelpPrintTheHelp() {
    // When
    Cli alone = Cli.run();
    Cli help = Cli.run("help");
    Cli run = Cli.run("help", "run");
    // Then
    assertThat(alone.err()).contains("Usage: lockkeeper", "Hold locks:", "exit code is 2");
    assertThat(alone.out()).isEmpty();
    assertThat(alone.exitCode()).isEqualTo(2);
    assertThat(help.out()).isEqualTo(alone.err());
    assertThat(help.exitCode()).isZero();
    assertThat(run.out()).contains("lockkeeper run LOCK");
  }

  @Test
  void oldNameOfLeasesCloseStillWorksAndIsNotShown() {
    // When
    Cli old = Cli.run("close-lease", "--help");
    Cli now = Cli.run("leases", "close", "--help");
    // Then
    assertThat(old.exitCode()).isZero();
    assertThat(now.out()).contains("lockkeeper leases close");
    assertThat(Cli.run("--help").out()).doesNotContain("close-lease");
  }
}
