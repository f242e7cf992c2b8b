package io.lockkeeper.server.zookeeper;

import org.apache.zookeeper.Op;

/**
 * Our claim to a lock session.
 *
 * @param name the name of its record
 * @param epoch the version of the record while it is ours
 */
record Claim(String name, int epoch) {

  /** Returns the check that it is ours still. */
  Op fence(StorePaths paths) {
    return Fence.of(paths.claim(name), epoch);
  }
}
