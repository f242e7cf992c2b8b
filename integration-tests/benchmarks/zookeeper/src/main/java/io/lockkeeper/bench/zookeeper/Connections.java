package io.lockkeeper.bench.zookeeper;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** A few connections that many clients share, as the clients of a few processes would. */
final class Connections {

  private static final int SESSION_MILLIS = 30_000;

  private final List<ZooKeeper> connections = new ArrayList<>();

  private Connections() {}

  /** Connects, and returns when all connections stand. */
  static Connections open(String servers, int count) throws IOException, InterruptedException {
    Connections opened = new Connections();
    CountDownLatch connected = new CountDownLatch(count);
    for (int i = 0; i < count; i++) {
      opened.connections.add(
          new ZooKeeper(
              servers,
              SESSION_MILLIS,
              event -> {
                if (event.getState() == KeeperState.SyncConnected) {
                  connected.countDown();
                }
              }));
    }
    if (!connected.await(SESSION_MILLIS, TimeUnit.MILLISECONDS)) {
      throw new IOException("no ZooKeeper at " + servers);
    }
    return opened;
  }

  /** Returns the connection of a client. */
  ZooKeeper of(int client) {
    return connections.get(client % connections.size());
  }

  /** Creates a persistent node with all above it, where they are not. */
  void ensure(String path) throws InterruptedException, KeeperException {
    for (int end = path.indexOf('/', 1); end >= 0; end = path.indexOf('/', end + 1)) {
      create(path.substring(0, end));
    }
    create(path);
  }

  private void create(String path) throws InterruptedException, KeeperException {
    try {
      of(0).create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    } catch (KeeperException.NodeExistsException there) {
      return;
    }
  }
}
