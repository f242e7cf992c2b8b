package io.lockkeeper.client;

/**
 * The proof of holding one lock.
 *
 * @param name the lock
 * @param fencingToken above zero, and higher than that of any holder before; acquisitions that
 *     share a hold by reentrancy share its token
 * @param previousEnd how the holder before this one ended
 * @param holdCount how many acquisitions of the owner shared the hold when this one was granted,
 *     this one included: 1 unless reentrant
 */
public record LockGrant(String name, long fencingToken, PreviousEnd previousEnd, int holdCount) {}
