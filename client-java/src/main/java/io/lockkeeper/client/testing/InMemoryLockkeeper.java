package io.lockkeeper.client.testing;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.client.internal.Loop;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Jeopardy;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.Safe;
import java.io.IOException;
import java.io.UncheckedIOException;
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
 * A Lockkeeper server in memory, for tests: the same gRPC contract and events as a real one,
 * without ZooKeeper and without a node.network. It can be told to misbehave. Of the administrators'
 * calls it offers the forced release, and of the kinds of locks those that every server has.
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
  private final FakeState state;
  private final FakeNode node;
  private final Server server;

  /** Those that share leases and locks, this one included, in the order in which they started. */
  private final List<InMemoryLockkeeper> peers;

  private InMemoryLockkeeper(Optional<ManualClock> clock, Loop loop) {
    this(clock, loop, new FakeState(loop), new CopyOnWriteArrayList<>());
  }

  private InMemoryLockkeeper(
      Optional<ManualClock> clock, Loop loop, FakeState state, List<InMemoryLockkeeper> peers) {
    this.clock = clock;
    this.loop = loop;
    this.state = state;
    this.peers = peers;
    this.node = new FakeNode(loop);
    this.server =
        InProcessServerBuilder.forName(name)
            .executor(loop)
            .intercept(node.network)
            .addService(new FakeLockService(state, node))
            .addService(new FakeLeaseService(state, node))
            .addService(new FakeAdminService(state))
            .build();
  }

  /** Starts a server whose time is the system's. */
  public static InMemoryLockkeeper start() {
    return started(new InMemoryLockkeeper(Optional.empty(), Loop.onSystemClock(THREAD)));
  }

  /**
   * Starts a server whose time, and that of the clients that it builds, passes only when {@code
   * clock} is advanced: no lease ends and no wait times out before.
   */
  public static InMemoryLockkeeper start(ManualClock clock) {
    return started(new InMemoryLockkeeper(Optional.of(clock), Loop.on(clock, THREAD)));
  }

  /**
   * Starts another server, which serves the same leases and locks as this one. It has a network of
   * its own, is told to misbehave by itself, and is closed by itself.
   */
  public InMemoryLockkeeper startPeer() {
    return started(new InMemoryLockkeeper(clock, loop, state, peers));
  }

  private static InMemoryLockkeeper started(InMemoryLockkeeper fake) {
    try {
      fake.server.start();
      fake.peers.add(fake);
      return fake;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
    control(s -> node.network.freeze(true));
  }

  /** Ends {@link #freeze}. */
  public void thaw() {
    control(s -> node.network.freeze(false));
  }

  /** Delays every message from now on, zero or more each way. */
  public void delay(Duration requests, Duration responses) {
    control(s -> node.network.delay(requests.toNanos(), responses.toNanos()));
  }

  /** Breaks all connections. Leases live on until they run out; clients may come back at once. */
  public void dropStreams() {
    control(s -> node.network.cut());
  }

  /** Turns new calls away with UNAVAILABLE, or stops doing so. */
  public void refuseCalls(boolean refuse) {
    control(s -> node.network.unreachable(refuse));
  }

  /** Refuses session requests with RESOURCE_EXHAUSTED, all but keep-alives, or stops doing so. */
  public void overload(boolean refuse) {
    control(s -> node.overloaded = refuse);
  }

  /**
   * Ends the server as a crash does: all connections break, and calls are turned away until {@link
   * #refuseCalls} lets it back. Its leases and locks are a peer's from then on, or, without one,
   * its own, but nothing that lived in memory only: what has ended, how events were numbered.
   * Leases that are streams end.
   */
  public void crash() {
    control(
        s -> {
          node.network.unreachable(true);
          node.network.cut();
          s.takeovers.takeOver(
              node, peers.stream().filter(p -> p != this).findFirst().orElse(this).node);
        });
  }

  /** Tells all sessions to resume after {@code resumeAfter}, and ends their streams. */
  public void goAway(Duration resumeAfter) {
    control(s -> s.sendAway(node, resumeAfter));
  }

  /** Ends all leases as if they had not been renewed in time: their locks pass on. */
  public void endLeases() {
    control(FakeState::endAll);
  }

  /** Takes a lock away from its holders as if their entries had been deleted in ZooKeeper. */
  public void removeHolder(String lock) {
    control(s -> s.influence.remove(lock));
  }

  /** Asks the holders of a lock to give way. */
  public void requestRelease(String lock, String requester, String reason) {
    control(
        s ->
            s.influence.requestRelease(
                RequestReleaseRequest.newBuilder()
                    .setName(lock)
                    .setRequester(requester)
                    .setReason(reason)
                    .build()));
  }

  /** Tells the holders of a lock that the server has lost contact with ZooKeeper. */
  public void jeopardy(String lock, Duration validFor) {
    Jeopardy jeopardy =
        Jeopardy.newBuilder().setValidFor(FakeTime.toProto(validFor.toNanos())).build();
    control(
        s ->
            s.influence.tellHolders(
                lock, AcquireResponse.newBuilder().setJeopardy(jeopardy).build()));
  }

  /** Tells the holders of a lock that the contact is back. */
  public void safe(String lock, Duration validFor) {
    Safe safe = Safe.newBuilder().setValidFor(FakeTime.toProto(validFor.toNanos())).build();
    control(s -> s.influence.tellHolders(lock, AcquireResponse.newBuilder().setSafe(safe).build()));
  }

  /** Returns the fencing token of the lock's first holder; empty: nobody holds it. */
  public Optional<Long> holderToken(String lock) {
    CompletableFuture<Optional<Long>> token = new CompletableFuture<>();
    control(s -> token.complete(s.look(lock).holders().stream().map(e -> e.token).findFirst()));
    return token.join();
  }

  /** Runs {@code action} on the server's thread when the lock's holder has gone, once. */
  public void whenFree(String lock, Runnable action) {
    control(s -> s.whenFree(lock, action));
  }

  /** Returns the ids of the leases that are alive, the oldest first. */
  public List<String> leaseIds() {
    CompletableFuture<List<String>> ids = new CompletableFuture<>();
    control(
        s ->
            ids.complete(
                s.leases.values().stream().filter(l -> l.end.isEmpty()).map(l -> l.id).toList()));
    return ids.join();
  }

  /** Returns how many leases are alive. */
  public int leaseCount() {
    return leaseIds().size();
  }

  private void control(Consumer<FakeState> change) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Runnable task =
        () -> {
          try {
            change.accept(state);
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
    if (peers.size() > 1 && peers.contains(this)) {
      crash();
    }
    try {
      server.shutdownNow();
      server.awaitTermination(CONTROL_SECONDS, TimeUnit.SECONDS);
      if (peers.remove(this) && peers.isEmpty()) {
        loop.stop();
        loop.awaitEnd(Duration.ofSeconds(CONTROL_SECONDS));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
