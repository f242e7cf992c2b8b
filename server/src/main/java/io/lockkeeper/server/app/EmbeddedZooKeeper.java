package io.lockkeeper.server.app;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.apache.zookeeper.server.embedded.ExitHandler;
import org.apache.zookeeper.server.embedded.ZooKeeperServerEmbedded;
import org.apache.zookeeper.util.ServiceUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A single ZooKeeper server inside this process, for one machine: listens on 127.0.0.1 only, syncs
 * every write to disk, and finds its data again after a restart. At most one lives in a process,
 * since ZooKeeper's switches are global to it.
 */
public final class EmbeddedZooKeeper implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(EmbeddedZooKeeper.class);
  private static final String LOOPBACK = "127.0.0.1";
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final String GENERATED_CONFIG = "zookeeper.configuration*.properties";

  private final DirectoryLock directoryLock;
  private final ZooKeeperServerEmbedded server;

  private EmbeddedZooKeeper(DirectoryLock directoryLock, ZooKeeperServerEmbedded server) {
    this.directoryLock = directoryLock;
    this.server = server;
  }

  /**
   * Starts the server; returns when it serves.
   *
   * @param dataDir where its files are, made if need be
   * @param port its port; 0 for any free one
   * @param tickTime its tick: the granularity of session timeouts
   * @param maxSessionTimeout the longest session timeout that it grants
   * @param onDeath told once if the server ends by itself, on any thread
   * @throws StartException if the port or the directory is in use, or it does not start within a
   *     minute
   */
  public static EmbeddedZooKeeper start(
      Path dataDir, int port, Duration tickTime, Duration maxSessionTimeout, Runnable onDeath) {
    DirectoryLock directoryLock = DirectoryLock.take(dataDir.resolve("zookeeper"));
    try {
      requireFreePort(port);
      setProcessWideSwitches();
      ZooKeeperServerEmbedded server =
          launch(dataDir.resolve("zookeeper"), properties(port, tickTime, maxSessionTimeout));
      ServiceUtils.setSystemExitProcedure(code -> onDeath.run());
      return new EmbeddedZooKeeper(directoryLock, server);
    } catch (RuntimeException e) {
      release(directoryLock);
      throw e;
    }
  }

  /** Returns {@code 127.0.0.1:port}. */
  public String connectString() {
    return LOOPBACK + ":" + server.getClientPort();
  }

  /** Stops the server; its data stays. */
  @Override
  public void close() {
    server.close();
    release(directoryLock);
  }

  private static Properties properties(int port, Duration tickTime, Duration maxSessionTimeout) {
    Properties properties = new Properties();
    properties.setProperty("clientPort", Integer.toString(port));
    properties.setProperty("clientPortAddress", LOOPBACK);
    properties.setProperty("maxClientCnxns", "0");
    properties.setProperty("tickTime", Long.toString(tickTime.toMillis()));
    // By default 20 ticks: a small tick would cut our session timeouts short.
    properties.setProperty("maxSessionTimeout", Long.toString(maxSessionTimeout.toMillis()));
    properties.setProperty("admin.enableServer", "false");
    properties.setProperty("forceSync", "yes");
    properties.setProperty("autopurge.snapRetainCount", "3");
    properties.setProperty("autopurge.purgeInterval", "1");
    return properties;
  }

  /**
   * Sets what ZooKeeper reads from system properties only, unless whoever started the process has.
   */
  private static void setProcessWideSwitches() {
    // Without it, the directory of a lock that was asked for and never entered would stay for ever.
    if (System.getProperty("znode.container.maxNeverUsedIntervalMs") == null) {
      System.setProperty("znode.container.maxNeverUsedIntervalMs", "300000");
    }
  }

  private static ZooKeeperServerEmbedded launch(Path baseDir, Properties properties) {
    try {
      ZooKeeperServerEmbedded server =
          ZooKeeperServerEmbedded.builder()
              .baseDir(baseDir)
              .configuration(properties)
              .exitHandler(ExitHandler.LOG_ONLY)
              .build();
      deleteGeneratedConfig(baseDir);
      server.start(START_LIMIT.toMillis());
      return server;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StartException("interrupted while the embedded ZooKeeper was starting", e);
    } catch (Exception e) {
      throw new StartException("the embedded ZooKeeper does not start: " + e, e);
    }
  }

  /**
   * The library writes its configuration to a new file at every start, reads it at once and leaves
   * it behind.
   */
  private static void deleteGeneratedConfig(Path baseDir) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(baseDir, GENERATED_CONFIG)) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
    }
  }

  /** The library only logs that it could not bind, and lets its starter wait. */
  private static void requireFreePort(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getByName(LOOPBACK), port));
    } catch (IOException e) {
      throw new StartException(
          "port "
              + port
              + " of "
              + LOOPBACK
              + " is in use; give the embedded ZooKeeper another with --zookeeper-port",
          e);
    }
  }

  private static void release(DirectoryLock directoryLock) {
    try {
      directoryLock.close();
    } catch (IOException e) {
      log.atWarn().setCause(e).log("could not give the data directory back");
    }
  }
}
