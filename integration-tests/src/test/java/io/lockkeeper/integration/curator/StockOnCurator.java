package io.lockkeeper.integration.curator;

import io.lockkeeper.integration.harness.Unprotected;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** A service before it moves. Quoted in {@code docs/how-to/replace-curator.md}. */
final class StockOnCurator implements Stock {

  private final CuratorFramework curator;
  private final InterProcessMutex mutex;
  private final Unprotected store;
  private final String name;

  StockOnCurator(String zookeeper, Unprotected store, String name) {
    this.store = store;
    this.name = name;
    curator =
        CuratorFrameworkFactory.builder()
            .connectString(zookeeper)
            .sessionTimeoutMs(10_000)
            .retryPolicy(new ExponentialBackoffRetry(100, 3))
            .build();
    curator.start();
    mutex = new InterProcessMutex(curator, "/service/locks/stock");
  }

  @Override
  public void sell() throws Exception {
    if (!mutex.acquire(30, TimeUnit.SECONDS)) {
      throw new TimeoutException("somebody else has the stock");
    }
    try {
      store.work(0, name); // there is no token
    } finally {
      mutex.release();
    }
  }

  @Override
  public void close() {
    curator.close();
  }
}
