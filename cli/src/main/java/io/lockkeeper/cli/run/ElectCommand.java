package io.lockkeeper.cli.run;

import io.lockkeeper.cli.call.Me;
import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.ForgottenDashes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.client.internal.runtime.LeaderWatch;
import java.io.InputStream;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Campaigns for leadership. */
@Command(
    name = "elect",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    customSynopsis = "lockkeeper elect NAME [OPTIONS] [-- COMMAND...]",
    description = {
      "Waits to be elected the leader, and leads while a command runs; without one, as long as hold holds.",
      "",
      "Who leads meanwhile is said on standard error. Candidates lead in the order in which they came; those of the client"
          + " libraries and these are one election. The command finds the name in LOCKKEEPER_LOCK and the fencing token in"
          + " LOCKKEEPER_TOKEN."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "the command's:its own, 128 + n if signal n ended it; 0 without a command",
      "1:a server refuses: a right is missing, or a limit is reached",
      "2:the command line is wrong",
      "69:no server answers",
      "73:it was not elected; see --conflict-exit-code",
      "75:the leadership was lost, or about to be, and the command was ended",
      "126, 127:the command cannot be run, was not found",
      "129, 130, 143:HUP, INT or TERM came while it waited"
    })
public final class ElectCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(
      index = "0",
      paramLabel = "NAME",
      description = "The election's name, such as reports/leader: that of a lock.")
  private String name;

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "COMMAND",
      description = "The command and its arguments.")
  private List<String> command = List.of();

  @Option(
      names = "--value",
      paramLabel = "TEXT",
      description =
          "What others shall know of the leader, such as its address, up to 4000 bytes. [default: user@host]")
  private Optional<String> value = Optional.empty();

  @Option(
      names = "--json",
      description =
          "Without a command: one JSON object for each thing that happens, one to a line.")
  private boolean json;

  @Mixin private WaitOptions wait;
  @Mixin private EndOptions end;
  @Mixin private ServerOptions options;

  private final BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect;
  private final Supplier<Optional<InputStream>> in;

  ElectCommand() {
    this(ServerOptions::connect, HoldUntilEnd::standardInput);
  }

  /**
   * Makes a command.
   *
   * @param connect lets a client connect as the options say
   * @param in gives what it leads until the end of, without a command
   */
  ElectCommand(
      BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect,
      Supplier<Optional<InputStream>> in) {
    this.connect = connect;
    this.in = in;
  }

  @Override
  public Integer call() {
    ForgottenDashes.check(spec.commandLine());
    options.prepare();
    wait.check();
    PrintWriter err = spec.commandLine().getErr();
    Waiting.Words words = Waiting.Words.LEADER;
    Holding holding =
        command.isEmpty()
            ? new HoldUntilEnd(words, in.get(), spec.commandLine().getOut(), json)
            : new CommandUnderLock(command, end, Watchdog::start, err);
    LockSession session = new LockSession(wait, options, connect, words, err, holding);
    return session.run(this::candidacy, end.warning(wait.likelyTtl()));
  }

  /** Returns what LeaderElection asks for; it has no ear for places in the queue. */
  private LockRequest candidacy() {
    return LockRequest.of(name)
        .metadata(LeaderWatch.VALUE, value.orElseGet(Me::atHost))
        .skipDeadlockCheck();
  }
}
