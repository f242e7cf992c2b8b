package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/**
 * One server for a test, what breaks connections to it, a client that sees the truth, and the
 * stores under test, all closed at the end, when its data go, too. A test keeps it in a field that
 * is closed automatically.
 */
public final class Ensemble implements AutoCloseable {

  public static final Duration SESSION = Duration.ofSeconds(6);

  private final Path directory;
  private final ZooKeeperProcess server;
  private final List<ZooKeeperLockStore> stores = new ArrayList<>();
  private final List<ZooKeeper> clients = new ArrayList<>();
  private final List<ZooKeeperProxy> proxies = new ArrayList<>();

  private Ensemble(Path directory, ZooKeeperProcess server) {
    this.directory = directory;
    this.server = server;
  }

  /** Starts a server. */
  public static Ensemble start() {
    return start(UnaryOperator.identity());
  }

  /** Starts a server with other settings. */
  static Ensemble start(UnaryOperator<ZooKeeperProcess.Builder> settings) {
    try {
      Path directory = Files.createTempDirectory("ensemble");
      return new Ensemble(directory, settings.apply(ZooKeeperProcess.in(directory)).start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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

  /** Returns another client of the server, which is connected. */
  public ZooKeeper client() {
    CompletableFuture<Void> connected = new CompletableFuture<>();
    try {
      ZooKeeper client =
          new ZooKeeper(
              server.connectString(),
              30_000,
              event -> {
                if (event.getState() == KeeperState.SyncConnected) {
                  connected.complete(null);
                }
              });
      clients.add(client);
      connected.orTimeout(20, TimeUnit.SECONDS).join();
      return client;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
