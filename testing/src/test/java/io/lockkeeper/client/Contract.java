package io.lockkeeper.client;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What contracts of a client with any server have in common. They run against the server in memory,
 * so that the client is right, and against a real one, so that the server in memory does not lie.
 */
public abstract class Contract {

  /** Far longer than a slow machine takes. */
  static final Duration LONG = Duration.ofMinutes(1);

  /** A lock of this test alone. */
  final String lock = "contract/" + UUID.randomUUID();

  private final List<LockkeeperClient> clients = new ArrayList<>();

  private ServerUnderTest server;

  @BeforeEach
  final void meet(ServerUnderTest given) {
    server = given;
  }

  final LockkeeperClientBuilder clientBuilder() {
    return server.clientBuilder();
  }

  final LockkeeperClient client(String holder) {
    LockkeeperClient client = clientBuilder().holder(holder).build();
    clients.add(client);
    return client;
  }

  @AfterEach
  final void closeClients() {
    clients.forEach(LockkeeperClient::close);
  }

  /** Waits until so many wait for the lock. */
  static void awaitQueue(LockkeeperClient observer, String name, int length) {
    await().until(() -> observer.getLock(name).queueLength() == length);
  }

  /** Asks for locks, and waits until the request has its place in the queue of {@code name}. */
  static CompletableFuture<LockHandle> queue(
      LockkeeperClient client, LockRequest request, String name) {
    int before = client.getLock(name).queueLength();
    CompletableFuture<LockHandle> waiting = client.acquire(request);
    awaitQueue(client, name, before + 1);
    return waiting;
  }

  /** Returns what a future comes to. */
  static LockHandle granted(CompletableFuture<LockHandle> future) {
    return future.orTimeout(LONG.toSeconds(), TimeUnit.SECONDS).join();
  }

  /** Returns what a future fails with. */
  static Throwable failure(CompletableFuture<?> future) {
    return future
        .orTimeout(LONG.toSeconds(), TimeUnit.SECONDS)
        .handle((value, thrown) -> thrown)
        .join();
  }
}
