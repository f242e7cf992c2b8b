package io.lockkeeper.testing;

import io.grpc.ManagedChannel;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.memory.InMemoryCluster;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A Lockkeeper server in memory, for tests: the coordinator and the services of a real one, on a
 * store in memory instead of ZooKeeper and without a network. It can be told to misbehave.
 *
 * <pre>{@code
 * try (InMemoryLockkeeper server = InMemoryLockkeeper.start();
 *     LockkeeperClient client = server.clientBuilder().build()) {
 *   // what the program does with its client
 *   server.endLeases();
 *   // how the program takes it
 * }
 * }</pre>
 *
 * <p>All methods may be called from any thread. The controls return when they have taken effect on
 * the server; clients hear of it after that.
 */
public final class InMemoryLockkeeper implements AutoCloseable {

  private static final long CONTROL_SECONDS = 30;
  private static final String THREAD = "lockkeeper-in-memory";

  private final String name = "lockkeeper-" + UUID.randomUUID();
  private final Optional<ManualClock> clock;
  private final Loop loop;
  private final InMemoryCluster cluster;
  private final Network network;

  /** Those that share leases and locks, this one included, in the order in which they started. */
  private final List<InMemoryLockkeeper> peers;

  /** Empty after a crash, and when closed. */
  private volatile Optional<Node> node = Optional.empty();

  private InMemoryLockkeeper(
      Optional<ManualClock> clock,
      Loop loop,
      InMemoryCluster cluster,
      List<InMemoryLockkeeper> peers) {
    this.clock = clock;
    this.loop = loop;
    this.cluster = cluster;
    this.peers = peers;
    this.network = new Network(loop);
    startNode();
    peers.add(this);
  }

  private void startNode() {
    node = Optional.of(new Node(name, network, loop, cluster, clock));
  }

  /** Starts a server whose time is the system's. */
  public static InMemoryLockkeeper start() {
    return start(Optional.empty(), Loop.onSystemClock(THREAD));
  }

  /**
   * Starts a server whose time, and that of the clients that it builds, passes only when {@code
   * clock} is advanced: no lease ends and no wait times out before.
   */
  public static InMemoryLockkeeper start(ManualClock clock) {
    return start(Optional.of(clock), Loop.on(clock, THREAD));
  }

  private static InMemoryLockkeeper start(Optional<ManualClock> clock, Loop loop) {
    return new InMemoryLockkeeper(clock, loop, new InMemoryCluster(), new CopyOnWriteArrayList<>());
  }

  /**
   * Starts another server, which serves the same locks as this one: each has the leases that were
   * opened at it, and forwards requests under the other's. It has a network of its own, is told to
   * misbehave by itself, and is closed by itself.
   */
  public InMemoryLockkeeper startPeer() {
    return new InMemoryLockkeeper(clock, loop, cluster, peers);
  }

  /** Returns a builder of clients of this server. */
  public LockkeeperClientBuilder clientBuilder() {
    LockkeeperClientBuilder builder =
        LockkeeperClient.builder("in-memory").channels(address -> connect());
    return clock.map(builder::clock).orElse(builder);
  }

  /** Returns a builder of clients that try this server first, and then its peers in turn. */
  public LockkeeperClientBuilder clusterClientBuilder() {
    String addresses =
        Stream.concat(Stream.of(this), peers.stream().filter(peer -> peer != this))
            .map(InMemoryLockkeeper::address)
            .collect(Collectors.joining(","));
    LockkeeperClientBuilder builder =
        LockkeeperClient.builder(addresses).channels(InMemoryLockkeeper::connectTo);
    return clock.map(builder::clock).orElse(builder);
  }

  /** Returns the address by which {@link #clusterClientBuilder} and its errors name the server. */
  public String address() {
    return name + ":7420";
  }

  private static ManagedChannel connectTo(String address) {
    String name = address.substring(0, address.lastIndexOf(':'));
    return InProcessChannelBuilder.forName(name).directExecutor().build();
  }

  /** Opens a gRPC channel to this server. The caller shuts it down. */
  public ManagedChannel connect() {
    return connectTo(address());
  }

  /**
   * Holds back every message in both directions, as a partition does: nobody hears anything, and
   * leases run out. Held back messages are delivered by {@link #thaw}.
   */
  public void freeze() {
    control(n -> n.freeze(true));
  }

  /** Ends {@link #freeze}. */
  public void thaw() {
    control(n -> n.freeze(false));
  }

  /** Delays every message from now on, zero or more each way. */
  public void delay(Duration requests, Duration responses) {
    control(n -> n.delay(requests.toNanos(), responses.toNanos()));
  }

  /** Breaks all connections. Leases live on until they run out; clients may come back at once. */
  public void dropStreams() {
    control(Network::cut);
  }

  /**
   * Turns new calls away with UNAVAILABLE, or stops doing so; then, a server that has crashed is
   * started again.
   */
  public void refuseCalls(boolean refuse) {
    control(n -> n.unreachable(refuse));
    if (!refuse && node.isEmpty()) {
      startNode();
    }
  }

  /**
   * Ends the server as a crash does: all connections break, and calls are rejected until {@link
   * #refuseCalls} lets it back. Its leases and locks are a peer's from then on, or, without one,
   * its own when it is back, but nothing that lived in memory only: what has ended, how events were
   * numbered. Leases that are streams end.
   */
  public void crash() {
    Optional<Node> dying = node;
    node = Optional.empty();
    dying.ifPresent(Node::die);
    control(Network::cut);
  }

  /** Tells all sessions to resume after {@code resumeAfter}, and ends their streams. */
  public void goAway(Duration resumeAfter) {
    running().endpoint().sendAway("the server in memory was told to", resumeAfter);
  }

  /** Ends all leases as the loss of the server's ZooKeeper session does: their locks pass on. */
  public void endLeases() {
    cluster.expireSessions();
  }

  /** Takes a lock away from its holders as if their entries had been deleted in ZooKeeper. */
  public void removeHolder(String lock) {
    holders(lock).forEach(holder -> cluster.remove(new LockName(lock), holder.entry()));
  }

  /** Asks the holders of a lock to give way. */
  public void requestRelease(String lock, String requester, String reason) {
    var unused =
        Node.answered(
            anyCoordinator()
                .requestRelease(new LockName(lock), requester, reason, Optional.empty()));
  }

  /**
   * Takes the server's contact with ZooKeeper away: holders are told that they are in jeopardy, and
   * lose their locks unless {@link #safe} comes first. Requests wait.
   */
  public void jeopardy() {
    running().store().loseContact();
  }

  /** Gives the contact back: holders are told that they are safe. */
  public void safe() {
    running().store().regainContact();
  }

  /** Returns the fencing token of the lock's first holder; empty: nobody holds it. */
  public Optional<Long> holderToken(String lock) {
    return holders(lock).stream()
        .flatMap(h -> h.token().stream())
        .map(FencingToken::value)
        .findFirst();
  }

  private List<Contender> holders(String lock) {
    return Node.answered(anyCoordinator().getLock(new LockName(lock), 0)).holders();
  }

  /** Runs {@code action} on the server's thread when the lock's holder has gone, once. */
  public void whenFree(String lock, Runnable action) {
    cluster.whenFree(new LockName(lock), () -> loop.execute(action));
  }

  /** Returns the ids of the leases that are alive, the oldest first. */
  public List<String> leaseIds() {
    return cluster.leases().stream().map(LeaseId::toString).toList();
  }

  /** Returns how many leases are alive. */
  public int leaseCount() {
    return leaseIds().size();
  }

  private Node running() {
    return node.orElseThrow(
        () -> new IllegalStateException("this server is closed or has crashed"));
  }

  /** Returns the coordinator of this server, or of one that has its locks now. */
  private Coordinator anyCoordinator() {
    return Stream.concat(Stream.of(this), peers.stream())
        .flatMap(server -> server.node.stream())
        .map(Node::coordinator)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("this server is closed or has crashed"));
  }

  private void control(Consumer<Network> change) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Runnable task =
        () -> {
          try {
            change.accept(network);
            done.complete(null);
          } catch (RuntimeException e) {
            done.completeExceptionally(e);
          }
        };
    if (!loop.executeIfRunning(task)) {
      throw new IllegalStateException("this server is closed: start another one");
    }
    done.orTimeout(CONTROL_SECONDS, TimeUnit.SECONDS).join();
  }

  /**
   * Ends the server with all its connections; with the last of several, all leases and locks are
   * gone. Idempotent.
   */
  @Override
  public void close() {
    if (!peers.contains(this)) {
      return;
    }
    crash();
    if (peers.remove(this) && peers.isEmpty()) {
      loop.stop();
      try {
        loop.awaitEnd(Duration.ofSeconds(CONTROL_SECONDS));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
