package io.lockkeeper.integration.curator;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.harness.Unprotected;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/** The same service after it has moved. Quoted in {@code docs/how-to/replace-curator.md}. */
final class StockOnLockkeeper implements Stock {

  private final LockkeeperClient lockkeeper;
  private final Unprotected store;
  private final String name;

  StockOnLockkeeper(String servers, Unprotected store, String name) {
    this.store = store;
    this.name = name;
    lockkeeper = LockkeeperClient.builder(servers).holder(name).ttl(Duration.ofSeconds(10)).build();
  }

  @Override
  public void sell() throws Exception {
    Optional<LockHandle> held = lockkeeper.tryLock("stock", Duration.ofSeconds(30));
    try (LockHandle lock = held.orElseThrow(() -> new TimeoutException("somebody else has it"))) {
      store.work(lock.fencingToken(), name);
      lock.checkValid(); // throws if the lock was lost meanwhile
    }
  }

  @Override
  public void close() {
    lockkeeper.close();
  }
}
