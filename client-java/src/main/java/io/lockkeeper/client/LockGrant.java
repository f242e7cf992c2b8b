package io.lockkeeper.client;

/**
 * The proof of holding one lock.
 *
 * @param name the lock
 * @param fencingToken above zero, and higher than that of any holder before; acquisitions that are
 *     levels of one hold of their owner have one token
 * @param previousEnd how the holder before this one ended
 * @param holdCount how many acquisitions of the owner held the lock so when this one was granted,
 *     this one included: 1 unless reentrant
 */
public record LockGrant(String name, long fencingToken, PreviousEnd previousEnd, int holdCount) {}
