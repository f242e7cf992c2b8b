package io.lockkeeper.cli.shard;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.server.core.shard.ShardTable;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Gives all shards the lead's table. */
@Command(
    name = "sync",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Gives the table of the lead's ensemble to the shards that have an older one, or have lost theirs.",
      "",
      "The exit code is 1 while a shard does not answer."
    })
public final class ShardsSyncCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    TableChanges changes = new TableChanges(new Ensembles(options));
    ShardTable table = changes.lead();
    int exitCode = changes.finish(table, table.shards().keySet(), spec.commandLine().getErr());
    if (exitCode == ExitCodes.OK) {
      spec.commandLine().getOut().println("all shards have version " + table.version());
    }
    return exitCode;
  }
}
