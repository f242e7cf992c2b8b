package io.lockkeeper.server.core.api;

import java.time.Duration;
import java.util.Map;
import java.util.UUID;

/**
 * What a coordinator that leaves in good order has promised to the clients of one lock session, as
 * durations from when it stopped renewing leases.
 *
 * @param leases how long the client of each lease can rely on it without another keep-alive, by the
 *     tags of the leases
 * @param waiters when each request would have been withdrawn whose client closed its stream, by the
 *     ids of the acquisitions
 */
public record Promises(Map<String, Duration> leases, Map<UUID, Duration> waiters) {

  /** Copies the maps. */
  public Promises {
    leases = Map.copyOf(leases);
    waiters = Map.copyOf(waiters);
  }
}
