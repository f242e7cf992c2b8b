package io.lockkeeper.cli.shard;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardTable;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Adds a shard, or says where its servers are now. */
@Command(
    name = "set",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Adds a shard, or changes where the servers of one are.",
      "",
      "A new shard's ensemble must be unused. It serves nothing until namespaces are moved to it (\"move\"), or it takes its"
          + " part of those that are not named (\"hash\")."
    })
public final class ShardsSetCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "ID", description = "Its name: 1 to 32 of a-z, 0-9 and '-'.")
  private String id;

  @Mixin private AddressesOption at;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    TableChanges changes = new TableChanges(new Ensembles(options));
    requireFit(changes.ensembles, changes.lead());
    ShardTable next = changes.change(this::changed);
    int exitCode = changes.finish(next, Set.of(id), spec.commandLine().getErr());
    if (exitCode == ExitCodes.OK) {
      spec.commandLine()
          .getOut()
          .println("shard '" + id + "' is at " + Text.plain(String.join(", ", at.addresses())));
    }
    return exitCode;
  }

  private ShardTable changed(ShardTable table) {
    Optional<Shard> known = Optional.ofNullable(table.shards().get(id));
    return new NextTable(table)
        .shard(
            new Shard(
                id,
                at.addresses(),
                known.map(Shard::hashed).orElse(false),
                known.map(Shard::tokenEpochs).orElse(0)))
        .build();
  }

  /** The servers there must be those of the shard, or of an ensemble that nobody uses. */
  private void requireFit(Ensembles ensembles, ShardTable table) {
    final boolean known = table.shards().containsKey(id);
    Copy there = ensembles.copy(at.addresses());
    if (there.isSplit()
        && !(there.self().equals(id) && there.table().service().equals(table.service()))) {
      throw new CliException(
          ExitCodes.FAILED,
          "--addresses: there is shard '"
              + Text.plain(there.self())
              + (there.table().service().equals(table.service()) ? "'" : "' of another service"));
    }
    if (known && !there.isSplit()) {
      throw new CliException(
          ExitCodes.FAILED,
          "--addresses: there is an ensemble that has no table, and so is not shard '" + id + "'");
    }
    if (!known && ensembles.namespaces(at.addresses(), "").getNamespacesCount() > 0) {
      throw new CliException(
          ExitCodes.FAILED,
          "--addresses: there is an ensemble that is in use: it has locks, or limits of locks");
    }
  }
}
