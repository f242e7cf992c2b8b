package io.lockkeeper.server.coordinator.api;

/**
 * Another coordinator.
 *
 * @param id its name, new at every start
 * @param address where it serves gRPC, as {@code host:port}
 */
public record Peer(String id, String address) {}
