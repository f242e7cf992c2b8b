package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/**
 * One server for a test, what breaks connections to it, a client that sees the truth, and the
 * stores under test, all closed at the end.
 */
public final class Ensemble implements AutoCloseable {

  public static final Duration SESSION = Duration.ofSeconds(6);

  private final ZooKeeperProcess server;
  private final List<ZooKeeperLockStore> stores = new ArrayList<>();
  private final List<ZooKeeper> clients = new ArrayList<>();
  private final List<ZooKeeperProxy> proxies = new ArrayList<>();

  Ensemble(ZooKeeperProcess server) {
    this.server = server;
  }

  public static Ensemble in(Path directory) {
    return new Ensemble(ZooKeeperProcess.in(directory).start());
  }

  public ZooKeeperProcess server() {
    return server;
  }

  /** Returns another proxy of the server. It goes first: stores stop without what it holds back. */
  public ZooKeeperProxy proxy() {
    ZooKeeperProxy proxy = new ZooKeeperProxy(server.port());
    proxies.add(proxy);
    return proxy;
  }

  public static ZooKeeperSettings settings(String connect, String id) {
    return ZooKeeperSettings.of(connect, id, "127.0.0.1:7420")
        .withRoot("/lk")
        .withTimes(SESSION, Duration.ofSeconds(2), Duration.ofMillis(200), 5);
  }

  ZooKeeperLockStore store(RecordedEvents events) {
    return store(server.connectString(), "c1", events);
  }

  public ZooKeeperLockStore store(String connect, String id, RecordedEvents events) {
    return store(settings(connect, id), events);
  }

  public ZooKeeperLockStore store(ZooKeeperSettings settings, RecordedEvents events) {
    return store(settings, new ZooKeeperLockStore.Pace(200, DirectoryReaper.IDLE_TICKS), events);
  }

  ZooKeeperLockStore store(
      ZooKeeperSettings settings, ZooKeeperLockStore.Pace pace, RecordedEvents events) {
    ZooKeeperLockStore store =
        new ZooKeeperLockStore(
            settings,
            problem -> {
              throw new AssertionError(problem);
            },
            pace);
    stores.add(store);
    store.start(events, RecordedEvents::onFailure);
    return store;
  }

  /** Returns settings whose sessions die soon. */
  public static ZooKeeperSettings brief(String connect, String id) {
    return settings(connect, id)
        .withTimes(Duration.ofSeconds(2), Duration.ofSeconds(1), Duration.ofMillis(200), 5);
  }

  public ZooKeeper client() throws Exception {
    return client(server.connectString());
  }

  ZooKeeper client(String connect) throws Exception {
    CompletableFuture<Void> connected = new CompletableFuture<>();
    ZooKeeper client =
        new ZooKeeper(
            connect,
            30_000,
            event -> {
              if (event.getState() == KeeperState.SyncConnected) {
                connected.complete(null);
              }
            });
    clients.add(client);
    connected.get(20, TimeUnit.SECONDS);
    return client;
  }

  /**
   * Returns the queues as they are in ZooKeeper, encoded names and all, the empty ones left out.
   */
  public static Map<String, Set<String>> truth(ZooKeeper client) throws Exception {
    Map<String, Set<String>> queues = new TreeMap<>();
    for (String lock : client.getChildren("/lk/locks", false)) {
      try {
        Set<String> entries = new TreeSet<>(client.getChildren("/lk/locks/" + lock, false));
        if (!entries.isEmpty()) {
          queues.put(lock, entries);
        }
      } catch (KeeperException.NoNodeException reaped) {
        queues.remove(lock);
      }
    }
    return queues;
  }

  public static Map<String, Set<String>> mirror(RecordedEvents events) {
    Map<String, Set<String>> queues = new HashMap<>();
    events.mirror().forEach((lock, queue) -> queues.put(lock.encoded(), queue));
    return new TreeMap<>(queues);
  }

  @Override
  public void close() throws Exception {
    proxies.forEach(ZooKeeperProxy::close);
    stores.forEach(ZooKeeperLockStore::stop);
    for (ZooKeeper client : clients) {
      client.close();
    }
    server.close();
  }
}
