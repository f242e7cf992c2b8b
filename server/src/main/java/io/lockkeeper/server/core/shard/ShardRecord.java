package io.lockkeeper.server.core.shard;

/**
 * What an ensemble says of shards: the table, and which of them it is.
 *
 * @param self the id of the shard that it is; empty where there is no table
 * @param table the table
 */
public record ShardRecord(String self, ShardTable table) {

  /** Of an ensemble that is the only one. */
  public static final ShardRecord NONE = new ShardRecord("", ShardTable.NONE);

  /** Returns whether there is a table. */
  public boolean isSplit() {
    return table.version() > 0;
  }
}
