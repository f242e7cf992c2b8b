package io.lockkeeper.server.zookeeper.client;

import io.lockkeeper.server.zookeeper.record.SessionIdentity;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ClientCnxnSocketNetty;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.ZKClientConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens handles, and ends them on threads of its own, because that blocks. */
public final class Connector {

  private static final Logger LOG = LoggerFactory.getLogger(Connector.class);
  private static final int CLOSERS = 4;

  private final ZooKeeperSettings settings;
  private final StoreExecutor executor;
  private final ClientAccess access;
  private final HostNames names = new HostNames(InetAddress::getAllByName, System::nanoTime);
  private final ThreadPoolExecutor closers;
  private final ThreadPoolExecutor leavers;
  private final Set<Handle> open = ConcurrentHashMap.newKeySet();

  public Connector(ZooKeeperSettings settings, StoreExecutor executor) {
    this.settings = settings;
    this.executor = executor;
    access = new ClientAccess(settings.access());
    access
        .exposedFile()
        .ifPresent(
            file ->
                LOG.atWarn()
                    .addKeyValue("file", file)
                    .log("others than its owner may read or change the credentials: chmod 600"));
    closers = pool(CLOSERS, "zookeeper-closer");
    leavers = pool(1, "zookeeper-leaver");
  }

  /** Has all its threads from the beginning: later there may be none to be had. */
  private static ThreadPoolExecutor pool(int threads, String name) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            body -> daemon(body, name),
            // Only once all is over.
            new ThreadPoolExecutor.DiscardPolicy());
    pool.prestartAllCoreThreads();
    return pool;
  }

  private static Thread daemon(Runnable body, String name) {
    Thread thread = new Thread(body, name);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Opens a handle.
   *
   * @param session the session to attach to; empty for a new one
   * @param listening whether it will be told a great many small things: ZooKeeper's default
   *     transport reads each of them from the socket with two calls of the system, Netty's reads
   *     whatever there is with one
   * @throws IOException if there are no descriptors, or the credentials cannot be read
   * @throws OutOfMemoryError if there are no threads
   */
  public Handle open(
      Optional<SessionIdentity> session,
      Duration timeout,
      boolean listening,
      HandleListener listener)
      throws IOException {
    ZKClientConfig config = config();
    Optional<byte[]> digest = access.readDigest();
    EventRelay relay = new EventRelay(executor, listener);
    if (listening) {
      config.setProperty(
          ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, ClientCnxnSocketNetty.class.getName());
    }
    String servers = settings.connectString();
    int millis = (int) timeout.toMillis();
    FastHostProvider hosts = hosts(timeout);
    return opened(
        session.isPresent()
            ? new Handle(servers, millis, relay, session.get(), hosts, config)
            : new Handle(servers, millis, relay, hosts, config),
        digest);
  }

  private Handle opened(Handle handle, Optional<byte[]> digest) {
    open.add(handle);
    // Nothing is asked before: that it is connected is told in a task after this one.
    ClientAccess.authenticate(handle, digest);
    return handle;
  }

  private FastHostProvider hosts(Duration timeout) {
    return new FastHostProvider(
        new ConnectStringParser(settings.connectString()).getServerAddresses(),
        names,
        timeout,
        settings.times().longestSilence());
  }

  private ZKClientConfig config() {
    ZKClientConfig config = access.config();
    config.setProperty(ZKClientConfig.JUTE_MAXBUFFER, Integer.toString(settings.maxReplyBytes()));
    // The mirror counts on the client to watch again after each reconnect.
    config.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "false");
    return config;
  }

  /** Has a handle leave the server that it is at for another; its session lives on. */
  void leaveServer(Handle handle) {
    leavers.execute(() -> executor.attempt(handle::leaveServer));
  }

  /** Drops a handle; its session lives on. */
  void abandon(Handle handle) {
    open.remove(handle);
    handle.silence();
    // One that is not dropped would keep its session alive.
    closers.execute(() -> executor.attempt(handle::abandon));
  }

  /** Drops every handle that is open; the sessions live on. */
  public void abandonAll() {
    open.forEach(this::abandon);
  }

  /**
   * Closes a handle and its session, if it is connected; then runs {@code next} on the store's
   * thread.
   */
  void close(Handle handle, Runnable next) {
    open.remove(handle);
    handle.silence();
    closers.execute(
        () -> {
          executor.attempt(handle::close);
          executor.execute(next);
        });
  }

  /** Waits so long at most for handles to end. */
  public void stop(long millis) throws InterruptedException {
    leavers.shutdown();
    closers.shutdown();
    if (!closers.awaitTermination(millis, TimeUnit.MILLISECONDS)) {
      closers.shutdownNow();
    }
  }
}
