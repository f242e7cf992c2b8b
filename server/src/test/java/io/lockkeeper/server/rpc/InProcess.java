package io.lockkeeper.server.rpc;

import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.lockkeeper.server.coordinator.CoordinatorInMemory;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.rpc.call.AccessRules;
import io.lockkeeper.server.rpc.call.ConnectionAge;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.Safeguards;
import io.lockkeeper.server.rpc.call.ServerLimits;
import io.lockkeeper.server.rpc.forward.PeerLimits;
import io.lockkeeper.server.rpc.forward.PeerSetup;
import io.lockkeeper.server.testing.FakeCoordinator;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** The services over the in-process transport, on a coordinator that acts when told. */
public final class InProcess implements AutoCloseable {

  static final GrpcLimits LIMITS = limits(Duration.ofSeconds(10));

  private static final PeerSetup NO_PEERS =
      new PeerSetup(
          "c-1",
          PeerLimits.DEFAULTS,
          address -> {
            throw new IllegalArgumentException("there are no peers");
          });

  public final FakeCoordinator coordinator;
  public final GrpcServices services;
  final ManagedChannel channel;
  private final Server server;
  private final Optional<CoordinatorInMemory> real;

  public InProcess() {
    this(LIMITS);
  }

  public InProcess(GrpcLimits limits) {
    this(new FakeCoordinator(), Optional.empty(), limits, AccessRules.OPEN);
  }

  /** Serves a real coordinator, which serves already, instead of the one that acts when told. */
  static InProcess onRealCoordinator() {
    return onRealCoordinator(AccessRules.OPEN);
  }

  /** The same by other rules. */
  static InProcess onRealCoordinator(AccessRules rules) {
    CoordinatorInMemory real = CoordinatorInMemory.start();
    await().until(() -> real.coordinator().status().serving());
    return new InProcess(new FakeCoordinator(), Optional.of(real), GrpcLimits.DEFAULTS, rules);
  }

  private InProcess(
      FakeCoordinator fake,
      Optional<CoordinatorInMemory> real,
      GrpcLimits limits,
      AccessRules rules) {
    this.coordinator = fake;
    this.real = real;
    this.services =
        new GrpcServices(
            real.map(CoordinatorInMemory::coordinator).orElse(fake),
            limits,
            NO_PEERS,
            new ConnectionAge(Optional.empty(), new Random(1)),
            rules,
            new Safeguards());
    String name = InProcessServerBuilder.generateName();
    try {
      this.server = services.addTo(InProcessServerBuilder.forName(name)).build().start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    services.start();
    this.channel = InProcessChannelBuilder.forName(name).build();
  }

  /** Small limits, so that tests reach them. */
  public static GrpcLimits limits(Duration openTimeout) {
    return new GrpcLimits(
        64 * 1024,
        8 * 1024,
        100,
        8,
        16,
        64 * 1024,
        4,
        2,
        openTimeout,
        Duration.ofMillis(20),
        Duration.ofMillis(1_500),
        Duration.ofSeconds(15),
        ServerLimits.ofThisProcess());
  }

  /** Returns the full names of all methods that are served, those of tools included. */
  List<String> methods() {
    return server.getServices().stream()
        .flatMap(service -> service.getMethods().stream())
        .map(method -> method.getMethodDescriptor().getFullMethodName())
        .toList();
  }

  /** Lets as much time pass as streams may be quiet before they send a heartbeat. */
  public void passQuietTime() {
    for (int second = 0; second < 10; second++) {
      services.beat();
    }
  }

  /** Returns what the real coordinator says of itself. */
  CoordinatorStatus status() {
    return real.orElseThrow().coordinator().status();
  }

  public LockServiceGrpc.LockServiceStub locks() {
    return LockServiceGrpc.newStub(channel);
  }

  LockServiceGrpc.LockServiceBlockingStub locksNow() {
    return LockServiceGrpc.newBlockingStub(channel);
  }

  LeaseServiceGrpc.LeaseServiceStub leases() {
    return LeaseServiceGrpc.newStub(channel);
  }

  LeaseServiceGrpc.LeaseServiceBlockingStub leasesNow() {
    return LeaseServiceGrpc.newBlockingStub(channel);
  }

  AdminServiceGrpc.AdminServiceBlockingStub admin() {
    return AdminServiceGrpc.newBlockingStub(channel);
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.shutdownNow();
    services.stopThreads();
    real.ifPresent(CoordinatorInMemory::close);
  }
}
