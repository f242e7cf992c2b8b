package io.lockkeeper.server.core.lock;

import java.util.List;

/** Says how many bytes paths take in ZooKeeper. Pure. */
public interface PathSizes {

  /** Returns the bytes of an entry's path. */
  int entryBytes(LockName lock, Mode mode);

  /** Returns the bytes of a lease record's path. */
  int leaseBytes();

  /** Returns how many bytes the paths of entries take. */
  default long bytesOf(List<PlannedEntry> entries) {
    long sum = 0;
    for (PlannedEntry entry : entries) {
      sum += entryBytes(entry.lock(), entry.mode());
    }
    return sum;
  }
}
