package io.lockkeeper.server.app;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.server.DatadirCleanupManager;
import org.apache.zookeeper.server.ZooKeeperServerMain;
import org.apache.zookeeper.server.persistence.FileTxnLog;
import org.apache.zookeeper.server.persistence.TxnLog;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
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
  private static final long START_LIMIT_SECONDS = 60;
  private static final long STOP_LIMIT_MILLIS = 10_000;

  /** Nothing was served yet, and a signal can be waiting for the end of the start. */
  private static final long FAILED_START_STOP_LIMIT_MILLIS = 2_000;

  private final DirectoryLock directoryLock;
  private final Server server;

  private EmbeddedZooKeeper(DirectoryLock directoryLock, Server server) {
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
   * @param cancelled stops the start when it completes
   * @param onDeath told once if the server ends by itself after it served, on any thread
   * @throws StartException if the port or the directory is in use, the data cannot be used, or it
   *     does not start within a minute
   * @throws CancellationException if {@code cancelled} completes first
   */
  public static EmbeddedZooKeeper start(
      Path dataDir,
      int port,
      Duration tickTime,
      Duration maxSessionTimeout,
      CompletableFuture<?> cancelled,
      Runnable onDeath) {
    Path baseDir = dataDir.resolve("zookeeper");
    DirectoryLock directoryLock = DirectoryLock.take(baseDir);
    try {
      requireFreePort(port);
      setProcessWideSwitches();
      Path data = baseDir.resolve("data").toAbsolutePath();
      Server server = new Server(properties(data, port, tickTime, maxSessionTimeout), onDeath);
      launch(server, data.resolve("version-2"), cancelled);
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
    server.stop(STOP_LIMIT_MILLIS);
    release(directoryLock);
  }

  /**
   * ZooKeeper's own main class. The class that ZooKeeper offers for embedding waits forever for a
   * server that cannot read its data, and drops the reason.
   */
  private static final class Server extends ZooKeeperServerMain {

    private final org.apache.zookeeper.server.ServerConfig config =
        new org.apache.zookeeper.server.ServerConfig();
    private final DatadirCleanupManager cleanup;
    private final Runnable onDeath;
    private final CompletableFuture<Void> started = new CompletableFuture<>();
    private final AtomicBoolean over = new AtomicBoolean();
    private final Thread runner = daemon(this::run, "embedded-zookeeper");

    Server(Properties properties, Runnable onDeath) {
      this.onDeath = onDeath;
      QuorumPeerConfig parsed = new QuorumPeerConfig();
      try {
        parsed.parseProperties(properties);
      } catch (IOException | QuorumPeerConfig.ConfigException e) {
        throw new StartException("the embedded ZooKeeper does not start: " + e, e);
      }
      config.readFrom(parsed);
      cleanup =
          new DatadirCleanupManager(
              parsed.getDataDir(),
              parsed.getDataLogDir(),
              parsed.getSnapRetainCount(),
              parsed.getPurgeInterval());
    }

    void start() {
      ServiceUtils.setSystemExitProcedure(
          code -> end(new IllegalStateException("ZooKeeper ended with exit code " + code)));
      runner.start();
      cleanup.start();
    }

    private void run() {
      try {
        runFromConfig(config);
        end(new IllegalStateException("ZooKeeper has ended"));
      } catch (Exception | Error e) {
        end(e);
        shutdown();
      }
    }

    @Override
    protected void serverStarted() {
      started.complete(null);
      if (over.get()) {
        beginToClose();
      }
    }

    private void end(Throwable why) {
      if (!started.completeExceptionally(why) && !over.getAndSet(true)) {
        log.atError().setCause(why).log("the embedded ZooKeeper has died");
        onDeath.run();
      }
    }

    void stop(long limitMillis) {
      over.set(true);
      cleanup.shutdown();
      beginToClose();
      try {
        runner.join(limitMillis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    /** ZooKeeper's close waits for the threads that {@link #run} ends. */
    private void beginToClose() {
      daemon(this::close, "embedded-zookeeper-stop").start();
    }

    private static Thread daemon(Runnable task, String name) {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    }
  }

  private static Properties properties(
      Path dataDir, int port, Duration tickTime, Duration maxSessionTimeout) {
    Properties properties = new Properties();
    properties.setProperty("dataDir", dataDir.toString());
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

  private static void launch(Server server, Path files, CompletableFuture<?> cancelled) {
    server.start();
    Throwable why;
    try {
      var unused =
          CompletableFuture.anyOf(server.started, cancelled.handle((value, failure) -> value))
              .get(START_LIMIT_SECONDS, TimeUnit.SECONDS);
      if (server.started.isDone()) {
        server.started.get();
        return;
      }
      why = new CancellationException("stopped while the embedded ZooKeeper was starting");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      why = e;
    } catch (TimeoutException e) {
      why = new TimeoutException("it does not serve within " + START_LIMIT_SECONDS + " s");
    } catch (ExecutionException e) {
      why = e.getCause() == null ? e : e.getCause();
    }
    server.stop(FAILED_START_STOP_LIMIT_MILLIS);
    if (why instanceof CancellationException cancellation) {
      throw cancellation;
    }
    throw new StartException(
        "the embedded ZooKeeper does not start on " + files + ": " + why + advice(files, why), why);
  }

  /** Returns which file is damaged and what to do, if it is a file; otherwise nothing. */
  private static String advice(Path files, Throwable why) {
    Optional<File> log = damagedLog(files);
    boolean snapshots = String.valueOf(why.getMessage()).contains("snapshot");
    return log.map(file -> "; the damaged file is " + file).orElse("")
        + (snapshots || log.isPresent()
            ? "; restore the directory from a copy, or, to lose all locks, move it away and start with "
                + Setting.ALLOW_TOKEN_RESET.flag()
            : "");
  }

  private static Optional<File> damagedLog(Path files) {
    long readable = 0;
    try (FileTxnLog log = new FileTxnLog(files.toFile());
        TxnLog.TxnIterator transactions = log.read(0)) {
      while (transactions.getHeader() != null) {
        readable = transactions.getHeader().getZxid();
        if (!transactions.next()) {
          break;
        }
      }
      return Optional.empty();
    } catch (IOException | RuntimeException e) {
      File[] from = FileTxnLog.getLogFiles(files.toFile().listFiles(), readable + 1);
      return Arrays.stream(from).findFirst();
    }
  }

  /** Names the setting, which ZooKeeper's own error does not. */
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
