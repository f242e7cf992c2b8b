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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * A ZooKeeper server for one test, proxies that break connections to it, clients that read and
 * write the nodes directly, and the stores under test. Closing it closes all of them. A test keeps
 * it in a field that is closed automatically.
 *
 * <p>{@link #shared} suits every test that only needs nodes of its own. A test that stops or
 * configures the server, or reads a count of the whole server, needs an {@link #own} one.
 *
 * <p>Stores and clients of an ensemble have a chroot in common: to a client the root of the stores
 * is always {@value #ROOT}.
 */
public final class Ensemble implements AutoCloseable {

  /** Long enough that no session of a starved process expires. */
  public static final Duration SESSION = Duration.ofSeconds(20);

  private static final Duration MEMBER_SESSION = Duration.ofSeconds(10);

  private static final String ROOT = "/lk";
  private static final AtomicInteger CHROOTS = new AtomicInteger();

  private final Server running;
  private final String chroot;
  private final boolean isShared;
  private final List<ZooKeeperLockStore> stores = new ArrayList<>();
  private final List<ZooKeeper> clients = new ArrayList<>();
  private final List<ZooKeeperProxy> proxies = new ArrayList<>();

  private Ensemble(Server running, String chroot, boolean isShared) {
    this.running = running;
    this.chroot = chroot;
    this.isShared = isShared;
  }

  /** A server process and the directory with its data. */
  private record Server(Path directory, ZooKeeperProcess process) {

    static Server start(UnaryOperator<ZooKeeperProcess.Builder> settings) {
      try {
        Path directory = Files.createTempDirectory("ensemble");
        return new Server(directory, settings.apply(ZooKeeperProcess.in(directory)).start());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void stopAndDelete() {
      process.close();
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** The server of all shared ensembles of this JVM. It runs until the JVM ends. */
  private static final class SharedServer {
    private static final Server INSTANCE = start();

    private static Server start() {
      // It lives so long that ZooKeeper would delete empty containers under a running test.
      Server server = Server.start(settings -> settings.containersReapedEvery(Duration.ofDays(1)));
      Runtime.getRuntime().addShutdownHook(new Thread(server::stopAndDelete));
      return server;
    }
  }

  /** Returns an ensemble with nodes of its own on the server that the tests of this JVM share. */
  public static Ensemble shared() {
    String chroot = "/test-" + CHROOTS.incrementAndGet();
    try (ZooKeeper client = connect(SharedServer.INSTANCE.process().connectString())) {
      client.create(chroot, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    } catch (KeeperException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    return new Ensemble(SharedServer.INSTANCE, chroot, true);
  }

  /** Starts a server for this test alone, which the test can stop, pause and restart. */
  public static Ensemble own() {
    return own(UnaryOperator.identity());
  }

  /** Starts a server for this test alone, with other settings. */
  static Ensemble own(UnaryOperator<ZooKeeperProcess.Builder> settings) {
    return new Ensemble(Server.start(settings), "", false);
  }

  /** Returns the server. Nothing but an {@link #own} one may be stopped, paused or restarted. */
  public ZooKeeperProcess server() {
    return running.process();
  }

  /** Returns the absolute path of a node that the clients of this ensemble know as {@code path}. */
  public String absolute(String path) {
    return chroot + path;
  }

  /** Returns another proxy of the server. Its faults end before the stores are stopped. */
  public ZooKeeperProxy proxy() {
    ZooKeeperProxy proxy = new ZooKeeperProxy(server().port());
    proxies.add(proxy);
    return proxy;
  }

  /** Returns the settings of a store on a server that belongs to no ensemble. */
  static ZooKeeperSettings standalone(String connect, String id) {
    return ZooKeeperSettings.of(connect, id, "127.0.0.1:7420")
        .withRoot(ROOT)
        .withTimes(SESSION, MEMBER_SESSION, Duration.ofMillis(200), 5);
  }

  /** Returns the settings of a store that connects to the server directly. */
  public ZooKeeperSettings settings(String id) {
    return settings(server().connectString(), id);
  }

  /** Returns the settings of a store that connects through proxies. */
  public ZooKeeperSettings settings(String connect, String id) {
    return standalone(connect, id).withRoot(absolute(ROOT));
  }

  ZooKeeperLockStore store(RecordedEvents events) {
    return store("c1", events);
  }

  public ZooKeeperLockStore store(String id, RecordedEvents events) {
    return store(settings(id), events);
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

  /** Like {@link #settings(String)}, with short timeouts: for tests in which sessions expire. */
  public ZooKeeperSettings brief(String id) {
    return brief(server().connectString(), id);
  }

  /** Like {@link #settings(String, String)}, with short timeouts. */
  public ZooKeeperSettings brief(String connect, String id) {
    return settings(connect, id)
        .withTimes(Duration.ofSeconds(4), Duration.ofSeconds(2), Duration.ofMillis(200), 5);
  }

  /** Returns another connected client, whose chroot is that of this ensemble. */
  public ZooKeeper client() {
    ZooKeeper client = connect(server().connectString() + chroot);
    clients.add(client);
    return client;
  }

  private static ZooKeeper connect(String connectString) {
    CompletableFuture<Void> connected = new CompletableFuture<>();
    try {
      ZooKeeper client =
          new ZooKeeper(
              connectString,
              30_000,
              event -> {
                if (event.getState() == KeeperState.SyncConnected) {
                  connected.complete(null);
                }
              });
      connected.orTimeout(60, TimeUnit.SECONDS).join();
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
    for (String lock : client.getChildren(ROOT + "/locks", false)) {
      try {
        Set<String> entries = new TreeSet<>(client.getChildren(ROOT + "/locks/" + lock, false));
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
    // A store that reaches the server stops at once; any other waits for it until a time limit.
    proxies.forEach(ZooKeeperProxy::heal);
    stores.forEach(ZooKeeperLockStore::stop);
    for (ZooKeeper client : clients) {
      client.close();
    }
    proxies.forEach(ZooKeeperProxy::close);
    if (!isShared) {
      running.stopAndDelete();
    }
  }
}
