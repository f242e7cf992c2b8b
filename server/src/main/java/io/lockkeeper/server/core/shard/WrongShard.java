package io.lockkeeper.server.core.shard;

/**
 * Another shard serves a namespace.
 *
 * @param namespace the namespace
 * @param shard who serves it
 * @param tableVersion the version of the table that says so
 */
public record WrongShard(String namespace, Shard shard, long tableVersion) {}
