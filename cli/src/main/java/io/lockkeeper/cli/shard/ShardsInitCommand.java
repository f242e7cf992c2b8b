package io.lockkeeper.cli.shard;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardTable;
import java.util.UUID;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Makes a service of one ensemble the first shard of several. */
@Command(
    name = "init",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Makes this service, which is one ensemble, the first of several shards. It goes on serving all that it served.",
      "",
      "Before, all its servers must know of shards: those of an older version would go on granting what has moved away."
    })
public final class ShardsInitCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "ID", description = "What to call it: 1 to 32 of a-z, 0-9 and '-'.")
  private String id;

  @Mixin private AddressesOption at;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    Ensembles ensembles = new Ensembles(options);
    Copy here = ensembles.named();
    if (here.isSplit()) {
      throw new CliException(
          ExitCodes.FAILED, "this ensemble is shard '" + here.self() + "' already");
    }
    if (ensembles.copy(at.addresses()).isSplit()) {
      throw new CliException(
          ExitCodes.FAILED,
          "--addresses: there is a shard already, so they are not of this service");
    }
    ShardTable first =
        new NextTable(ShardTable.NONE)
            .lead(id, UUID.randomUUID().toString())
            .shard(new Shard(id, at.addresses(), true, 0))
            .build();
    ensembles.set(at.addresses(), id, 0, first);
    if (!isSeen(ensembles, first)) {
      throw new CliException(
          ExitCodes.FAILED,
          "--addresses: they are not of the ensemble that --server names; that at the addresses is shard '"
              + id
              + "' now");
    }
    spec.commandLine().getOut().println("this service is shard '" + id + "', and the only one");
    return ExitCodes.OK;
  }

  /** Another server of the ensemble may see it a moment later. */
  private static boolean isSeen(Ensembles ensembles, ShardTable first) {
    for (int looks = 0; looks < 10; looks++) {
      if (ensembles.named().table().equals(first)) {
        return true;
      }
      TableChanges.pause();
    }
    return false;
  }
}
