package io.lockkeeper.cli.shard;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardTable;
import io.lockkeeper.server.core.shard.ShardTable.Placed;
import io.lockkeeper.server.rpc.wire.ShardMessages;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Makes the version of a table that follows it. */
final class NextTable {

  private final long version;
  private final NavigableMap<String, Shard> shards;
  private final NavigableMap<String, Placed> namespaces;
  private final NavigableMap<String, String> moves;
  private String lead;
  private String joining;
  private String service;

  NextTable(ShardTable table) {
    version = table.version() + 1;
    lead = table.lead();
    shards = new TreeMap<>(table.shards());
    namespaces = new TreeMap<>(table.namespaces());
    moves = new TreeMap<>(table.moves());
    joining = table.joining();
    service = table.service();
  }

  /** The shard leads a service of this name. */
  NextTable lead(String id, String name) {
    lead = id;
    service = name;
    return this;
  }

  NextTable shard(Shard shard) {
    shards.put(shard.id(), shard);
    return this;
  }

  NextTable without(String id) {
    shards.remove(id);
    return this;
  }

  /** The namespace is there, and no longer on its way. */
  NextTable settled(String namespace, Placed place) {
    namespaces.put(namespace, place);
    moves.remove(namespace);
    return this;
  }

  /** The namespace is on its way from where it is. */
  NextTable moving(String namespace, Placed from, String to) {
    namespaces.put(namespace, from);
    moves.put(namespace, to);
    return this;
  }

  /** The shard is about to be hashed; empty: none is. */
  NextTable joining(String id) {
    joining = id;
    return this;
  }

  /**
   * Returns the table.
   *
   * @throws CliException if it would be too large, or is none
   */
  ShardTable build() {
    ShardTable next = new ShardTable(version, lead, shards, namespaces, moves, joining, service);
    if (shards.size() > ShardTable.MAX_SHARDS
        || namespaces.size() > ShardTable.MAX_NAMESPACES
        || moves.size() > ShardTable.MAX_MOVES) {
      throw new CliException(
          ExitCodes.FAILED,
          "a table has at most "
              + ShardTable.MAX_SHARDS
              + " shards, "
              + ShardTable.MAX_NAMESPACES
              + " named namespaces, and "
              + ShardTable.MAX_MOVES
              + " that move");
    }
    try {
      var unused = ShardMessages.toMessage(next);
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCodes.FAILED, String.valueOf(e.getMessage()), e);
    }
    next.problem()
        .ifPresent(
            problem -> {
              throw new CliException(ExitCodes.FAILED, "the table " + problem);
            });
    return next;
  }
}
