package io.lockkeeper.server.app;

import io.lockkeeper.server.coordinator.Coordinator;
import io.lockkeeper.server.coordinator.CoordinatorObserver;
import io.lockkeeper.server.coordinator.CoordinatorSettings;
import io.lockkeeper.server.coordinator.LoopCoordinator;
import io.lockkeeper.server.core.CoreSettings;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import io.lockkeeper.server.zookeeper.ZooKeeperSettings;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinator on its store: what gRPC and HTTP are the faces of. Started once and stopped once.
 */
final class Engine {

  private static final Logger log = LoggerFactory.getLogger(Engine.class);
  private static final Duration GRACE = Duration.ofSeconds(3);
  private static final int HANG_EXIT_CODE = 70;

  private final ZooKeeperLockStore store;
  private final LoopCoordinator coordinator;
  private final CompletableFuture<String> failure;
  private boolean started;

  private Engine(
      ZooKeeperLockStore store, LoopCoordinator coordinator, CompletableFuture<String> failure) {
    this.store = store;
    this.coordinator = coordinator;
    this.failure = failure;
  }

  /** Prepares; nothing is connected yet. */
  static Engine create(ServerConfig config, String id, CoordinatorObserver observer) {
    CompletableFuture<String> failure = new CompletableFuture<>();
    ZooKeeperLockStore store = new ZooKeeperLockStore(storeSettings(config, id), failure::complete);
    LoopCoordinator coordinator =
        new LoopCoordinator(store, coordinatorSettings(config), observer, Engine::halt);
    return new Engine(store, coordinator, failure);
  }

  /** Starts the loop, which connects to ZooKeeper and keeps trying. */
  void start() {
    started = true;
    coordinator.start();
  }

  /** Returns whether {@link #start} was called. */
  boolean isStarted() {
    return started;
  }

  /** Returns the coordinator. */
  Coordinator coordinator() {
    return coordinator;
  }

  /** Counts what the store does, under its own names. */
  void measure(MeterRegistry registry) {
    for (String name : store.stats().keySet()) {
      FunctionCounter.builder(
              "lockkeeper.zookeeper." + name.replace('_', '.'),
              store,
              s -> s.stats().getOrDefault(name, 0L))
          .register(registry);
    }
  }

  /** Completes with what makes the ensemble unfit to serve, for people. */
  CompletableFuture<String> failure() {
    return failure;
  }

  /**
   * Ends the loop and then the sessions, each within some seconds; nothing if it was never started.
   * Lock sessions that still own entries are left to their timeout: closing one would free locks
   * that their holders rely on.
   */
  void stop() {
    if (!started) {
      return;
    }
    try {
      coordinator.stop(GRACE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      log.atError()
          .setCause(e)
          .log("the event loop has not stopped; ending the sessions nevertheless");
    } finally {
      store.stop();
    }
  }

  /** Not {@code exit}: its hooks might wait for the loop that hangs. */
  private static void halt() {
    log.atError()
        .log("the event loop hangs: ending the process, before it keeps locks that nobody serves");
    Runtime.getRuntime().halt(HANG_EXIT_CODE);
  }

  private static ZooKeeperSettings storeSettings(ServerConfig config, String id) {
    ServerConfig.ZooKeeper zookeeper = config.zookeeper();
    return ZooKeeperSettings.of(zookeeper.connect(), id, advertised(config))
        .withRoot(zookeeper.root())
        .withLocksPath(zookeeper.locksPath())
        .withTimes(
            zookeeper.lockSessionTimeout(),
            zookeeper.memberSessionTimeout(),
            zookeeper.tickTime(),
            zookeeper.syncLimit());
  }

  private static CoordinatorSettings coordinatorSettings(ServerConfig config) {
    CoordinatorSettings defaults = CoordinatorSettings.defaults();
    CoreSettings core = defaults.core();
    return new CoordinatorSettings(
        new CoreSettings(
            config.zookeeper().tickTime(),
            config.limits().maxWaiters(),
            config.limits().maxLeases(),
            core.maxSessionPathBytes(),
            core.maxSessions(),
            core.linger(),
            core.handOffAhead(),
            config.zookeeper().memberSessionTimeout()),
        defaults.maxQueuedRequests(),
        defaults.maxWatches());
  }

  private static String advertised(ServerConfig config) {
    return config.advertise().map(HostPort::toString).orElseGet(() -> thisMachine(config));
  }

  private static String thisMachine(ServerConfig config) {
    try {
      return new HostPort(InetAddress.getLocalHost().getHostName(), config.listen().port())
          .toString();
    } catch (UnknownHostException e) {
      return config.listen().toString();
    }
  }
}
