package io.lockkeeper.bench.lockkeeper;

import io.lockkeeper.bench.load.Conversation;
import io.lockkeeper.client.Contender;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Many who wait for one lock or for some, and what each of them waits for the one before.
 *
 * <p>Words: {@code queue N LOCKS} takes so many locks, lets N wait for them in turn, and is
 * answered when all have their places; {@code drain} releases them, each waiter releases what it is
 * granted, and the answer has the nanoseconds from each grant to the next.
 */
public final class QueueLoad implements Conversation.Host {

  private static final String LOCK = "bench/queue";
  // An address may have so many acquisitions, and no more.
  private static final int WAITERS_OF_A_HOST = 40_000;
  private static final int WAITERS_OF_A_CLIENT = 500;
  private static final long PATIENCE_SECONDS = 120;

  private final String server;
  private final List<LockkeeperClient> clients = new ArrayList<>();
  private final List<CompletableFuture<LockHandle>> waiting = new ArrayList<>();
  private final List<LockHandle> held = new ArrayList<>();

  private QueueLoad(String server) {
    this.server = server;
  }

  /** Answers words. The first argument: the server's address. */
  public static void main(String[] arguments) throws Exception {
    Conversation.run(new QueueLoad(arguments[0]));
  }

  @Override
  public Object answer(String word, List<String> arguments) throws Exception {
    return switch (word) {
      case "queue" -> queue(Integer.parseInt(arguments.get(0)), Integer.parseInt(arguments.get(1)));
      case "drain" -> drain();
      default -> throw new IllegalArgumentException(word);
    };
  }

  /**
   * One client's waiters after the other's: a lease lives on one ZooKeeper session, which owns some
   * thousands of entries at most, and a new lease goes to another session when one is half full.
   */
  private int queue(int count, int locks) throws Exception {
    LockkeeperClient holder = newClient();
    for (int lock = 0; lock < locks; lock++) {
      held.add(holder.lock(LOCK + lock));
    }
    for (int first = 0; first < count; first += WAITERS_OF_A_CLIENT) {
      queue(newClient(), first, Math.min(count, first + WAITERS_OF_A_CLIENT), locks);
    }
    return count;
  }

  private LockkeeperClient newClient() {
    int host = clients.size() * WAITERS_OF_A_CLIENT / WAITERS_OF_A_HOST;
    LockkeeperClient client =
        LockkeeperClient.builder(server)
            .channels(address -> Hosts.channel(address, host))
            .callbackExecutor(Runnable::run)
            .build();
    clients.add(client);
    return client;
  }

  private void queue(LockkeeperClient client, int first, int end, int locks) throws Exception {
    Places places = new Places(end - first);
    for (int i = first; i < end; i++) {
      waiting.add(
          client
              .acquire(LockRequest.of(LOCK + i % locks).listener(places))
              .whenComplete((handle, failure) -> places.onFailure(failure)));
    }
    places.all.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  /** Completes when all have their places, or one is refused. */
  private static final class Places implements LockListener {
    private final CompletableFuture<Void> all = new CompletableFuture<>();
    private final AtomicInteger missing;

    Places(int count) {
      missing = new AtomicInteger(count);
    }

    @Override
    public void onQueued(int ahead, List<Contender> holders) {
      if (missing.decrementAndGet() == 0) {
        all.complete(null);
      }
    }

    void onFailure(@Nullable Throwable failure) {
      if (failure != null) {
        all.completeExceptionally(failure);
      }
    }
  }

  private List<Long> drain() throws Exception {
    long[] grantedNanos = new long[waiting.size()];
    AtomicInteger grants = new AtomicInteger();
    List<CompletableFuture<Void>> releases = new ArrayList<>();
    for (CompletableFuture<LockHandle> one : waiting) {
      releases.add(
          one.thenCompose(
              handle -> {
                grantedNanos[grants.getAndIncrement()] = System.nanoTime();
                return handle.releaseAsync();
              }));
    }
    long startNanos = System.nanoTime();
    held.forEach(handle -> releases.add(handle.releaseAsync()));
    CompletableFuture.allOf(releases.toArray(CompletableFuture<?>[]::new))
        .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    List<Long> intervals = new ArrayList<>();
    long before = startNanos;
    for (long nanos : grantedNanos) {
      intervals.add(nanos - before);
      before = nanos;
    }
    waiting.clear();
    held.clear();
    clients.forEach(LockkeeperClient::close);
    clients.clear();
    return intervals;
  }
}
