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
  private final List<ServerProcess> others = new ArrayList<>();

  private Rig(ZooKeeperProcess zookeeper, ServerProcess server) {
    this.zookeeper = zookeeper;
    this.server = server;
  }

  /** Returns the one rig of all tests that leave it as they found it; it ends with the JVM. */
  public static synchronized Rig shared() {
    if (shared == null || !shared.server.isAlive()) {
      shared = start();
    }
    return shared;
  }

  /** Starts a rig of its own for one test. */
  public static Rig start(String... flags) {
    ZooKeeperProcess zookeeper = startZooKeeper();
    return new Rig(zookeeper, ServerProcess.start(zookeeper.connectString(), flags));
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
                "--member-session-timeout=2s"));
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

  /** Starts another server in front of the same ZooKeeper, closed with the first. */
  public ServerProcess another() {
    ServerProcess other = ServerProcess.start(zookeeper.connectString());
    others.add(other);
    return other;
  }

  /** Returns a new connection to the server. */
  public ManagedChannel connect() {
    return server.connect();
  }

  @Override
  public void close() {
    others.forEach(ServerProcess::close);
    server.close();
    zookeeper.close();
  }
}
