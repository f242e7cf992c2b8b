package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.rpc.call.AccessRules;
import io.lockkeeper.server.rpc.call.ConnectionAge;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.rpc.call.Safeguards;
import io.lockkeeper.server.rpc.forward.PeerLimits;
import io.lockkeeper.server.rpc.forward.PeerSetup;
import io.lockkeeper.server.testing.FakeCoordinator;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** One of several endpoints on ports of this machine, on a coordinator that acts when told. */
public final class Node implements AutoCloseable {

  /** Impatient enough for tests, and no more. */
  public static final PeerLimits LIMITS =
      new PeerLimits(
          Duration.ofSeconds(20),
          Duration.ofMillis(10),
          100,
          Duration.ofMillis(200),
          Duration.ofMillis(400));

  public final FakeCoordinator coordinator = new FakeCoordinator();
  public final GrpcServices services;
  public final ManagedChannel channel;
  private final Server server;
  private final String id;

  private Node(String id, PeerLimits limits) {
    this.id = id;
    this.services =
        new GrpcServices(
            coordinator,
            InProcess.LIMITS,
            new PeerSetup(id, limits, dialer()),
            new ConnectionAge(Optional.empty(), new Random(1)),
            AccessRules.OPEN,
            new Safeguards());
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try {
      this.server = services.addTo(NettyServerBuilder.forAddress(address)).build().start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    services.start();
    services.meetPeers();
    this.channel =
        NettyChannelBuilder.forAddress(server.getListenSockets().get(0)).usePlaintext().build();
  }

  private static PeerSetup.Dialer dialer() {
    try {
      return PeerCredentials.dialer(Optional.empty());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static Node start(String id) {
    return start(id, LIMITS);
  }

  static Node start(String id, PeerLimits limits) {
    return new Node(id, limits);
  }

  public Peer peer() {
    return new Peer(id, "127.0.0.1:" + server.getPort());
  }

  /** Says that the leases that this one does not serve are served by another. */
  public void knows(Node other) {
    coordinator.servedBy(new LeaseLocation.At(other.peer()));
  }

  LockServiceGrpc.LockServiceStub locks() {
    return LockServiceGrpc.newStub(channel);
  }

  /** Returns what it has counted. */
  public RpcStats stats() {
    return services.stats();
  }

  LeaseServiceGrpc.LeaseServiceStub leases() {
    return LeaseServiceGrpc.newStub(channel);
  }

  /** Breaks all connections off and closes the port, as the end of a process does. */
  public void die() {
    server.shutdownNow();
  }

  @Override
  public void close() {
    channel.shutdownNow();
    die();
    try {
      assertThat(server.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    services.stopThreads();
  }
}
