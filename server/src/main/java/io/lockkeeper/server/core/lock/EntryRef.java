package io.lockkeeper.server.core.lock;

import java.util.Optional;

/**
 * Names one entry that is to be deleted.
 *
 * @param lock the lock
 * @param entry the znode name
 * @param guard the guard that is deleted together with it; empty if it has none, or if the guard
 *     shall outlive a holder who was lost
 */
public record EntryRef(LockName lock, String entry, Optional<String> guard) {}
