package io.lockkeeper.cli.shard;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.server.core.shard.ShardTable;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lets a shard take its part of the namespaces that the table does not name. */
@Command(
    name = "hash",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Lets a shard take its part of the namespaces that the table does not name, by rendezvous hashing.",
      "",
      "Those in use stay where they are, and are named in the table from then on; only what is not in use goes to the shard at"
          + " once. It takes a few seconds, in which nothing is granted in namespaces that would go to the shard, and whoever waits in one asks again. Where it is"
          + " interrupted, the same command goes on, and --undo takes it back."
    })
public final class ShardsHashCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "ID", description = "The shard.")
  private String id;

  @Option(names = "--undo", description = "Take back what was begun.")
  private boolean undo;

  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    PrintWriter err = spec.commandLine().getErr();
    TableChanges changes = new TableChanges(new Ensembles(options));
    Joining joining = new Joining(changes, id);
    ShardTable table = undo ? joining.undo() : joining.run();
    int exitCode = changes.finish(table, table.shards().keySet(), err);
    if (exitCode == ExitCodes.OK) {
      spec.commandLine()
          .getOut()
          .println(
              "shard '"
                  + id
                  + (undo
                      ? "' serves only what the table names"
                      : "' takes its part of what the table does not name"));
    }
    return exitCode;
  }
}
