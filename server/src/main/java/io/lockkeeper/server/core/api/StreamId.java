package io.lockkeeper.server.core.api;

/**
 * Names a stream that notices go to. The core only hands it back.
 *
 * @param value never reused in one process
 */
public record StreamId(long value) {}
