package io.lockkeeper.server.zookeeper.record;

/**
 * A claim record as it was read.
 *
 * @param record what it says
 * @param version the node's version: the epoch of the claim
 */
public record VersionedClaim(ClaimRecord record, int version) {}
