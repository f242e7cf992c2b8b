package io.lockkeeper.integration.outages;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** A client of ZooKeeper that writes all the time: so one knows when ZooKeeper itself took none. */
final class Probe implements AutoCloseable {

  private static final String NODE = "/probe";
  private static final int SESSION_MILLIS = 30_000;
  private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final String servers;
  private final List<Long> writtenNanos = new ArrayList<>();
  private volatile boolean closed;

  private Probe(String servers) {
    this.servers = servers;
  }

  /** Begins to write to servers. */
  static Probe start(String servers) {
    Probe probe = new Probe(servers);
    Thread thread = new Thread(probe::work, "probe");
    thread.setDaemon(true);
    thread.start();
    return probe;
  }

  private void work() {
    try {
      ZooKeeper zookeeper = connect();
      while (!closed) {
        Code code = write(zookeeper);
        if (code == Code.SESSIONEXPIRED) {
          zookeeper.close(1);
          zookeeper = connect();
        } else if (code == Code.OK) {
          written(System.nanoTime());
        }
        LockSupport.parkNanos(INTERVAL_NANOS);
      }
      zookeeper.close(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private ZooKeeper connect() {
    try {
      return new ZooKeeper(servers, SESSION_MILLIS, event -> {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Code write(ZooKeeper zookeeper) throws InterruptedException {
    try {
      zookeeper.setData(NODE, new byte[0], -1);
      return Code.OK;
    } catch (KeeperException.NoNodeException missing) {
      return create(zookeeper);
    } catch (KeeperException e) {
      return e.code();
    }
  }

  private static Code create(ZooKeeper zookeeper) throws InterruptedException {
    try {
      zookeeper.create(NODE, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      return Code.OK;
    } catch (KeeperException e) {
      return e.code();
    }
  }

  private synchronized void written(long nanos) {
    writtenNanos.add(nanos);
  }

  /** Returns the longest time between two writes, or from the last to now, that ended since. */
  synchronized Duration longestGapSince(long nanos) {
    long longest = 0;
    long after = System.nanoTime();
    for (int i = writtenNanos.size() - 1; i >= 0 && after - nanos > 0; i--) {
      longest = Math.max(longest, after - writtenNanos.get(i));
      after = writtenNanos.get(i);
    }
    return Duration.ofNanos(longest);
  }

  @Override
  public void close() {
    closed = true;
  }
}
