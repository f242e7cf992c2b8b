package io.lockkeeper.server.rpc;

import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.rpc.call.AccessRules;
import io.lockkeeper.server.rpc.call.ConnectionAge;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.Safeguards;
import io.lockkeeper.server.rpc.forward.PeerLimits;
import io.lockkeeper.server.rpc.forward.PeerSetup;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;

/**
 * The endpoint's services for a transport that the caller chooses, on the caller's threads: for
 * servers in the same process as their clients. Production uses {@link GrpcEndpoint}.
 */
public final class LocalEndpoint {

  private final GrpcServices services;

  /**
   * Prepares the services of {@code coordinator}.
   *
   * @param id the coordinator's id
   * @param dialer opens a channel to the address that a peer advertises
   * @param threads what everything is done by that neither a client's thread nor the coordinator
   *     does; ended by {@link #stop}
   */
  public LocalEndpoint(
      Coordinator coordinator,
      String id,
      Function<String, ManagedChannelBuilder<?>> dialer,
      ScheduledExecutorService threads) {
    this.services =
        new GrpcServices(
            coordinator,
            GrpcLimits.DEFAULTS,
            new PeerSetup(id, PeerLimits.DEFAULTS, dialer::apply),
            new ConnectionAge(Optional.empty(), new Random()),
            AccessRules.OPEN,
            new Safeguards(),
            threads,
            threads);
  }

  /** Adds the services to a server. */
  public void addTo(ServerBuilder<?> server) {
    var unused = services.addTo(server);
  }

  /** Begins to report health and to watch the other coordinators. Called once. */
  public void start() {
    services.start();
    services.meetPeers();
  }

  /** Tells the clients whose streams are open to come again, and ends those streams. */
  public void sendAway(String reason, Duration resumeAfter) {
    services.sendAway(reason, resumeAfter);
  }

  /** Ends the links to peers and the threads. */
  public void stop() {
    services.stopThreads();
  }
}
