package io.lockkeeper.cli.admin;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.DurationConverter;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.ForceReleaseResponse;
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

/** Takes a lock away from its holders, and ends the lock delays that keep it closed. */
@Command(
    name = "force-release",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Takes a lock away from its holders, who are told that it is lost, and ends its lock delays.",
      "",
      "A holder that had a lock delay starts it now: run the command again to end that too.",
      "",
      "A holder that hears nothing, or does not listen, may go on using what the lock protects: the fencing token is what"
          + " protects then."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it is done, or with --grace, the holders were asked",
      "1:the lock has no holder and no lock delay, or no holder with that token",
      "2:the command line is wrong",
      "69:no server answers, or it is not certain yet: try again"
    })
public final class ForceReleaseCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "LOCK", description = "The lock's name.")
  private String lock;

  @Option(
      names = "--token",
      paramLabel = "TOKEN",
      defaultValue = "0",
      description =
          "Only from the holder with this fencing token; 0: from all. [default ${DEFAULT-VALUE}]")
  private long token;

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      defaultValue = "",
      description = "Why, for the holders to read, up to 1 KiB. [default: none]")
  private String reason;

  @Option(
      names = "--grace",
      paramLabel = "DURATION",
      converter = DurationConverter.class,
      description =
          "Ask the holders first, and take away what they still hold after this long, 0s to 1h. [default: no time]")
  private Optional<Duration> grace = Optional.empty();

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    ForceReleaseRequest.Builder request =
        ForceReleaseRequest.newBuilder().setName(lock).setFencingToken(token).setReason(reason);
    grace.ifPresent(
        time -> DurationConverter.require("--grace", time, Duration.ZERO, Duration.ofHours(1)));
    grace.ifPresent(time -> request.setGrace(DurationConverter.toMessage(time)));
    ForceReleaseResponse response =
        new Servers(options).admin(stub -> stub.forceRelease(request.build()));
    PrintWriter out = spec.commandLine().getOut();
    output.print(response, out, inWords(response));
    return ExitCodes.OK;
  }

  private String inWords(ForceReleaseResponse response) {
    int delays = response.getDelaysEnded();
    String ended =
        delays
            + (delays == 1 ? " lock delay of " : " lock delays of ")
            + Text.plain(lock)
            + " ended";
    if (delays > 0 && response.getReleased() == 0 && response.getAsked() == 0) {
      return ended;
    }
    String holders =
        response.getAsked() == 0
            ? holders(response.getReleased()) + " lost " + Text.plain(lock)
            : holders(response.getAsked())
                + " asked; "
                + Text.plain(lock)
                + " is taken away in "
                + Text.age(grace.orElse(Duration.ZERO))
                + " from who still holds it then";
    return delays == 0 ? holders : holders + "; " + ended;
  }

  private static String holders(int count) {
    return count + (count == 1 ? " holder" : " holders");
  }
}
