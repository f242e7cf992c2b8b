package io.lockkeeper.server.zookeeper;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper server in this process, for what can only be done from inside. */
final class InProcessZooKeeper implements AutoCloseable {

  private static final int TICK_MILLIS = 200;
  private static final int MAX_CONNECTIONS = 1_000;

  private final ZooKeeperServer server;
  private final ServerCnxnFactory connections;

  InProcessZooKeeper(Path directory) throws Exception {
    server = new ZooKeeperServer(directory.toFile(), directory.toFile(), TICK_MILLIS);
    server.setMaxSessionTimeout(60_000);
    connections =
        ServerCnxnFactory.createFactory(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), MAX_CONNECTIONS);
    connections.startup(server);
  }

  int port() {
    return connections.getLocalPort();
  }

  /**
   * Makes {@code next} the sequence number of the next node below {@code path}. The server notices
   * that by its digest of the tree, logs it and goes on.
   */
  void setCounter(String path, int next) throws Exception {
    DataTree tree = server.getZKDatabase().getDataTree();
    tree.setCversionPzxid(path, next, tree.lastProcessedZxid);
  }

  @Override
  public void close() {
    connections.shutdown();
  }
}
