package io.lockkeeper.cli.shard;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardTable;
import io.lockkeeper.server.core.shard.ShardTable.Placed;
import io.lockkeeper.v1.ListNamespacesResponse;
import io.lockkeeper.v1.NamespaceEntries;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes a shard a hashed one. While the table says that it joins, nobody new is granted anything in
 * the namespaces that will be its, so that it is known which are in use: those are named where they
 * are. The tokens of what it serves then are above those of all others so far.
 */
final class Joining {

  private final TableChanges changes;
  private final String id;

  Joining(TableChanges changes, String id) {
    this.changes = changes;
    this.id = id;
  }

  /** Begins, or goes on; returns the table in the end. */
  ShardTable run() {
    ShardTable found = changes.lead();
    // What would stop it is better known before.
    found.shards().values().stream()
        .filter(Shard::hashed)
        .forEach(shard -> changes.bring(shard, found));
    ShardTable table = found.joining().equals(id) ? found : changes.change(this::beginning);
    try {
      return carryOut(table);
    } catch (CliException e) {
      throw new CliException(
          e.exitCode(),
          e.getMessage()
              + "\nWhat the shard would take is served by nobody until this is run again, or with --undo",
          e);
    }
  }

  private ShardTable beginning(ShardTable now) {
    if (NamespaceMove.shard(now, id).hashed()) {
      throw new CliException(ExitCodes.FAILED, "shard '" + id + "' does so already");
    }
    if (!now.joining().isEmpty() || !now.moves().isEmpty()) {
      throw new CliException(
          ExitCodes.FAILED,
          (now.moves().isEmpty()
                  ? "shard '" + now.joining() + "' is about to"
                  : "namespace '" + Text.plain(now.moves().firstKey()) + "' moves")
              + ": finish that first");
    }
    return new NextTable(now).joining(id).build();
  }

  private ShardTable carryOut(ShardTable table) {
    Shard joining = table.shard(id);
    Copy open = changes.bring(joining, table);
    List<String> strays = inUse(table, joining);
    if (!strays.isEmpty()) {
      throw new CliException(
          ExitCodes.FAILED,
          "shard '"
              + id
              + "' has entries of namespace '"
              + Text.plain(strays.get(0))
              + "', which it does not serve yet");
    }
    Map<String, Placed> named = new TreeMap<>();
    int epochs = joining.tokenEpochs();
    for (Shard shard : table.shards().values()) {
      if (shard.hashed()) {
        Copy closed = changes.bring(shard, table);
        epochs = Math.max(epochs, NamespaceMove.epochsAbove(closed, shard.tokenEpochs(), open));
        for (String namespace : inUse(table, shard)) {
          if (table.place(namespace).filter(at -> at.shard().equals(shard.id())).isPresent()) {
            named.put(namespace, new Placed(shard.id(), shard.tokenEpochs()));
          }
        }
      }
    }
    Shard hashed = new Shard(id, joining.addresses(), true, epochs);
    return changes.change(
        now -> {
          requireJoining(now);
          NextTable next = new NextTable(now).joining("").shard(hashed);
          named.forEach(next::settled);
          return next.build();
        });
  }

  private void requireJoining(ShardTable now) {
    if (!now.joining().equals(id)) {
      throw new CliException(ExitCodes.FAILED, "shard '" + id + "' is not about to be hashed");
    }
  }

  /** Returns the namespaces in use at a shard that would go to the one that joins. */
  private List<String> inUse(ShardTable table, Shard shard) {
    ListNamespacesResponse listed = changes.ensembles.namespaces(shard.addresses(), "");
    if (listed.getTruncated()) {
      throw new CliException(
          ExitCodes.FAILED,
          "shard '" + shard.id() + "' has more namespaces in use than can be listed");
    }
    return listed.getNamespacesList().stream()
        .map(NamespaceEntries::getNamespace)
        .filter(namespace -> table.destination(namespace).isPresent())
        .toList();
  }

  /** Takes back what was begun; returns the table in the end. */
  ShardTable undo() {
    return changes.change(
        now -> {
          requireJoining(now);
          return new NextTable(now).joining("").build();
        });
  }
}
