package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.CoreSettings;

/**
 * The limits that the coordinator keeps.
 *
 * @param core those of the core
 * @param maxQueuedRequests how many requests may wait for the event loop; beyond it they are
 *     refused
 * @param maxWatches how many watches may be open
 */
public record CoordinatorSettings(CoreSettings core, int maxQueuedRequests, int maxWatches) {

  /** Returns the defaults: 100,000 requests, 10,000 watches. */
  public static CoordinatorSettings defaults() {
    return new CoordinatorSettings(CoreSettings.defaults(), 100_000, 10_000);
  }
}
