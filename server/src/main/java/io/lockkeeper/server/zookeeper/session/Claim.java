package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.zookeeper.client.Fence;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import org.apache.zookeeper.Op;

/**
 * Our claim to a lock session.
 *
 * @param name the name of its record
 * @param epoch the version of the record while it is ours
 */
record Claim(String name, int epoch) {

  /** Returns the epoch of the leases on the session: 1 before it is adopted for the first time. */
  long leaseEpoch() {
    return Integer.toUnsignedLong(epoch) + 1;
  }

  /** Returns the check that it is ours still. */
  Op fence(StorePaths paths) {
    return Fence.of(paths.claim(name), epoch);
  }
}
