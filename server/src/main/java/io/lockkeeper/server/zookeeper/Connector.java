package io.lockkeeper.server.zookeeper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ClientCnxnSocketNetty;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.ZKClientConfig;

/** Opens handles, and ends them on threads of its own, because that blocks. */
final class Connector {

  private static final int CLOSERS = 4;
  private static final int IDLE_SECONDS = 5;

  private final ZooKeeperSettings settings;
  private final StoreThread thread;
  private final ThreadPoolExecutor closers;
  private final OwnWrites own = new OwnWrites();
  private final Set<Handle> open = ConcurrentHashMap.newKeySet();

  Connector(ZooKeeperSettings settings, StoreThread thread) {
    this.settings = settings;
    this.thread = thread;
    closers =
        new ThreadPoolExecutor(
            CLOSERS,
            CLOSERS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Connector::closerThread);
    closers.allowCoreThreadTimeOut(true);
  }

  private static Thread closerThread(Runnable body) {
    Thread thread = new Thread(body, "zookeeper-closer");
    thread.setDaemon(true);
    return thread;
  }

  /** Opens a handle with a new session. */
  Handle open(Duration timeout, HandleListener listener) {
    return open(timeout, relay(listener), config());
  }

  /**
   * Opens a handle with a new session that will be told a great many small things: ZooKeeper's
   * default transport reads each of them from the socket with two calls of the system, Netty's
   * reads whatever there is with one. Its events are the line of the store's thread from now on.
   */
  Handle openListening(Duration timeout, HandleListener listener) {
    ZKClientConfig config = config();
    config.setProperty(
        ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, ClientCnxnSocketNetty.class.getName());
    EventRelay relay = relay(listener);
    thread.use(relay);
    return open(timeout, relay, config);
  }

  private EventRelay relay(HandleListener listener) {
    return new EventRelay(thread, listener, own);
  }

  /** Returns which nodes are being written: what the watch tells of them may wait. */
  OwnWrites own() {
    return own;
  }

  private Handle open(Duration timeout, EventRelay relay, ZKClientConfig config) {
    try {
      return opened(
          new Handle(settings.connectString(), (int) timeout.toMillis(), relay, hosts(), config));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Opens a handle on a session that exists, if it still does. */
  Handle attach(SessionIdentity session, Duration timeout, HandleListener listener) {
    try {
      EventRelay relay = relay(listener);
      return opened(
          new Handle(
              settings.connectString(),
              (int) timeout.toMillis(),
              relay,
              session,
              hosts(),
              config()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Handle opened(Handle handle) {
    open.add(handle);
    return handle;
  }

  private HostProvider hosts() {
    return new BriskHosts(new ConnectStringParser(settings.connectString()).getServerAddresses());
  }

  private ZKClientConfig config() {
    ZKClientConfig config = new ZKClientConfig();
    config.setProperty(ZKClientConfig.JUTE_MAXBUFFER, Integer.toString(settings.maxReplyBytes()));
    // The mirror counts on the client to watch again after each reconnect.
    config.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "false");
    return config;
  }

  /** Drops a handle; its session lives on. */
  void abandon(Handle handle) {
    open.remove(handle);
    handle.silence();
    closers.execute(handle::abandon);
  }

  /** Drops every handle that is open; the sessions live on. */
  void abandonAll() {
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
          handle.close();
          thread.execute(next);
        });
  }

  /** Waits so long at most for handles to end. */
  void stop(long millis) throws InterruptedException {
    closers.shutdown();
    if (!closers.awaitTermination(millis, TimeUnit.MILLISECONDS)) {
      closers.shutdownNow();
    }
  }
}
