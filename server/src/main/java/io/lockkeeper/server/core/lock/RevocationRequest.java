package io.lockkeeper.server.core.lock;

import java.time.Duration;
import java.util.Optional;

/**
 * A wish that a holder give way, as it is written into the holder's entry for the coordinator that
 * serves it.
 *
 * @param id tells one wish from another, never empty
 * @param requester who asks, human-readable
 * @param reason why, human-readable
 * @param deadline how long until the lock may be taken away
 * @param force whether it is taken away now
 */
public record RevocationRequest(
    String id, String requester, String reason, Optional<Duration> deadline, boolean force) {

  /** The id of a wish that came from Curator's Revoker, which says no more than that. */
  public static final String BY_CURATOR = "__REVOKE__";
}
