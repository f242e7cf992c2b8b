package io.lockkeeper.cli.query;

import io.lockkeeper.cli.shell.Version;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists leases. */
@Command(
    name = "list",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description =
        "Lists the leases that the servers named by --server serve: what leases alone does.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:those of all servers are listed",
      "1:at least one server has not answered, or refuses",
      "2:the command line is wrong",
      "69:no server has listed its leases"
    })
final class LeasesListCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private LeaseListing listing;

  @Override
  public Integer call() {
    return listing.list(spec.commandLine().getOut(), spec.commandLine().getErr());
  }
}
