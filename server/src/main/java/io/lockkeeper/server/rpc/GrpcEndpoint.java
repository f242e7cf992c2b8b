package io.lockkeeper.server.rpc;

import io.grpc.Channel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.rpc.call.AccessRules;
import io.lockkeeper.server.rpc.call.ConnectionAge;
import io.lockkeeper.server.rpc.call.ConnectionGate;
import io.lockkeeper.server.rpc.call.ConnectionIdentity;
import io.lockkeeper.server.rpc.call.Limit;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.rpc.call.Safeguards;
import io.lockkeeper.server.rpc.call.TraceHeader;
import io.lockkeeper.server.rpc.forward.PeerLimits;
import io.lockkeeper.server.rpc.forward.PeerSetup;
import io.lockkeeper.server.rpc.wire.Causes;
import io.lockkeeper.server.security.Identity;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinator's gRPC endpoint: a listening server with all services. Started once and stopped
 * once.
 */
public final class GrpcEndpoint {

  private static final Logger LOG = LoggerFactory.getLogger(GrpcEndpoint.class);
  private static final Duration AFTER_GRACE = Duration.ofSeconds(1);

  private final GrpcSettings settings;
  private final Transport transport = new Transport();
  private final LazyDialer dialer = new LazyDialer();
  private final Safeguards safeguards = new Safeguards();
  private final ConnectionGate gate;
  private final ConnectionAge age;
  private final GrpcServices services;
  private final InProcessEndpoint inProcess;
  private volatile Optional<Server> server = Optional.empty();

  /** Prepares an endpoint of {@code coordinator} that is open to all; nothing listens yet. */
  public GrpcEndpoint(GrpcSettings settings, Coordinator coordinator) {
    this(settings, coordinator, AccessRules.OPEN);
  }

  /**
   * Prepares an endpoint of {@code coordinator}; nothing listens yet.
   *
   * @param rules by what callers are let in
   */
  public GrpcEndpoint(GrpcSettings settings, Coordinator coordinator, AccessRules rules) {
    this.settings = settings;
    this.age = new ConnectionAge(settings.maxConnectionAge(), new Random());
    this.gate = new ConnectionGate(settings.limits().server(), safeguards);
    this.services =
        new GrpcServices(
            coordinator,
            settings.limits(),
            new PeerSetup(settings.coordinatorId(), PeerLimits.DEFAULTS, dialer),
            age,
            rules,
            safeguards);
    this.inProcess = new InProcessEndpoint(services, settings.coordinatorId(), age);
  }

  /**
   * Returns a channel to the services for a visitor who comes over HTTP: he is known, and limited,
   * as if he called over gRPC. A call that is cancelled counts as one whose connection broke.
   *
   * @param address where he comes from
   * @param certified whom his certificate names, if he has shown one
   * @param token his bearer token, which counts before the certificate
   */
  public Channel visitor(
      InetSocketAddress address, Optional<Identity> certified, Optional<String> token) {
    return inProcess.channel(address, certified, token);
  }

  /** Prepares TLS when the endpoint starts, where an error has somewhere to go. */
  private static final class LazyDialer implements PeerSetup.Dialer {
    private volatile Optional<PeerSetup.Dialer> ready = Optional.empty();

    @Override
    public ManagedChannelBuilder<?> dial(String address) {
      return ready.orElseThrow(() -> new IllegalStateException("not started")).dial(address);
    }
  }

  /**
   * Listens and serves.
   *
   * @throws IOException if the address cannot be listened on, or TLS cannot be spoken; the message
   *     says which
   */
  public void start() throws IOException {
    TransportLog.install();
    InetSocketAddress address = new InetSocketAddress(settings.host(), settings.port());
    try {
      if (address.isUnresolved()) {
        throw new IOException("unknown host");
      }
      ServerCredentials credentials = Credentials.of(settings.tls());
      PeerSetup.Dialer peers = PeerCredentials.dialer(settings.tls());
      dialer.ready = Optional.of(peer -> transport.share(peers.dial(peer)));
      NettyServerBuilder builder = NettyServerBuilder.forAddress(address, credentials);
      settings
          .tls()
          .ifPresent(tls -> builder.addTransportFilter(new ConnectionIdentity(tls.files())));
      if (settings.traced()) {
        builder.intercept(TraceHeader.reader());
      }
      Server started = services.addTo(limited(builder)).build().start();
      server = Optional.of(started);
      inProcess.start();
      services.start();
      LOG.atInfo()
          .addKeyValue("address", settings.host() + ":" + started.getPort())
          .addKeyValue("tls", settings.tls().isPresent())
          .log("gRPC endpoint listens");
    } catch (IOException | IllegalArgumentException e) {
      server.ifPresent(Server::shutdownNow);
      inProcess.stop();
      services.stopThreads();
      transport.close();
      throw new IOException(
          "cannot listen for gRPC on "
              + settings.host()
              + ":"
              + settings.port()
              + ": "
              + Causes.inWords(e),
          e);
    }
  }

  private NettyServerBuilder limited(NettyServerBuilder builder) {
    age.ofTransport()
        .ifPresent(max -> builder.maxConnectionAge(max.toNanos(), TimeUnit.NANOSECONDS));
    return transport.setUp(builder, settings.limits(), gate);
  }

  /** Begins to watch the other coordinators. Called once, when the coordinator runs. */
  public void meetPeers() {
    services.meetPeers();
  }

  /** Returns how often something was refused at the limit. May be called on any thread. */
  public long refused(Limit limit) {
    return safeguards.refusals().of(limit);
  }

  /** Returns how many connections are open. May be called on any thread. */
  public int connections() {
    return gate.open();
  }

  /** Returns how many calls are open. May be called on any thread. */
  public int calls() {
    return services.openCalls();
  }

  /** Returns in words why the endpoint cannot serve, if it cannot. May be called on any thread. */
  public Optional<String> impediment() {
    return safeguards.alarm().impediment(System.nanoTime());
  }

  /** Returns what the endpoint has counted so far. May be called on any thread. */
  public RpcStats stats() {
    return services.stats();
  }

  /**
   * Returns the port that is listened on.
   *
   * @throws IllegalStateException if the endpoint has not been started
   */
  public int port() {
    return server.orElseThrow(() -> new IllegalStateException("not started")).getPort();
  }

  /** Says NOT_SERVING from now on to whoever looks at health; nothing else changes. Idempotent. */
  public void drain() {
    services.drain();
  }

  /**
   * Stops: health turns NOT_SERVING, every stream is told and ended, then the server shuts down.
   * Returns when it has, after {@code grace} and two seconds at the latest. Idempotent.
   */
  public void stop(Duration grace) {
    services.goAway(reason());
    server.ifPresent(running -> shutDown(running, grace));
    inProcess.stop();
    services.stopThreads();
    transport.close();
  }

  private String reason() {
    return "coordinator " + settings.coordinatorId() + " is stopping";
  }

  private void shutDown(Server running, Duration grace) {
    running.shutdown();
    try {
      if (!running.awaitTermination(grace.toMillis(), TimeUnit.MILLISECONDS)) {
        services.endCalls(reason());
      }
      if (!running.awaitTermination(AFTER_GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
        running.shutdownNow();
        if (!running.awaitTermination(AFTER_GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
          LOG.atWarn().log("gRPC endpoint has not stopped in time");
        }
      }
    } catch (InterruptedException e) {
      running.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
