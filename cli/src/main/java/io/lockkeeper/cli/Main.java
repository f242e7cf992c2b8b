package io.lockkeeper.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The one program. Alone it prints its usage; all that it does is in its subcommands. */
@Command(
    name = "lockkeeper",
    mixinStandardHelpOptions = true,
    description = "A distributed lock coordinator: gRPC in front, Apache ZooKeeper behind.")
public final class Main implements Callable<Integer> {

  @Spec private CommandSpec spec;

  private Main() {}

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return CommandLine.ExitCode.USAGE;
  }

  /** Runs the command line and exits with its exit code. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Main()).execute(args));
  }
}
