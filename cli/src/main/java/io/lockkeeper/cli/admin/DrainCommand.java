package io.lockkeeper.cli.admin;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.DurationConverter;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.v1.DrainRequest;
import io.lockkeeper.v1.DrainResponse;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Makes one server hand over what it serves. */
@Command(
    name = "drain",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Makes ONE server, named by --server, hand over what it serves and take nothing new, for good.",
      "",
      "Its process stays until it is stopped, and answers health (NOT_SERVING), reads and operators. Its clients go on at the"
          + " other servers and lose no lock."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:everything is handed over",
      "1:something is left, and it goes on",
      "2:the command line is wrong",
      "69:the server does not answer"
    })
public final class DrainCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Option(
      names = "--grace",
      paramLabel = "DURATION",
      converter = DurationConverter.class,
      defaultValue = "30s",
      description = "How long it may take, 0s to 1h. [default ${DEFAULT-VALUE}]")
  private Duration grace;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    DurationConverter.require("--grace", grace, Duration.ZERO, Duration.ofHours(1));
    DrainRequest request =
        DrainRequest.newBuilder().setGrace(DurationConverter.toMessage(grace)).build();
    DrainResponse response = new Servers(options).only(grace, stub -> stub.drain(request));
    PrintWriter out = spec.commandLine().getOut();
    int left = response.getLeasesLeft();
    output.print(
        response,
        out,
        (left == 0
                ? "drained: everything is handed over"
                : left + (left == 1 ? " lease is" : " leases are") + " left; it goes on")
            + (response.getPeers() == 0
                ? "\nthere is no other server: the leases wait for the next one to start"
                : ""));
    return left == 0 ? ExitCodes.OK : ExitCodes.FAILED;
  }
}
