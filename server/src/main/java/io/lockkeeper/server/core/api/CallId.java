package io.lockkeeper.server.core.api;

/**
 * Names a caller that waits for one {@link Answer}. The core only hands it back.
 *
 * @param value never reused in one process
 */
public record CallId(long value) {}
