package io.lockkeeper.cli.query;

import io.lockkeeper.cli.shell.Version;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists leases, and has subcommands for one of them. */
@Command(
    name = "leases",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Lists the leases that the servers named by --server serve, ordered by their public short names, and what to do with one.",
      "",
      "A lease is what a client's locks live by. Operators see all, others their own. LEFT is how long it lives without"
          + " another keep-alive."
    },
    subcommands = {LeasesListCommand.class, LeasesShowCommand.class})
public final class LeasesCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private LeaseListing listing;

  @Override
  public Integer call() {
    return listing.list(spec.commandLine().getOut(), spec.commandLine().getErr());
  }
}
