package io.lockkeeper.cli.run;

import io.lockkeeper.cli.shell.DurationConverter;
import java.time.Duration;
import picocli.CommandLine.Option;

/** What becomes of a command whose lock is lost. */
final class EndOptions {

  @Option(
      names = "--on-lost",
      paramLabel = "term|kill|ignore",
      defaultValue = "term",
      description =
          "What to do with the command when what is held is lost. term: TERM, so early before its deadline that KILL"
              + " comes no later than the deadline; kill: KILL at the deadline; ignore: let it run. [default"
              + " ${DEFAULT-VALUE}]")
  OnLost onLost = OnLost.TERM;

  @Option(
      names = "--kill-after",
      paramLabel = "DURATION",
      defaultValue = "5s",
      converter = DurationConverter.class,
      description = "How long after TERM to send KILL, at most. [default ${DEFAULT-VALUE}]")
  Duration killAfter = Duration.ofSeconds(5);

  /** Returns how long before the deadline TERM is due: no more than a third of the TTL. */
  Duration warning(Duration ttl) {
    Duration third = ttl.dividedBy(3);
    return killAfter.compareTo(third) < 0 ? killAfter : third;
  }
}
