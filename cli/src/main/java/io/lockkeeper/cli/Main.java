package io.lockkeeper.cli;

import io.lockkeeper.cli.admin.CloseLeaseCommand;
import io.lockkeeper.cli.admin.DrainCommand;
import io.lockkeeper.cli.admin.ForceReleaseCommand;
import io.lockkeeper.cli.admin.FreezeCommand;
import io.lockkeeper.cli.admin.LimitCommand;
import io.lockkeeper.cli.admin.ReleaseRequestCommand;
import io.lockkeeper.cli.admin.UnfreezeCommand;
import io.lockkeeper.cli.query.ClusterCommand;
import io.lockkeeper.cli.query.LsCommand;
import io.lockkeeper.cli.query.ShowCommand;
import io.lockkeeper.cli.query.WatchCommand;
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
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.server.app.ConfigException;
import io.lockkeeper.server.app.StartException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
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
      LsCommand.class,
      ShowCommand.class,
      WatchCommand.class,
      ReleaseRequestCommand.class,
      ForceReleaseCommand.class,
      LimitCommand.class,
      FreezeCommand.class,
      UnfreezeCommand.class,
      CloseLeaseCommand.class,
      DrainCommand.class,
      ClusterCommand.class,
      PolicyCommand.class,
      TokenCommand.class
    },
    footer = {
      "",
      "Each command has its own --help.",
      "",
      "Exit codes, where a command does not say more: 0, done; 1, it failed or was refused; 2, the command line or a setting is"
          + " wrong; 69, no server answers."
    })
public final class Main implements Runnable {

  @Spec private CommandSpec spec;

  private Main() {}

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "say what to do");
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
    return configured(line);
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
    err.println("lockkeeper: " + error.getMessage());
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
