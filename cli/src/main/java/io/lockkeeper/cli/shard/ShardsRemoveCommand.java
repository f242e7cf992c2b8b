package io.lockkeeper.cli.shard;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardTable;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Takes a shard that serves nothing out of the table. */
@Command(
    name = "remove",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Takes a shard out of the table that serves nothing: no namespace is named to be there, and it is not hashed. The lead stays.",
      "",
      "Its ensemble keeps its table, so that whoever asks there is still sent on."
    })
public final class ShardsRemoveCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "ID", description = "The shard.")
  private String id;

  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    TableChanges changes = new TableChanges(new Ensembles(options));
    ShardTable next = changes.change(this::without);
    int exitCode = changes.finish(next, Set.of(), spec.commandLine().getErr());
    spec.commandLine().getOut().println("shard '" + id + "' is not in the table any more");
    return exitCode;
  }

  private ShardTable without(ShardTable table) {
    Shard shard = NamespaceMove.shard(table, id);
    boolean serves =
        shard.hashed()
            || table.joining().equals(id)
            || table.moves().containsValue(id)
            || table.namespaces().values().stream().anyMatch(at -> at.shard().equals(id));
    if (serves || table.lead().equals(id)) {
      throw new CliException(
          ExitCodes.FAILED,
          "shard '"
              + id
              + (serves ? "' serves namespaces, or is about to" : "' leads")
              + ": it stays");
    }
    return new NextTable(table).without(id).build();
  }
}
