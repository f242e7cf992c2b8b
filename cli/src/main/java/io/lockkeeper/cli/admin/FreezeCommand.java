package io.lockkeeper.cli.admin;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.DurationConverter;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.FreezeResponse;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Stops new grants under a prefix. */
@Command(
    name = "freeze",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Grants nobody new a lock whose name begins with PREFIX, at any server, until it is unfrozen.",
      "",
      "Holders keep what they hold, waiters keep their places and are told why. Freezing a prefix again replaces the reason and"
          + " the time. Curator's clients on the same path do not know of freezes."
    })
public final class FreezeCommand implements Callable<Integer> {

  private static final Duration LEAST = Duration.ofSeconds(1);
  private static final Duration MOST = Duration.ofDays(365);

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "PREFIX",
      description = "What the names begin with; \"\" freezes all locks.")
  private String prefix;

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      required = true,
      description = "Why, for those who wait to read, up to 1 KiB.")
  private String reason;

  @Option(
      names = "--for",
      paramLabel = "DURATION",
      converter = DurationConverter.class,
      description = "Thaw by itself after this long, 1s to 365d. [default: never]")
  private Optional<Duration> duration = Optional.empty();

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    FreezeRequest.Builder request = FreezeRequest.newBuilder().setPrefix(prefix).setReason(reason);
    duration.ifPresent(time -> DurationConverter.require("--for", time, LEAST, MOST));
    duration.ifPresent(time -> request.setDuration(DurationConverter.toMessage(time)));
    FreezeResponse response = new Servers(options).admin(stub -> stub.freeze(request.build()));
    PrintWriter out = spec.commandLine().getOut();
    output.print(
        response,
        out,
        LockText.prefix(prefix)
            + " frozen"
            + duration.map(time -> " for " + Text.age(time)).orElse(" until it is unfrozen"));
    return ExitCodes.OK;
  }
}
