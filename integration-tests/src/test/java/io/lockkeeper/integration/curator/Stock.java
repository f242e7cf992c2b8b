package io.lockkeeper.integration.curator;

/** What a service keeps in a store that knows no locks: the lock is the service's part. */
interface Stock extends AutoCloseable {

  /** Sells one piece: reads how many were sold, and writes one more a little later. */
  void sell() throws Exception;
}
