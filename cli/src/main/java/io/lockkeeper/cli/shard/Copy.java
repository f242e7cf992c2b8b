package io.lockkeeper.cli.shard;

import io.lockkeeper.server.core.shard.ShardTable;

/**
 * The table as one ensemble has it.
 *
 * @param self the id of the shard that the ensemble is; empty where it has no table
 * @param table the table
 * @param writtenAt the transaction that wrote it
 * @param partial whether the caller sees only a part of it
 */
record Copy(String self, ShardTable table, long writtenAt, boolean partial) {

  /** Returns whether the ensemble has a table. */
  boolean isSplit() {
    return table.version() > 0;
  }

  /** Returns the epoch of ZooKeeper's leader that wrote it. */
  long epoch() {
    return writtenAt >>> Integer.SIZE;
  }
}
