package io.lockkeeper.client;

import java.time.Duration;
import java.util.Optional;

/**
 * Somebody's wish that a holder give way.
 *
 * @param requester who asks, for people
 * @param reason why, for people
 * @param deadline the time left until the lock may be taken away by force; empty: no limit
 */
public record ReleaseRequest(String requester, String reason, Optional<Duration> deadline) {}
