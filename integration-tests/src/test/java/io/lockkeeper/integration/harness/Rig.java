package io.lockkeeper.integration.harness;

import io.grpc.ManagedChannel;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.util.ArrayList;
import java.util.List;

/** A ZooKeeper process and a server process in front of it. */
public final class Rig implements AutoCloseable {

  private static Rig shared;

  private final ZooKeeperProcess zookeeper;
  private final ServerProcess server;

  private Rig(ZooKeeperProcess zookeeper, ServerProcess server) {
    this.zookeeper = zookeeper;
    this.server = server;
  }

  /** Returns the one rig of all tests that leave it as they found it; it ends with the JVM. */
  public static synchronized Rig shared() {
    if (shared != null && !shared.server.isAlive()) {
      shared.close();
      shared = null;
    }
    if (shared == null) {
      shared = start();
    }
    return shared;
  }

  /**
   * Starts a server with flags of its own in front of the shared ZooKeeper; the caller closes it.
   *
   * @param root the path of its data in ZooKeeper; servers with the same root are peers
   */
  public static ServerProcess server(String root, String... flags) {
    List<String> all = new ArrayList<>(List.of(flags));
    all.add("--root=" + root);
    return ServerProcess.start(shared().zookeeper.connectString(), all.toArray(String[]::new));
  }

  private static Rig start() {
    ZooKeeperProcess zookeeper = startZooKeeper();
    return new Rig(zookeeper, ServerProcess.start(zookeeper.connectString()));
  }

  /** Starts a ZooKeeper on which sessions may be short. */
  public static ZooKeeperProcess startZooKeeper() {
    return ZooKeeperProcess.in(Scratch.directory("zookeeper"))
        .configuration("tickTime", "500")
        .configuration("syncLimit", "2")
        .start();
  }

  /**
   * Returns the flags of a server whose lock sessions end so many seconds after their coordinator
   * was last heard.
   */
  public static String[] shortSessions(int seconds, String... more) {
    List<String> flags =
        new ArrayList<>(
            List.of(
                "--zookeeper-tick-time=500ms",
                "--zookeeper-sync-limit=2",
                "--lock-session-timeout=" + seconds + "s",
                "--member-session-timeout=" + Math.min(seconds, 5) + "s"));
    flags.addAll(List.of(more));
    return flags.toArray(String[]::new);
  }

  /** Returns the ZooKeeper. */
  public ZooKeeperProcess zookeeper() {
    return zookeeper;
  }

  /** Returns the server. */
  public ServerProcess server() {
    return server;
  }

  /** Returns a new connection to the server. */
  public ManagedChannel connect() {
    return server.connect();
  }

  @Override
  public void close() {
    server.close();
    zookeeper.close();
  }
}
