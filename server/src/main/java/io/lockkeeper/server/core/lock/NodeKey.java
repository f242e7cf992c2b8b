package io.lockkeeper.server.core.lock;

/**
 * Names one node in the directory of a lock: an entry of its queue, or a marker.
 *
 * @param lock the lock
 * @param name the znode's name in the lock's directory
 */
public record NodeKey(LockName lock, String name) {}
