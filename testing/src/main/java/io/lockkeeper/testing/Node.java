package io.lockkeeper.testing;

import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.server.coordinator.LoopCoordinator;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.CoordinatorClock;
import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.CoordinatorSettings;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.memory.InMemoryCluster;
import io.lockkeeper.server.memory.InMemoryLockStore;
import io.lockkeeper.server.rpc.LocalEndpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * One life of a server: the coordinator on its store, and its services, once for clients and once
 * for the other servers. Whatever happens to the network of the clients does not happen to theirs.
 */
final class Node {

  private static final long START_SECONDS = 30;
  private static final Duration AT_ONCE = Duration.ZERO;

  /** A coordinator's own thread, and that of its watchers. */
  private static final int THREADS = 2;

  private final Optional<ManualClock> clock;
  private final Optional<SteppedThreads> threads;
  private final InMemoryLockStore store;
  private final LoopCoordinator coordinator;
  private final LocalEndpoint endpoint;
  private final Server forClients;
  private final Server forPeers;

  /**
   * Starts a server.
   *
   * @param name where clients find it
   * @param network what lies between it and its clients
   * @param loop what its services run on
   * @param cluster whose locks it serves
   * @param clock what its time is; empty: the system's
   */
  Node(
      String name,
      Network network,
      Loop loop,
      InMemoryCluster cluster,
      Optional<ManualClock> clock) {
    this.clock = clock;
    this.threads = clock.map(SteppedThreads::new);
    CoordinatorClock time = threads.<CoordinatorClock>map(t -> t).orElse(CoordinatorClock.SYSTEM);
    String id = "in-memory-" + UUID.randomUUID();
    this.store = new InMemoryLockStore(cluster, new Peer(id, id), time::nanos);
    this.coordinator =
        new LoopCoordinator(
            store, CoordinatorSettings.defaults(), CoordinatorObserver.NONE, why -> {}, time);
    this.endpoint =
        new LocalEndpoint(coordinator, id, InProcessChannelBuilder::forName, new LoopThreads(loop));
    InProcessServerBuilder clients = InProcessServerBuilder.forName(name).intercept(network);
    InProcessServerBuilder peers = InProcessServerBuilder.forName(id);
    endpoint.addTo(clients);
    endpoint.addTo(peers);
    this.forClients = clients.executor(loop).build();
    this.forPeers = peers.executor(loop).build();
    start();
  }

  private void start() {
    coordinator.start();
    threads.ifPresent(t -> clock.orElseThrow().attach(t));
    threads.ifPresent(t -> t.awaitThreads(THREADS));
    // What the coordinator begins with is done before the first question, and what comes of that
    // before the second.
    for (int i = 0; i < 2; i++) {
      answered(coordinator.listLeases("", 1));
    }
    try {
      forPeers.start();
      forClients.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    endpoint.start();
  }

  /** Returns what a future comes to. */
  static <T> T answered(CompletableFuture<T> future) {
    return future.orTimeout(START_SECONDS, TimeUnit.SECONDS).join();
  }

  Coordinator coordinator() {
    return coordinator;
  }

  InMemoryLockStore store() {
    return store;
  }

  LocalEndpoint endpoint() {
    return endpoint;
  }

  /**
   * Ends as a process does that is killed: first the others hear of it, so that they have what it
   * had when its clients come to them.
   */
  void die() {
    store.stop();
    try {
      forClients.shutdownNow().awaitTermination(START_SECONDS, TimeUnit.SECONDS);
      forPeers.shutdownNow().awaitTermination(START_SECONDS, TimeUnit.SECONDS);
      coordinator.stop(AT_ONCE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      endpoint.stop();
      threads.ifPresent(t -> clock.orElseThrow().detach(t));
    }
  }
}
