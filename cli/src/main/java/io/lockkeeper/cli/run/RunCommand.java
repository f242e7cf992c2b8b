package io.lockkeeper.cli.run;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.DurationConverter;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.client.LockkeeperClientBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
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
          + " whatever the lock protects, and have that refuse lower ones. LOCKKEEPER_TOKENS has a line for each lock: its token,"
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
      "2:the command line is wrong",
      "69:no server answers",
      "73:the lock was not acquired: not in time, its queue is full, its limit is too small, or waiting would be a deadlock",
      "75:the lock was lost, or about to be, and the command was ended",
      "126, 127:the command cannot be run, was not found"
    })
public final class RunCommand implements Callable<Integer> {

  @Spec CommandSpec spec;

  @Parameters(
      index = "0",
      paramLabel = "LOCK",
      description = "The lock's name, such as deploy/prod.")
  String lock;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "COMMAND",
      description = "The command and its arguments.")
  List<String> command;

  @Mixin HoldOptions hold;

  @Option(
      names = "--wait",
      paramLabel = "DURATION",
      converter = DurationConverter.class,
      description =
          "How long to wait for the lock; 0s: only if it is free. [default: as long as it takes]")
  Optional<Duration> wait = Optional.empty();

  @Option(
      names = "--ttl",
      paramLabel = "DURATION",
      converter = DurationConverter.class,
      description =
          "How long the lock outlives this process if it dies, 2s to 1h. [default: the server's, 15s]")
  Optional<Duration> ttl = Optional.empty();

  @Option(
      names = "--on-lost",
      paramLabel = "term|kill|ignore",
      defaultValue = "term",
      description =
          "What to do with the command when the lock is lost. term: TERM, so early before the lock's own deadline that KILL"
              + " comes no later than the deadline; kill: KILL at the deadline; ignore: let it run. [default"
              + " ${DEFAULT-VALUE}]")
  OnLost onLost;

  @Option(
      names = "--kill-after",
      paramLabel = "DURATION",
      defaultValue = "5s",
      converter = DurationConverter.class,
      description = "How long after TERM to send KILL, at most. [default ${DEFAULT-VALUE}]")
  Duration killAfter;

  @Option(
      names = "--holder",
      paramLabel = "WHO",
      description = "Who others see as the holder. [default: user@host]")
  Optional<String> holder = Optional.empty();

  @Option(
      names = "--note",
      paramLabel = "TEXT",
      description = "What others see as the reason, up to 4 KiB.")
  Optional<String> note = Optional.empty();

  @Option(names = "--quiet", description = "Say nothing while waiting.")
  boolean quiet;

  @Mixin ServerOptions options;

  final BiFunction<Child, Duration, Watchdog> watchdogs;
  private final BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect;

  RunCommand() {
    this(ServerOptions::connect, Watchdog::over);
  }

  /**
   * Makes a command.
   *
   * @param connect lets a client connect as the options say
   * @param watchdogs sets a watchdog over a command, given how long after TERM to send KILL
   */
  RunCommand(
      BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect,
      BiFunction<Child, Duration, Watchdog> watchdogs) {
    this.connect = connect;
    this.watchdogs = watchdogs;
  }

  @Override
  public Integer call() {
    options.prepare();
    return new RunSession(this, connect).run();
  }
}
