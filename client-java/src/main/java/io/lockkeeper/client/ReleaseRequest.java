package io.lockkeeper.client;

import java.time.Duration;
import java.util.Optional;

/**
 * A request of another client that a holder release its lock.
 *
 * @param requester who asks, human-readable
 * @param reason why, human-readable
 * @param deadline the time left until the lock may be taken away by force; empty: no limit
 */
public record ReleaseRequest(String requester, String reason, Optional<Duration> deadline) {}
