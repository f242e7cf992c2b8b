package io.lockkeeper.integration.failover;

import com.google.protobuf.util.Durations;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.RenewLeaseRequest;
import io.lockkeeper.v1.RenewLeaseResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Coordinators in front of an ensemble, all processes of their own. Registered as the extension of
 * a test class, it is restored before each test and closed after the last one, unless it is shared.
 */
public final class Cluster
    implements AutoCloseable, BeforeEachCallback, AfterEachCallback, AfterAllCallback {

  private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);

  /** By how much more a renewal vouches, at least, if the session was proved since. */
  private static final long PROVED_NANOS = 100_000_000;

  private static final long ANSWER_SECONDS = 60;

  private static Optional<Cluster> shared = Optional.empty();

  private final Plan plan;
  private final Ensemble ensemble;
  private final List<List<ByteProxy>> wires = new ArrayList<>();
  private final List<ByteProxy> doors = new ArrayList<>();
  private final List<Seat> seats = new ArrayList<>();
  private final List<ManagedChannel> channels = new ArrayList<>();
  private final Znodes znodes;

  /**
   * What a cluster is made of.
   *
   * @param zookeepers 1 or 3
   * @param coordinators how many
   * @param dataDirectories whether each coordinator has a data directory
   * @param doors whether peers find each coordinator behind a proxy of its own only
   */
  public record Plan(
      Pace pace, int zookeepers, int coordinators, boolean dataDirectories, boolean doors) {

    /** Returns a cluster on one quick ZooKeeper. */
    public static Plan quick(int coordinators) {
      return new Plan(Pace.QUICK, 1, coordinators, true, false);
    }

    /** Returns the same with coordinators that keep nothing on disk. */
    Plan withoutDataDirectories() {
      return new Plan(pace, zookeepers, coordinators, false, doors);
    }

    /** Returns the same on so many ZooKeepers. */
    Plan onZooKeepers(int count) {
      return new Plan(pace, count, coordinators, dataDirectories, doors);
    }

    /** Returns the same with proxies between the coordinators. */
    Plan withDoors() {
      return new Plan(pace, zookeepers, coordinators, dataDirectories, true);
    }
  }

  private Cluster(Plan plan, Ensemble ensemble) {
    this.plan = plan;
    this.ensemble = ensemble;
    for (int i = 0; i < plan.coordinators(); i++) {
      seats.add(seat());
    }
    this.znodes = Znodes.at(ensemble.connectString());
  }

  /**
   * Returns the cluster that all test classes with the same plan use one after the other. It ends
   * with the JVM, or when a class asks for another plan: only one is alive at a time.
   */
  public static synchronized Cluster shared(Plan plan) {
    if (shared.isEmpty() || !shared.get().plan.equals(plan)) {
      shared.ifPresent(Cluster::close);
      shared = Optional.empty();
      shared = Optional.of(start(plan));
    }
    return shared.get();
  }

  private static synchronized boolean isShared(Cluster cluster) {
    return shared.filter(each -> each == cluster).isPresent();
  }

  /** Starts everything, and returns when every coordinator serves. */
  public static Cluster start(Plan plan) {
    return start(plan, Ensemble.start(plan.zookeepers(), plan.pace()));
  }

  /** Starts coordinators on an ensemble, which is closed with them. */
  static Cluster start(Plan plan, Ensemble ensemble) {
    return start(plan, ensemble, index -> Map.of());
  }

  /** Like {@link #start(Plan, Ensemble)}, each coordinator in an environment of its own. */
  public static Cluster start(
      Plan plan, Ensemble ensemble, IntFunction<Map<String, String>> environments) {
    Cluster cluster = new Cluster(plan, ensemble);
    try {
      for (int i = 0; i < plan.coordinators(); i++) {
        cluster.seat(i).launch(environments.apply(i));
      }
      cluster.awaitServing();
      return cluster;
    } catch (RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  private Seat seat() {
    int port = Ports.free();
    List<ByteProxy> wire =
        ensemble.servers().stream().map(server -> ByteProxy.to(server.port())).toList();
    wires.add(wire);
    List<String> flags = new ArrayList<>(plan.pace().flags());
    if (plan.doors()) {
      ByteProxy door = ByteProxy.to(port);
      doors.add(door);
      flags.add("--advertise=" + door.address());
    } else {
      flags.add("--advertise=127.0.0.1:" + port);
    }
    if (plan.dataDirectories()) {
      flags.add("--data-dir=" + Scratch.directory("home"));
    }
    String connect = wire.stream().map(ByteProxy::address).collect(Collectors.joining(","));
    return new Seat(port, connect, flags);
  }

  /** Returns the pace. */
  public Pace pace() {
    return plan.pace();
  }

  /** Returns the ensemble. */
  public Ensemble ensemble() {
    return ensemble;
  }

  /** Returns a ZooKeeper that is alone. */
  ZooKeeperProcess zookeeper() {
    return ensemble.servers().get(0);
  }

  /** Returns the places of all coordinators. */
  public List<Seat> seats() {
    return seats;
  }

  /** Returns one of them. */
  public Seat seat(int index) {
    return seats.get(index);
  }

  /** Returns the connections of one coordinator to ZooKeeper. */
  public List<ByteProxy> wires(int index) {
    return wires.get(index);
  }

  /** Returns what peers of one coordinator connect to, where there are doors. */
  ByteProxy door(int index) {
    return doors.get(index);
  }

  /** Looks at ZooKeeper itself. */
  Znodes znodes() {
    return znodes;
  }

  /** Returns the path of the only entry in a lock's queue. */
  String entryOf(String lock) {
    List<String> entries = znodes.entries(lock);
    if (entries.size() != 1) {
      throw new AssertionError("not one entry of " + lock + ": " + entries);
    }
    return pathOf(lock, entries.get(0));
  }

  /** Returns the path of an entry. */
  String pathOf(String lock, String entry) {
    return Znodes.directory(lock) + "/" + entry;
  }

  /** Returns the addresses of all coordinators, separated by commas. */
  public String addresses() {
    return seats.stream().map(Seat::address).collect(Collectors.joining(","));
  }

  /**
   * Opens a lease, and waits until a renewal vouches for longer; false: a peer has taken it over.
   */
  private static boolean isProvedSinceALeaseWasOpened(
      LeaseServiceGrpc.LeaseServiceBlockingStub leases) {
    OpenLeaseResponse lease = leases.openLease(OpenLeaseRequest.getDefaultInstance());
    long firstUntil = System.nanoTime() + Durations.toNanos(lease.getValidFor());
    RenewLeaseRequest renewal =
        RenewLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build();
    RenewLeaseResponse renewed;
    do {
      Pace.letPass(Duration.ofMillis(50));
      renewed = leases.renewLease(renewal); // Throws when its deadline has passed.
      if (!renewed.getCoordinatorId().equals(lease.getCoordinatorId())) {
        return false;
      }
    } while (System.nanoTime() + Durations.toNanos(renewed.getValidFor())
        < firstUntil + PROVED_NANOS);
    return leases
        .closeLease(CloseLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build())
        .isInitialized();
  }

  /**
   * Resumes or starts all processes, heals all proxies, and waits until every coordinator serves.
   */
  public void restore() {
    ensemble.restore();
    wires.forEach(wire -> wire.forEach(ByteProxy::heal));
    doors.forEach(ByteProxy::heal);
    seats.stream().filter(Seat::isAlive).forEach(seat -> seat.process().resume());
    seats.stream().filter(seat -> !seat.isAlive()).forEach(Seat::launch);
    awaitServing();
  }

  /** Waits until every coordinator serves. */
  public void awaitServing() {
    seats.forEach(Seat::awaitServing);
    // Healthy is also who is about to lose its only session to a peer, and to open another: a lease
    // on that one would move.
    for (int i = 0; i < seats.size(); i++) {
      LeaseServiceGrpc.LeaseServiceBlockingStub leases =
          LeaseServiceGrpc.newBlockingStub(connect(i))
              .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS);
      Awaitility.await("a lease on a session that is proved alive")
          .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
          .until(() -> isProvedSinceALeaseWasOpened(leases));
    }
  }

  /** Returns a new connection to a coordinator; it lasts until the end of the test. */
  public ManagedChannel connect(int index) {
    return connectTo(seats.get(index).port());
  }

  /** Returns a new connection to a port of this machine; it lasts until the end of the test. */
  synchronized ManagedChannel connectTo(int port) {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    channels.add(channel);
    return channel;
  }

  /** Returns a client that knows all coordinators. */
  public LockkeeperClient client(Duration ttl) {
    return LockkeeperClient.builder(addresses())
        .ttl(ttl)
        .requestTimeout(Duration.ofMinutes(2)) // A busy machine restarts coordinators slowly.
        .build();
  }

  /** Restores the cluster; if a test has damaged a process beyond that, by new processes. */
  @Override
  public void beforeEach(ExtensionContext test) {
    try {
      restore();
    } catch (RuntimeException e) {
      LOG.atWarn().setCause(e).log("the processes of the cluster are started anew");
      seats.forEach(Seat::kill);
      ensemble.close();
      restore();
    }
  }

  @Override
  public void afterEach(ExtensionContext test) {
    disconnect();
  }

  @Override
  public void afterAll(ExtensionContext tests) {
    if (!isShared(this)) {
      close();
    }
  }

  private synchronized void disconnect() {
    channels.forEach(ManagedChannel::shutdownNow);
    channels.clear();
  }

  @Override
  public void close() {
    disconnect();
    znodes.close();
    seats.forEach(Seat::close);
    wires.forEach(wire -> wire.forEach(ByteProxy::close));
    doors.forEach(ByteProxy::close);
    ensemble.close();
  }
}
