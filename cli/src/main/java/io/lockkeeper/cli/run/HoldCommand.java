package io.lockkeeper.cli.run;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.client.LockkeeperClientBuilder;
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

/** Holds locks without a command. */
@Command(
    name = "hold",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Waits for locks and holds them, all or none, until Ctrl-C or TERM. It also ends when its standard input does, if that is"
          + " a pipe or a file, and when nobody reads its output any more.",
      "",
      "Prints the fencing token of each lock, and then what happens: that somebody asks for it, that contact is lost, that it"
          + " is lost. Whoever only wants to run something uses run, which also ends it when the lock is lost."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the locks were held, and are released",
      "1:a server refuses: a right is missing, or a limit is reached",
      "2:the command line is wrong",
      "69:no server answers",
      "73:the locks were not acquired; see --conflict-exit-code",
      "75:the locks were lost",
      "129, 130, 143:HUP, INT or TERM came while it waited"
    })
public final class HoldCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "1..64",
      paramLabel = "LOCK",
      description = "The locks' names; all are granted together.")
  private List<String> locks;

  @Option(
      names = "--json",
      description = "One JSON object for each thing that happens, one to a line.")
  private boolean json;

  @Mixin private HoldOptions hold;
  @Mixin private WaitOptions wait;
  @Mixin private ServerOptions options;

  private final BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect;
  private final Supplier<Optional<InputStream>> in;

  HoldCommand() {
    this(ServerOptions::connect, HoldUntilEnd::standardInput);
  }

  /**
   * Makes a command.
   *
   * @param connect lets a client connect as the options say
   * @param in gives what it holds until the end of
   */
  HoldCommand(
      BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect,
      Supplier<Optional<InputStream>> in) {
    this.connect = connect;
    this.in = in;
  }

  @Override
  public Integer call() {
    options.prepare();
    wait.check();
    PrintWriter err = spec.commandLine().getErr();
    Holding holding =
        new HoldUntilEnd(Waiting.Words.LOCK, in.get(), spec.commandLine().getOut(), json);
    LockSession session = new LockSession(wait, options, connect, Waiting.Words.LOCK, err, holding);
    return session.run(() -> hold.request(locks), wait.likelyTtl().dividedBy(3));
  }
}
