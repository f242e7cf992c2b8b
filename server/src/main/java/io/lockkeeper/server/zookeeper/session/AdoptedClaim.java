package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.zookeeper.record.SessionIdentity;
import java.time.Duration;
import java.util.Optional;

/**
 * A lock session whose claim we have taken from another coordinator.
 *
 * @param claim our claim
 * @param session what it takes to attach
 * @param timeout the timeout with which the session was opened
 * @param atNanos when it was certain that the claim is ours, on our monotonic clock
 * @param certain whether all who owned it before are dead for certain
 * @param promises what the former owner recorded, if it left in good order
 */
record AdoptedClaim(
    Claim claim,
    SessionIdentity session,
    Duration timeout,
    long atNanos,
    boolean certain,
    Optional<Promises> promises) {}
