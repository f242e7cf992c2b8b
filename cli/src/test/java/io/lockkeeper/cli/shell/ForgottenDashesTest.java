package io.lockkeeper.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Main;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class ForgottenDashesTest {

  private static Optional<String> hint(String line) {
    List<String> args = List.of(line.split(" "));
    CommandLine command = Main.commandLine().getSubcommands().get(args.get(0));
    return ForgottenDashes.hint(command, args);
  }

  @ParameterizedTest
  @CsvSource({
    "run a ls -l,                     run a -- ls -l",
    "run a --wait 5 ls -l,            run a --wait 5 -- ls -l",
    "run --wait=5 a ls -l,            run --wait=5 a -- ls -l",
    "run a -n ls -l,                  run a -n -- ls -l",
    "elect a ls -l,                   elect a -- ls -l",
    "run a git log -- docs,           run a -- git log -- docs",
    "run a git log --oneline -- docs, run a -- git log --oneline -- docs",
    "run a sh -c it's,                run a -- sh -c 'it'\\''s'",
  })
  void commandThatWasMeantIsSaid(String line, String meant) {
    // When // Then
    assertThat(hint(line))
        .hasValueSatisfying(
            hint ->
                assertThat(hint).contains("put \"--\" before").endsWith("  lockkeeper " + meant));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "run a -- ls -l",
        "run a --wait 5 -- git log -- docs",
        "run -- a ls -l",
        "run a ls",
        "run a --wait 5",
        "hold a b --wait 5",
        "ls -l",
      })
  void commandLineThatIsRightIsLeftAlone(String line) {
    // When // Then
    assertThat(hint(line)).isEmpty();
  }
}
