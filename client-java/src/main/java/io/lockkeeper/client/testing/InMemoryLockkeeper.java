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
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.Safe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A Lockkeeper server in memory, for tests: the same gRPC contract and events as a real one,
 * without ZooKeeper and without a network. It can be told to misbehave. Of the administrators'
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

  private final String name = "lockkeeper-" + UUID.randomUUID();
  private final Optional<ManualClock> clock;
  private final Loop loop;
  private final FakeState state;
  private final Network network;
  private final Server server;

  private InMemoryLockkeeper(Optional<ManualClock> clock) {
    this.clock = clock;
    String thread = "lockkeeper-in-memory";
    this.loop = clock.map(c -> Loop.on(c, thread)).orElseGet(() -> Loop.onSystemClock(thread));
    this.state = new FakeState(loop);
    this.network = new Network(loop);
    this.server =
        InProcessServerBuilder.forName(name)
            .executor(loop)
            .intercept(network)
            .addService(new FakeLockService(state))
            .addService(new FakeLeaseService(state))
            .addService(new FakeAdminService(state))
            .build();
  }

  /** Starts a server whose time is the system's. */
  public static InMemoryLockkeeper start() {
    return started(new InMemoryLockkeeper(Optional.empty()));
  }

  /**
   * Starts a server whose time, and that of the clients that it builds, passes only when {@code
   * clock} is advanced: no lease ends and no wait times out before.
   */
  public static InMemoryLockkeeper start(ManualClock clock) {
    return started(new InMemoryLockkeeper(Optional.of(clock)));
  }

  private static InMemoryLockkeeper started(InMemoryLockkeeper fake) {
    try {
      fake.server.start();
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

  /** Opens a gRPC channel to this server. The caller shuts it down. */
  public ManagedChannel connect() {
    return InProcessChannelBuilder.forName(name).directExecutor().build();
  }

  /**
   * Holds back every message in both directions, as a partition does: nobody hears anything, and
   * leases run out. Held back messages are delivered by {@link #thaw}.
   */
  public void freeze() {
    control(s -> network.freeze(true));
  }

  /** Ends {@link #freeze}. */
  public void thaw() {
    control(s -> network.freeze(false));
  }

  /** Delays every message from now on, zero or more each way. */
  public void delay(Duration requests, Duration responses) {
    control(s -> network.delay(requests.toNanos(), responses.toNanos()));
  }

  /** Breaks all connections. Leases live on until they run out; clients may come back at once. */
  public void dropStreams() {
    control(s -> network.cut());
  }

  /** Turns new calls away with UNAVAILABLE, or stops doing so. */
  public void refuseCalls(boolean refuse) {
    control(s -> network.unreachable(refuse));
  }

  /** Refuses session requests with RESOURCE_EXHAUSTED, all but keep-alives, or stops doing so. */
  public void overload(boolean refuse) {
    control(s -> s.overloaded = refuse);
  }

  /** Tells all sessions to resume after {@code resumeAfter}, and ends their streams. */
  public void goAway(Duration resumeAfter) {
    control(
        s ->
            List.copyOf(s.leases.values())
                .forEach(l -> l.session.ifPresent(session -> session.goAway(resumeAfter))));
  }

  /** Ends all leases as if they had not been renewed in time: their locks pass on. */
  public void endLeases() {
    control(
        s ->
            List.copyOf(s.leases.values())
                .forEach(l -> s.end(l, LeaseEndReason.LEASE_END_REASON_EXPIRED)));
  }

  /** Takes a lock away from its holders as if their entries had been deleted in ZooKeeper. */
  public void removeHolder(String lock) {
    control(
        s ->
            s.look(lock)
                .holders()
                .forEach(e -> s.turns.takeAway(e, LossReason.LOSS_REASON_REMOVED, "")));
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
    tellHolders(
        lock,
        AcquireResponse.newBuilder()
            .setJeopardy(Jeopardy.newBuilder().setValidFor(FakeTime.toProto(validFor.toNanos())))
            .build());
  }

  /** Tells the holders of a lock that the contact is back. */
  public void safe(String lock, Duration validFor) {
    tellHolders(
        lock,
        AcquireResponse.newBuilder()
            .setSafe(Safe.newBuilder().setValidFor(FakeTime.toProto(validFor.toNanos())))
            .build());
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

  private void tellHolders(String lock, AcquireResponse event) {
    control(
        s ->
            s.look(lock).holders().stream()
                .flatMap(e -> e.sharers.stream())
                .filter(a -> a.state == FakeAcquisition.State.HELD)
                .toList()
                .forEach(a -> a.tell(event.toBuilder())));
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

  /** Ends the server with all its connections. Idempotent. */
  @Override
  public void close() {
    server.shutdownNow();
    try {
      server.awaitTermination(CONTROL_SECONDS, TimeUnit.SECONDS);
      loop.stop();
      loop.awaitEnd(Duration.ofSeconds(CONTROL_SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
