package io.lockkeeper.cli.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli;
import io.lockkeeper.cli.shell.ExitCodes;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is wrong with a command line is said before anybody is asked. */
class ShardsUsageTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "shards move n | SHARD: say where to",
        "shards move n b --undo | --undo: does not go with a SHARD",
        "shards move a/b c | NAMESPACE: is the first part",
        "shards move n b --wait 2h | --wait: must be 0s to 1h",
        "shards init a | --addresses",
        "shards what | there is no command"
      })
  void mistakesAreNamed(String line, String said) {
    // When
    Cli result = Cli.run(line.split(" "));
    // Then
    assertThat(result.err()).contains(said);
    assertThat(result.exitCode()).isEqualTo(ExitCodes.USAGE);
  }
}
