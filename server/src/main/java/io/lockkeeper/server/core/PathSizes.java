package io.lockkeeper.server.core;

/** Says how many bytes paths take in ZooKeeper. Pure. */
public interface PathSizes {

  /** Returns the bytes of an entry's path. */
  int entryBytes(LockName lock, Mode mode);

  /** Returns the bytes of a lease record's path. */
  int leaseBytes();
}
