package io.lockkeeper.server.app;

import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.FatalFailure;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.rpc.GrpcEndpoint;
import io.lockkeeper.server.rpc.GrpcSettings;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.wire.ServerVersion;
import io.lockkeeper.server.trace.Traces;
import io.lockkeeper.server.web.EventCounters;
import io.lockkeeper.server.web.HttpEndpoint;
import io.lockkeeper.server.web.HttpSettings;
import io.lockkeeper.server.web.StoreMeters;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A whole coordinator: the store on ZooKeeper, the event loop, gRPC and HTTP. Started once and
 * stopped once.
 *
 * <p>Starting needs no ZooKeeper: while it is out of reach the server keeps trying, and its health
 * says NOT_SERVING.
 */
public final class LockkeeperServer implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(LockkeeperServer.class);
  private static final Duration RPC_GRACE = Duration.ofSeconds(1);
  private static final long POLL_MILLIS = 50;

  private final Engine engine;
  private final GrpcEndpoint grpc;
  private final HttpEndpoint http;
  private final Protection protection;
  private final Optional<Traces> traces;
  private final AtomicBoolean stopped = new AtomicBoolean();

  private LockkeeperServer(
      Engine engine,
      GrpcEndpoint grpc,
      HttpEndpoint http,
      Protection protection,
      Optional<Traces> traces) {
    this.engine = engine;
    this.grpc = grpc;
    this.http = http;
    this.protection = protection;
    this.traces = traces;
  }

  /**
   * Starts a coordinator that has its process to itself: where it cannot go on, it halts the
   * process. Returns when both endpoints listen, whether or not ZooKeeper is there.
   *
   * @throws StartException if an address cannot be listened on, or a file cannot be used
   */
  public static LockkeeperServer start(ServerConfig config) {
    return start(config, Engine::halt);
  }

  /**
   * Starts a coordinator in somebody's process, as {@link #start(ServerConfig)} does.
   *
   * @param onBreakdown what to do when it cannot go on. Where that returns, health says
   *     NOT_SERVING, whoever waits is refused with UNAVAILABLE, and {@link #failure} completes: the
   *     server should then be stopped, which closes no ZooKeeper session
   * @throws StartException if an address cannot be listened on, or a file cannot be used
   */
  public static LockkeeperServer start(ServerConfig config, Consumer<FatalFailure> onBreakdown) {
    String id = CoordinatorId.make();
    log.atInfo()
        .addKeyValue("version", ServerVersion.text())
        .addKeyValue("coordinator", id)
        .addKeyValue("settings", given(config))
        .log("coordinator starts");
    Protection protection = Protection.open(config);
    protection.warnOfOpenDoors();
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    // Prometheus has other units and suffixes for them; the share of the processors is there too.
    registry
        .config()
        .meterFilter(MeterFilter.denyNameStartsWith("system.cpu.count"))
        .meterFilter(MeterFilter.denyNameStartsWith("process.cpu.time"));
    Optional<Traces> traces =
        config.traces().map(endpoint -> Traces.to(endpoint, id, ServerVersion.text()));
    CoordinatorObserver counters = new EventCounters(registry);
    CoordinatorObserver observer = traces.map(counters::and).orElse(counters);
    Engine engine = Engine.create(config, id, observer, new StoreMeters(registry), onBreakdown);
    GrpcSettings settings = grpcSettings(config, protection.ofGrpc(), id);
    GrpcEndpoint grpc = new GrpcEndpoint(settings, engine.coordinator(), protection.rules());
    ServerMetrics metrics = new ServerMetrics(registry);
    metrics.build();
    engine.measure(metrics);
    metrics.of(grpc);
    metrics.of(settings.limits().server());
    LockkeeperServer server =
        new LockkeeperServer(
            engine,
            grpc,
            new HttpEndpoint(
                httpSettings(config, protection),
                engine.coordinator(),
                registry,
                grpc::impediment,
                caller -> grpc.visitor(caller.address(), caller.certified(), caller.bearerToken())),
            protection,
            traces);
    protection.start(registry);
    try {
      server.listen();
    } catch (IOException e) {
      server.stop();
      throw new StartException(String.valueOf(e.getMessage()), e);
    } catch (RuntimeException e) {
      server.stop();
      throw e;
    }
    return server;
  }

  private static Map<String, String> given(ServerConfig config) {
    Map<String, String> given = new LinkedHashMap<>();
    config.effective().stream()
        .filter(setting -> !setting.value().isEmpty())
        .forEach(setting -> given.put(setting.setting().key(), setting.value()));
    return given;
  }

  /**
   * The endpoints come first: a port in use must not cost ZooKeeper a session, and health is asked
   * from the start.
   */
  private void listen() throws IOException {
    http.start();
    grpc.start();
    engine.start(grpc.port());
    grpc.meetPeers();
  }

  /**
   * Reads the files of TLS, policy, tokens and keys again at once, and not within seconds as ever.
   *
   * @return what is wrong with them, human-readable; what was read before stays in force there
   */
  public List<String> readFiles() {
    return protection.readNow();
  }

  /** Returns the port that gRPC is served on. */
  public int grpcPort() {
    return grpc.port();
  }

  /** Returns the port that HTTP is served on. */
  public int httpPort() {
    return http.port();
  }

  /** Completes with a human-readable line if the server cannot go on; it should then be stopped. */
  public CompletableFuture<String> failure() {
    return engine.failure();
  }

  /**
   * Waits until requests for locks can be served.
   *
   * @return whether they can, within {@code limit}
   */
  public boolean awaitServing(Duration limit) {
    long deadline = System.nanoTime() + limit.toNanos();
    Executor later = CompletableFuture.delayedExecutor(POLL_MILLIS, TimeUnit.MILLISECONDS);
    while (!engine.coordinator().status().serving()) {
      if (System.nanoTime() - deadline > 0 || failure().isDone() || stopped.get()) {
        return false;
      }
      CompletableFuture.runAsync(() -> {}, later).join();
    }
    return true;
  }

  /**
   * Stops, in this order, each step bounded, all of it in less than ten seconds:
   *
   * <ol>
   *   <li>health says NOT_SERVING, so that balancers send nobody here any more;
   *   <li>the coordinator leaves: no new leases, deletions settle, lock sessions are dropped and
   *       not closed, the member record goes. Session streams are sent away as their sessions are
   *       dropped; peers adopt these, and forwarded requests find them there;
   *   <li>all other streams are told to come again elsewhere, and the endpoint ends;
   *   <li>the loop ends, then what is left of the store, then HTTP, which tells of all this so far.
   * </ol>
   *
   * <p>Where there is no peer, the next one to start adopts: with the same data directory at once,
   * otherwise when ZooKeeper no longer lists this one as a member, which is at once too unless this
   * process is killed. That holds for {@code dev} as well: its ZooKeeper keeps sessions over a
   * restart. Idempotent.
   */
  public void stop() {
    if (!stopped.compareAndSet(false, true)) {
      return;
    }
    boolean wasUp = engine.isStarted();
    if (wasUp) {
      log.atInfo().log("stopping");
    }
    grpc.drain();
    engine.leave();
    grpc.stop(RPC_GRACE);
    engine.stop();
    http.stop();
    traces.ifPresent(Traces::close);
    protection.close();
    if (wasUp) {
      log.atInfo().log("stopped");
    }
  }

  /** Same as {@link #stop}. */
  @Override
  public void close() {
    stop();
  }

  private static GrpcSettings grpcSettings(
      ServerConfig config, Optional<GrpcSettings.Tls> tls, String id) {
    return new GrpcSettings(
        config.listen().host(),
        config.listen().port(),
        tls,
        id,
        GrpcLimits.DEFAULTS.withDefaultTtl(config.limits().defaultLeaseTtl()),
        config.limits().maxConnectionAge(),
        config.traces().isPresent());
  }

  private static HttpSettings httpSettings(ServerConfig config, Protection protection) {
    return new HttpSettings(
        config.http().host(),
        config.http().port(),
        config.http().isLoopback(),
        config.advertise().map(HostPort::host),
        ServerVersion.text(),
        CoreSettings.defaults().maxSessionPathBytes(),
        protection.opensPages(),
        protection.pages());
  }
}
