package io.lockkeeper.integration.outages;

import io.lockkeeper.integration.failover.Rooms;
import io.lockkeeper.integration.harness.Znodes;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;

/**
 * A service that uses Curator on servers that nothing happens to: a thread for each lock takes it
 * and gives it back, over and over.
 */
final class CuratorSide implements AutoCloseable {

  private static final long HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final CuratorFramework client;
  private final Rooms rooms;
  private final Set<AtomicBoolean> beliefs = ConcurrentHashMap.newKeySet();
  private volatile boolean closing;

  private CuratorSide(CuratorFramework client, Rooms rooms) {
    this.client = client;
    this.rooms = rooms;
  }

  /** Starts it on servers. */
  static CuratorSide start(String servers, Collection<String> locks, Rooms rooms) {
    CuratorSide side =
        new CuratorSide(
            CuratorFrameworkFactory.newClient(servers, new RetryNTimes(100, 100)), rooms);
    side.client.getConnectionStateListenable().addListener((same, state) -> side.onState(state));
    side.client.start();
    for (String lock : locks) {
      Thread thread = new Thread(() -> side.work(lock), "curator-" + lock);
      thread.setDaemon(true);
      thread.start();
    }
    return side;
  }

  /** Whoever uses Curator rightly believes in no lock while it has no connection. */
  private void onState(ConnectionState state) {
    if (!state.isConnected()) {
      beliefs.forEach(belief -> belief.set(false));
    }
  }

  private void work(String lock) {
    while (!closing) {
      try {
        takeOnce(lock);
      } catch (Exception e) {
        // Without a connection there is nothing to be had.
        LockSupport.parkNanos(REST_NANOS);
      }
    }
  }

  private void takeOnce(String lock) throws Exception {
    InterProcessMutex mutex = new InterProcessMutex(client, Znodes.directory(lock));
    mutex.acquire();
    AtomicBoolean belief = new AtomicBoolean(true);
    beliefs.add(belief);
    try {
      if (client.getZookeeperClient().isConnected()) {
        long number = rooms.enterWithoutToken(lock, belief::get);
        LockSupport.parkNanos(HOLD_NANOS);
        rooms.leave(lock, number);
      }
    } finally {
      beliefs.remove(belief);
      mutex.release();
    }
    LockSupport.parkNanos(REST_NANOS);
  }

  @Override
  public void close() {
    closing = true;
    client.close();
  }
}
