package io.lockkeeper.server.app;

import io.lockkeeper.server.coordinator.LoopCoordinator;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.CoordinatorSettings;
import io.lockkeeper.server.coordinator.api.FatalFailure;
import io.lockkeeper.server.coordinator.api.StoreObserver;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import io.lockkeeper.server.zookeeper.client.HighestZxid;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinator on its store: what gRPC and HTTP are the faces of. Started once and stopped once.
 */
final class Engine {

  private static final Logger log = LoggerFactory.getLogger(Engine.class);
  private static final Duration MIN_LEAVE_GRACE = Duration.ofMillis(2_500);
  private static final Duration MAX_LEAVE_GRACE = Duration.ofSeconds(4);
  // A deletion that waits for what a lost bound may yet bring is due one tick later.
  private static final Duration BEYOND_TICK = Duration.ofMillis(1_500);
  private static final Duration HAND_OVER = Duration.ofMillis(2_500);
  private static final Duration GRACE = Duration.ofMillis(500);
  private static final long STORE_STOP_MILLIS = 3_000;
  private static final long MIN_STORE_STOP_MILLIS = 500;
  // Of the ten seconds that a whole stop may take, from when it began to leave.
  private static final long STORE_STOPPED_BY_MILLIS = 9_500;
  private static final long POLL_MILLIS = 20;
  private static final int HANG_EXIT_CODE = 70;
  private static final int DOUBT_EXIT_CODE = 71;

  // By `make growth`: an entry with a queue and a name of its own, held by this coordinator.
  private static final long BYTES_OF_A_MIRRORED_ENTRY = 1_200;

  private final ZooKeeperLockStore store;
  private final LoopCoordinator coordinator;
  private final CoordinatorSettings settings;
  private final CompletableFuture<String> failure;
  private final Optional<Home> home;
  private final Duration leaveGrace;
  private final AtomicInteger grpcPort;
  private boolean started;
  private long leftAtNanos = System.nanoTime();

  private Engine(
      ZooKeeperLockStore store,
      LoopCoordinator coordinator,
      CoordinatorSettings settings,
      CompletableFuture<String> failure,
      Optional<Home> home,
      Duration leaveGrace,
      AtomicInteger grpcPort) {
    this.store = store;
    this.coordinator = coordinator;
    this.settings = settings;
    this.failure = failure;
    this.home = home;
    this.leaveGrace = leaveGrace;
    this.grpcPort = grpcPort;
  }

  /**
   * Prepares; nothing is connected yet.
   *
   * @param onBreakdown what to do when the coordinator cannot go on; where it returns, {@link
   *     #failure} completes
   * @throws StartException if the data directory cannot be used
   */
  static Engine create(
      ServerConfig config,
      String id,
      CoordinatorObserver observer,
      StoreObserver storeObserver,
      Consumer<FatalFailure> onBreakdown) {
    HostPort advertised = advertised(config);
    Optional<Home> home = config.dataDir().map(Home::take);
    HighestZxid highestZxid =
        new HighestZxid(config.allowsTokenReset() ? 0 : home.map(Home::recordedZxid).orElse(0L));
    home.ifPresent(taken -> taken.recordFrom(highestZxid::get));
    if (config.allowsTokenReset()) {
      log.atWarn().log("fencing tokens may repeat, because --allow-token-reset was given");
    }
    AtomicInteger grpcPort = new AtomicInteger(advertised.port());
    Supplier<String> address = () -> new HostPort(advertised.host(), grpcPort.get()).toString();
    CompletableFuture<String> failure = new CompletableFuture<>();
    ZooKeeperLockStore store =
        new ZooKeeperLockStore(
            storeSettings(config, id, home.map(Home::id).orElse(""), address),
            failure::complete,
            storeObserver,
            highestZxid);
    CoordinatorSettings settings = coordinatorSettings(config);
    LoopCoordinator coordinator =
        new LoopCoordinator(
            store,
            settings,
            observer,
            fatal -> {
              onBreakdown.accept(fatal);
              failure.complete(inWords(fatal) + "; the log says more");
            });
    return new Engine(
        store,
        coordinator,
        settings,
        failure,
        home,
        leaveGrace(config.zookeeper().tickTime()),
        grpcPort);
  }

  /** Returns how long deletions may take to settle, given ZooKeeper's tick. */
  static Duration leaveGrace(Duration tick) {
    Duration wished = tick.plus(BEYOND_TICK);
    if (wished.compareTo(MIN_LEAVE_GRACE) < 0) {
      return MIN_LEAVE_GRACE;
    }
    return wished.compareTo(MAX_LEAVE_GRACE) > 0 ? MAX_LEAVE_GRACE : wished;
  }

  /**
   * Starts the loop, which connects to ZooKeeper and keeps trying.
   *
   * @param port where gRPC is served
   */
  void start(int port) {
    grpcPort.compareAndSet(0, port);
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

  /** Shows what the store counts, and the limits. */
  void measure(ServerMetrics metrics) {
    metrics.of(store);
    metrics.of(settings);
  }

  /** Completes with what makes the ensemble unfit to serve, human-readable. */
  CompletableFuture<String> failure() {
    return failure;
  }

  /**
   * Gives everything to the other coordinators, or to whoever starts next: takes no new leases,
   * lets owed deletions settle, and drops the lock sessions without closing them, so that they can
   * be adopted with all that they own. Returns when that is so, after some seconds at the latest.
   * Nothing if it was never started.
   */
  void leave() {
    if (!started) {
      return;
    }
    leftAtNanos = System.nanoTime();
    try {
      coordinator.leave(leaveGrace);
      awaitNoLeases();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      log.atError().setCause(e).log("leaving has failed; peers find out by themselves");
    }
  }

  /** Streams are sent away when their sessions have been dropped, and not before. */
  private void awaitNoLeases() {
    long deadline = System.nanoTime() + HAND_OVER.toNanos();
    Executor later = CompletableFuture.delayedExecutor(POLL_MILLIS, TimeUnit.MILLISECONDS);
    while (coordinator.status().leases() > 0 && System.nanoTime() - deadline < 0) {
      CompletableFuture.runAsync(() -> {}, later).join();
    }
  }

  /**
   * Ends the loop and then the sessions, each within some seconds. Lock sessions that still own
   * entries are left to their timeout: closing one would free locks that their holders rely on.
   * Where the state is in doubt, nobody knows which those are, and so all are.
   */
  void stop() {
    boolean ended = !started;
    if (started) {
      stopLoop();
      ended = stopStore();
    }
    if (ended) {
      home.ifPresent(Home::close);
    } else {
      // Whoever takes the home believes that nothing of us is left.
      log.atWarn().log("ZooKeeper sessions have not ended in time; the home stays ours until exit");
    }
  }

  private void stopLoop() {
    try {
      coordinator.stop(GRACE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      log.atError()
          .setCause(e)
          .log("the event loop has not stopped; ending the sessions nevertheless");
    }
  }

  private boolean stopStore() {
    Runnable stop = coordinator.hasFailed() ? store::abandon : store::stop;
    Thread stopping = new Thread(stop, "lockkeeper-store-stop");
    stopping.setDaemon(true);
    stopping.start();
    try {
      long gone = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - leftAtNanos);
      long left = Math.min(STORE_STOP_MILLIS, STORE_STOPPED_BY_MILLIS - gone);
      stopping.join(Math.max(MIN_STORE_STOP_MILLIS, left));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return !stopping.isAlive();
  }

  /**
   * Ends the process, before it keeps locks that nobody serves. Not by {@code exit}: its hooks
   * might wait for the loop that does nothing, and nothing must close a session.
   */
  static void halt(FatalFailure fatal) {
    try {
      log.atError().log("ending the process: {}", inWords(fatal));
    } finally {
      Runtime.getRuntime().halt(exitCode(fatal));
    }
  }

  private static int exitCode(FatalFailure fatal) {
    return switch (fatal) {
      case HANGING -> HANG_EXIT_CODE;
      case STATE_IN_DOUBT -> DOUBT_EXIT_CODE;
    };
  }

  private static String inWords(FatalFailure fatal) {
    return switch (fatal) {
      case HANGING -> "the event loop hangs";
      case STATE_IN_DOUBT -> "the coordinator's state is in doubt";
    };
  }

  private static ZooKeeperSettings storeSettings(
      ServerConfig config, String id, String home, Supplier<String> address) {
    ServerConfig.ZooKeeper zookeeper = config.zookeeper();
    return ZooKeeperSettings.of(zookeeper.connect(), id, address)
        .withRoot(zookeeper.root())
        .withLocksPath(zookeeper.locksPath())
        .withHome(home)
        .withAccess(zookeeper.access())
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
            core.maxLeaseEntryBytes(),
            core.maxEntryBytes(),
            mirrorEntries(Runtime.getRuntime().maxMemory()),
            mirrorNameBytes(Runtime.getRuntime().maxMemory()),
            core.linger(),
            core.handOffAhead(),
            config.zookeeper().memberSessionTimeout()),
        defaults.maxQueuedRequests(),
        defaults.maxWatches());
  }

  /**
   * Half of the heap may be filled with entries: the other half is for all else, and for bursts.
   */
  static int mirrorEntries(long heapBytes) {
    return (int) Math.min(Integer.MAX_VALUE, heapBytes / 2 / BYTES_OF_A_MIRRORED_ENTRY);
  }

  /** A name takes several times as much memory in the mirror as in ZooKeeper's list. */
  static long mirrorNameBytes(long heapBytes) {
    return Math.min(CoreSettings.defaults().maxMirrorNameBytes(), heapBytes / 16);
  }

  /**
   * Returns the address for the other coordinators; port 0 stands for the port that the system
   * chooses.
   *
   * @throws ConfigException if there is none that they could use
   */
  static HostPort advertised(ServerConfig config) {
    return config.advertise().orElseGet(() -> thisMachine(config.listen()));
  }

  /** An address that is listened on alone is the one to tell; a wildcard is none. */
  private static HostPort thisMachine(HostPort listen) {
    try {
      HostPort address =
          listen.isWildcard()
              ? new HostPort(InetAddress.getLocalHost().getHostName(), listen.port())
              : listen;
      address
          .whyNotReachable()
          .ifPresent(
              why -> {
                throw noDefault(why);
              });
      return address;
    } catch (UnknownHostException e) {
      throw noDefault("the name of this machine cannot be resolved: " + e.getMessage());
    }
  }

  private static ConfigException noDefault(String why) {
    return new ConfigException(
        Setting.ADVERTISE.flag()
            + ": give the address at which the other coordinators reach this one, because there is no default: "
            + why);
  }
}
