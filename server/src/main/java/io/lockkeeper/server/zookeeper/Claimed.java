package io.lockkeeper.server.zookeeper;

/**
 * A claim record as it was read.
 *
 * @param record what it says
 * @param version the node's version: the epoch of the claim
 */
record Claimed(ClaimRecord record, int version) {}
