package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.PathSizes;

/**
 * How long paths are, by the store.
 *
 * @param store the store
 */
record StorePathSizes(LockStore store) implements PathSizes {

  @Override
  public int entryBytes(LockName lock, Mode mode) {
    return store.pathBytes(lock, mode);
  }

  @Override
  public int leaseBytes() {
    return store.leasePathBytes();
  }
}
