package io.lockkeeper.cli;

import io.lockkeeper.cli.admin.CloseLeaseCommand;
import io.lockkeeper.cli.admin.DrainCommand;
import io.lockkeeper.cli.admin.ForceReleaseCommand;
import io.lockkeeper.cli.admin.FreezeCommand;
import io.lockkeeper.cli.admin.LimitCommand;
import io.lockkeeper.cli.admin.ReleaseRequestCommand;
import io.lockkeeper.cli.admin.UnfreezeCommand;
import io.lockkeeper.cli.query.ClusterCommand;
import io.lockkeeper.cli.query.LeasesCommand;
import io.lockkeeper.cli.query.LsCommand;
import io.lockkeeper.cli.query.ShowCommand;
import io.lockkeeper.cli.query.StatusCommand;
import io.lockkeeper.cli.query.TokenCheckCommand;
import io.lockkeeper.cli.query.TopCommand;
import io.lockkeeper.cli.query.TreeCommand;
import io.lockkeeper.cli.query.WatchCommand;
import io.lockkeeper.cli.query.WhoAmICommand;
import io.lockkeeper.cli.query.WhyCommand;
import io.lockkeeper.cli.run.BenchCommand;
import io.lockkeeper.cli.run.ElectCommand;
import io.lockkeeper.cli.run.HoldCommand;
import io.lockkeeper.cli.run.RunCommand;
import io.lockkeeper.cli.server.DevCommand;
import io.lockkeeper.cli.server.DoctorCommand;
import io.lockkeeper.cli.server.PolicyCommand;
import io.lockkeeper.cli.server.ServeCommand;
import io.lockkeeper.cli.server.ServerCommand;
import io.lockkeeper.cli.server.TokenCommand;
import io.lockkeeper.cli.server.ZkCommand;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.ForgottenDashes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.CompletionCommand;
import io.lockkeeper.server.app.ConfigException;
import io.lockkeeper.server.app.StartException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The one program. Alone it prints its usage; all that it does is in its subcommands. */
@Command(
    name = "lockkeeper",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    description = "A distributed lock coordinator: gRPC in front, Apache ZooKeeper behind.",
    subcommands = {
      RunCommand.class,
      HoldCommand.class,
      ElectCommand.class,
      LsCommand.class,
      TreeCommand.class,
      ShowCommand.class,
      WhyCommand.class,
      TopCommand.class,
      WatchCommand.class,
      LeasesCommand.class,
      WhoAmICommand.class,
      StatusCommand.class,
      ClusterCommand.class,
      ReleaseRequestCommand.class,
      ForceReleaseCommand.class,
      LimitCommand.class,
      FreezeCommand.class,
      UnfreezeCommand.class,
      DrainCommand.class,
      PolicyCommand.class,
      TokenCommand.class,
      BenchCommand.class,
      CompletionCommand.class,
      HelpCommand.class
    },
    footer = {
      "",
      "Each command has its own --help; without a command, this is printed, and the exit code is 2.",
      "",
      "Exit codes, where a command does not say more: 0, done; 1, it failed or was refused; 2, the command line or a setting is"
          + " wrong; 69, no server answers."
    })
public final class Main implements Callable<Integer> {

  @Spec private CommandSpec spec;

  private Main() {}

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return ExitCodes.USAGE;
  }

  /** Runs the command line and exits with its exit code. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  /** Returns the whole command line, ready to execute. */
  public static CommandLine commandLine() {
    CommandLine line = new CommandLine(new Main());
    line.addSubcommand("serve", ServerCommand.commandLine(new ServeCommand()));
    line.addSubcommand("dev", ServerCommand.commandLine(new DevCommand()));
    line.addSubcommand("doctor", ServerCommand.commandLine(new DoctorCommand()));
    line.addSubcommand("zk", ServerCommand.commandLine(new ZkCommand()));
    subcommand(line, "token").addSubcommand(new TokenCheckCommand());
    subcommand(line, "leases").addSubcommand("close", closeLease("close"));
    CommandLine old = closeLease("close-lease");
    old.getCommandSpec().usageMessage().hidden(true); // what "leases close" was called
    line.addSubcommand("close-lease", old);
    return configured(line);
  }

  private static CommandLine subcommand(CommandLine line, String name) {
    CommandLine found = line.getSubcommands().get(name);
    if (found == null) {
      throw new IllegalStateException("no command " + name);
    }
    return found;
  }

  private static CommandLine closeLease(String name) {
    return new CommandLine(CommandSpec.forAnnotatedObject(new CloseLeaseCommand()).name(name));
  }

  /** Sets how a command line and its subcommands are read, and how their errors are said. */
  public static CommandLine configured(CommandLine line) {
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setUsageHelpAutoWidth(true);
    line.setUsageHelpLongOptionsMaxWidth(32);
    line.setParameterExceptionHandler(Main::onBadUsage);
    line.setExecutionExceptionHandler(Main::onFailure);
    return line;
  }

  private static int onBadUsage(ParameterException error, String[] args) {
    CommandLine command = error.getCommandLine();
    PrintWriter err = command.getErr();
    Optional<String> hint = ForgottenDashes.hint(command, List.of(args));
    err.println("lockkeeper: " + hint.orElseGet(error::getMessage));
    UnmatchedArgumentException.printSuggestions(error, err);
    err.println("See: " + command.getCommandSpec().qualifiedName() + " --help");
    return ExitCodes.USAGE;
  }

  private static int onFailure(Exception error, CommandLine command, ParseResult parsed)
      throws Exception {
    int exitCode;
    if (error instanceof ConfigException) {
      exitCode = ExitCodes.USAGE;
    } else if (error instanceof StartException) {
      exitCode = ExitCodes.FAILED;
    } else if (error instanceof CliException failure) {
      exitCode = failure.exitCode();
    } else {
      throw error; // a bug: the stack trace is what helps
    }
    command.getErr().println("lockkeeper: " + error.getMessage());
    return exitCode;
  }
}
