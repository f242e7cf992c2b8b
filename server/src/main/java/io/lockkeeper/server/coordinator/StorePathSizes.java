package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.Mode;
import io.lockkeeper.server.core.PathSizes;

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
