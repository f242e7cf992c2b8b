package io.lockkeeper.bench.zookeeper;

import io.lockkeeper.bench.load.BlockingLocks;
import io.lockkeeper.bench.load.Crew;
import io.lockkeeper.bench.load.LoadedSystem;
import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Tally;
import io.lockkeeper.bench.load.ThreadCrew;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Curator's {@link InterProcessMutex}: each client is a mutex and, as its interface wants it, a
 * thread.
 */
final class CuratorLocks implements LoadedSystem, BlockingLocks<InterProcessMutex> {

  private static final int RETRY_MILLIS = 100;
  private static final int RETRIES = 3;
  private static final int PATIENCE_SECONDS = 30;

  private final List<CuratorFramework> connections = new ArrayList<>();

  private CuratorLocks() {}

  /** Connects, and returns when all connections stand. */
  static CuratorLocks connect(String servers, int count) throws InterruptedException {
    CuratorLocks locks = new CuratorLocks();
    for (int i = 0; i < count; i++) {
      CuratorFramework connection =
          CuratorFrameworkFactory.newClient(
              servers, new ExponentialBackoffRetry(RETRY_MILLIS, RETRIES));
      connection.start();
      if (!connection.blockUntilConnected(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("no ZooKeeper at " + servers);
      }
      locks.connections.add(connection);
    }
    return locks;
  }

  @Override
  public Crew start(Order order, Tally tally) {
    return ThreadCrew.start(order, tally, this);
  }

  @Override
  public InterProcessMutex open(int client, String lock) {
    return new InterProcessMutex(
        connections.get(client % connections.size()), "/curator/" + lock.replace('/', '_'));
  }

  @Override
  public void acquire(InterProcessMutex lock) throws Exception {
    lock.acquire();
  }

  @Override
  public void release(InterProcessMutex lock) throws Exception {
    lock.release();
  }
}
