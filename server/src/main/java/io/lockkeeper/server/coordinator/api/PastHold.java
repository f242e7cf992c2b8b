package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.HoldEnd;

/**
 * A hold that has ended.
 *
 * @param holder who held the lock, as it was at the end; without times where another coordinator
 *     had granted it
 * @param endedAgoNanos how long ago it ended
 * @param end how it ended
 */
public record PastHold(Contender holder, long endedAgoNanos, HoldEnd end) {}
