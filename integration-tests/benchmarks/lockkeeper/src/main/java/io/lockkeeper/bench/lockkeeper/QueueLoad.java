package io.lockkeeper.bench.lockkeeper;

import static java.util.stream.Collectors.toCollection;

import io.lockkeeper.bench.load.Conversation;
import io.lockkeeper.client.Contender;
import io.lockkeeper.client.ErrorReason;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.RequestRefusedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
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
  // An address may have 50,000 acquisitions, and a lease of its own has a share of its session.
  private static final int HOSTS = 4;
  private static final int WAITERS_OF_A_CLIENT = 430;
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
    Deque<Integer> left = IntStream.range(0, count).boxed().collect(toCollection(ArrayDeque::new));
    while (!left.isEmpty()) {
      queue(newClient(), left, locks);
    }
    return count;
  }

  private LockkeeperClient newClient() {
    int host = clients.size() % HOSTS;
    LockkeeperClient client =
        LockkeeperClient.builder(server)
            .channels(address -> Hosts.channel(address, host))
            .callbackExecutor(Runnable::run)
            .build();
    clients.add(client);
    return client;
  }

  /** Lets some wait; those for whom the lease has no room are left for another one. */
  private void queue(LockkeeperClient client, Deque<Integer> left, int locks) throws Exception {
    int count = Math.min(WAITERS_OF_A_CLIENT, left.size());
    Places places = new Places(count);
    Map<Integer, CompletableFuture<LockHandle>> asked = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      Integer waiter = left.removeFirst();
      asked.put(
          waiter,
          client
              .acquire(LockRequest.of(LOCK + waiter % locks).listener(places))
              .whenComplete((handle, failure) -> places.onFailure(waiter, failure)));
    }
    places.all.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    places.refused.forEach(asked::remove);
    left.addAll(places.refused);
    waiting.addAll(asked.values());
  }

  /** Completes when all have their places, or were refused because their lease is full. */
  private static final class Places implements LockListener {
    private final CompletableFuture<Void> all = new CompletableFuture<>();
    private final Queue<Integer> refused = new ConcurrentLinkedQueue<>();
    private final AtomicInteger missing;

    Places(int count) {
      missing = new AtomicInteger(count);
    }

    @Override
    public void onQueued(int ahead, List<Contender> holders) {
      decided();
    }

    private void decided() {
      if (missing.decrementAndGet() == 0) {
        all.complete(null);
      }
    }

    void onFailure(Integer waiter, @Nullable Throwable failure) {
      if (failure instanceof RequestRefusedException full
          && full.reason() == ErrorReason.LEASE_FULL) {
        refused.add(waiter);
        decided();
      } else if (failure != null) {
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
