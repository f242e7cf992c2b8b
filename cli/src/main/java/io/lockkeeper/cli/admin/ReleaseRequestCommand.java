package io.lockkeeper.cli.admin;

import io.lockkeeper.cli.call.Me;
import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.DurationConverter;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.RequestReleaseResponse;
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

/** Asks the holders of a lock to give way. */
@Command(
    name = "release-request",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Asks the holders of a lock to give way, and prints who was asked.",
      "",
      "They are told who asks, why and by when, and may answer for how much longer they need the lock: see NEEDS in show. Nothing"
          + " is taken away; that is force-release."
    })
public final class ReleaseRequestCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "LOCK", description = "The lock's name.")
  private String lock;

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      defaultValue = "",
      description = "Why, for the holders to read, up to 1 KiB. [default: none]")
  private String reason;

  @Option(
      names = "--deadline",
      paramLabel = "DURATION",
      converter = DurationConverter.class,
      description =
          "After how long you may take the lock away by force, 0s to 7d: told to the holders, not acted upon. [default: never]")
  private Optional<Duration> deadline = Optional.empty();

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    RequestReleaseRequest.Builder request =
        RequestReleaseRequest.newBuilder()
            .setName(lock)
            .setReason(reason)
            .setRequester(Me.atHost());
    deadline.ifPresent(
        left -> DurationConverter.require("--deadline", left, Duration.ZERO, Duration.ofDays(7)));
    deadline.ifPresent(left -> request.setDeadline(DurationConverter.toMessage(left)));
    RequestReleaseResponse response =
        new Servers(options).call(stub -> stub.requestRelease(request.build()));
    PrintWriter out = spec.commandLine().getOut();
    output.print(response, out, this::print);
    return ExitCodes.OK;
  }

  private void print(RequestReleaseResponse response, PrintWriter out) {
    if (response.getHoldersCount() == 0) {
      out.println("nobody holds " + Text.plain(lock));
    }
    for (Contender holder : response.getHoldersList()) {
      out.println("asked " + LockText.holder(holder));
    }
  }
}
