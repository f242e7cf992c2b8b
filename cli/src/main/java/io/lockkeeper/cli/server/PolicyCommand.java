package io.lockkeeper.cli.server;

import io.lockkeeper.cli.shell.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What is done with a policy's file; all of it is in the subcommands. */
@Command(
    name = "policy",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    description = "Checks a policy, without a server.",
    subcommands = PolicyCheckCommand.class)
public final class PolicyCommand implements Runnable {

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "say what to do: check");
  }
}
