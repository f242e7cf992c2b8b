package io.lockkeeper.cli.run;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.ForgottenDashes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.client.LockkeeperClientBuilder;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs a command while holding a lock. */
@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    customSynopsis = "lockkeeper run LOCK [OPTIONS] -- COMMAND...",
    description = {
      "Waits for a lock, runs a command while holding it, and releases it.",
      "",
      "The command finds the lock's name in LOCKKEEPER_LOCK and the fencing token in LOCKKEEPER_TOKEN: pass the token on to"
          + " whatever the lock protects, and have that refuse lower ones. LOCKKEEPER_LOCK_TOKENS has a line for each lock: its token,"
          + " a space, its name.",
      "",
      "When somebody asks for the lock (release-request), who, why and by when is said on standard error.",
      "",
      "While this process is stopped by itself (SIGSTOP, a frozen container), it cannot end the command when the lock is"
          + " lost: the token is what protects then."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "the command's:its own, 128 + n if signal n ended it",
      "1:a server refuses: a right is missing, or a limit is reached",
      "2:the command line is wrong",
      "69:no server answers",
      "73:the lock was not acquired: not in time, its queue is full, its limit is too small, or waiting would be a deadlock;"
          + " see --conflict-exit-code",
      "75:the lock was lost, or about to be, and the command was ended",
      "126, 127:the command cannot be run, was not found",
      "129, 130, 143:HUP, INT or TERM came while it waited"
    })
public final class RunCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(
      index = "0",
      paramLabel = "LOCK",
      description = "The lock's name, such as deploy/prod.")
  private String lock;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "COMMAND",
      description = "The command and its arguments.")
  private List<String> command;

  @Mixin private HoldOptions hold;
  @Mixin private WaitOptions wait;
  @Mixin private EndOptions end;
  @Mixin private ServerOptions options;

  private final Supplier<Watchdog> watchdogs;
  private final BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect;

  RunCommand() {
    this(ServerOptions::connect, Watchdog::start);
  }

  /**
   * Makes a command.
   *
   * @param connect lets a client connect as the options say
   * @param watchdogs starts a watchdog for a command
   */
  RunCommand(
      BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect,
      Supplier<Watchdog> watchdogs) {
    this.connect = connect;
    this.watchdogs = watchdogs;
  }

  @Override
  public Integer call() {
    ForgottenDashes.check(spec.commandLine());
    options.prepare();
    wait.check();
    PrintWriter err = spec.commandLine().getErr();
    Holding holding = new CommandUnderLock(command, end, watchdogs, err);
    LockSession session = new LockSession(wait, options, connect, Waiting.Words.LOCK, err, holding);
    return session.run(() -> hold.request(List.of(lock)), end.warning(wait.likelyTtl()));
  }
}
