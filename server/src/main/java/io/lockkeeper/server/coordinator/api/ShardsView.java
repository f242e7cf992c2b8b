package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.shard.ShardRecord;

/**
 * The table of shards as a coordinator sees it.
 *
 * @param record the table, and who this is among them
 * @param zxid the transaction that wrote it, zero where there is none
 */
public record ShardsView(ShardRecord record, long zxid) {}
