package io.lockkeeper.bench.lockkeeper;

import io.lockkeeper.bench.load.Conversation;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/**
 * Many names that are held at once, by as many clients as that takes, spread over all coordinators.
 *
 * <p>Words: {@code hold N} takes N names more, and is answered with how many requests that took and
 * what the first refusal said, if there was one; {@code cycle} has one client take and release a
 * lock of its own from then on; {@code status} is answered with how many names are held, how many
 * requests were lost and in jeopardy, and the longest that such a cycle has taken since this was
 * asked last; {@code release} gives all back.
 */
public final class HoldLoad implements Conversation.Host {

  private static final int NAMES_OF_A_REQUEST = 64;

  // Three leases with so much fill a ZooKeeper session as far as it takes leases.
  private static final int NAMES_OF_A_CLIENT = 17 * NAMES_OF_A_REQUEST;
  private static final int REQUESTS_AT_ONCE = 16;
  private static final long PATIENCE_SECONDS = 300;
  private static final Duration TTL = Duration.ofSeconds(30);

  private final List<String> servers;
  private final int hosts;
  private final List<LockkeeperClient> clients = new ArrayList<>();
  private final ConcurrentLinkedQueue<LockHandle> held = new ConcurrentLinkedQueue<>();
  private final LongAdder lost = new LongAdder();
  private final LongAdder jeopardies = new LongAdder();
  private final AtomicLong longestCycleNanos = new AtomicLong();
  private int names;

  private HoldLoad(List<String> servers, int hosts) {
    this.servers = servers;
    this.hosts = hosts;
  }

  /**
   * Answers words. Arguments: the servers' addresses, separated by commas, and from how many
   * addresses clients connect: each may have so many entries.
   */
  public static void main(String[] arguments) throws Exception {
    HoldLoad load =
        new HoldLoad(List.of(arguments[0].split(",", -1)), Integer.parseInt(arguments[1]));
    Conversation.run(load);
  }

  @Override
  public Object answer(String word, List<String> arguments) throws Exception {
    return switch (word) {
      case "hold" -> hold(Integer.parseInt(arguments.get(0)));
      case "cycle" -> cycle();
      case "status" ->
          Map.of(
              "held",
              held.stream().mapToInt(handle -> handle.isValid() ? handle.grants().size() : 0).sum(),
              "lost",
              lost.sum(),
              "jeopardies",
              jeopardies.sum(),
              "longestCycleMillis",
              longestCycleNanos.getAndSet(0) / 1e6);
      case "release" -> release();
      default -> throw new IllegalArgumentException(word);
    };
  }

  private Map<String, Object> hold(int count) throws Exception {
    Semaphore room = new Semaphore(REQUESTS_AT_ONCE);
    CompletableFuture<String> refusal = new CompletableFuture<>();
    int before = held.size();
    for (int left = count; left > 0 && !refusal.isDone(); left -= NAMES_OF_A_REQUEST) {
      if (names % NAMES_OF_A_CLIENT == 0) {
        clients.add(newClient());
      }
      int more = Math.min(NAMES_OF_A_REQUEST, left);
      List<LockSpec> locks =
          IntStream.range(names, names + more)
              .mapToObj(i -> LockSpec.exclusive("held/%07d".formatted(i)))
              .toList();
      names += NAMES_OF_A_REQUEST;
      if (!room.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("no answer for " + PATIENCE_SECONDS + " s");
      }
      var unused =
          clients
              .get(clients.size() - 1)
              .acquire(LockRequest.of(locks).listener(new Losses()))
              .whenComplete(
                  (handle, failure) -> {
                    if (failure == null) {
                      held.add(handle);
                    } else {
                      refusal.complete(failure.toString());
                    }
                    room.release();
                  });
    }
    if (!room.tryAcquire(REQUESTS_AT_ONCE, PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("no answer for " + PATIENCE_SECONDS + " s");
    }
    return Map.of(
        "requests", held.size() - before, "clients", clients.size(), "refusal", refusal.getNow(""));
  }

  private LockkeeperClient newClient() {
    int number = clients.size();
    List<String> rotated = new ArrayList<>(servers);
    Collections.rotate(rotated, number);
    return LockkeeperClient.builder(String.join(",", rotated))
        .channels(address -> Hosts.channel(address, number / servers.size() % hosts))
        .ttl(TTL)
        .requestTimeout(TTL)
        .callbackExecutor(Runnable::run)
        .build();
  }

  /** Keeps one client busy with a lock of its own. */
  private boolean cycle() {
    LockkeeperClient client = newClient();
    clients.add(client);
    cycle(client);
    return true;
  }

  private void cycle(LockkeeperClient client) {
    long startNanos = System.nanoTime();
    var unused =
        client
            .acquire(LockRequest.of("held/cycle"))
            .thenCompose(LockHandle::releaseAsync)
            .whenComplete(
                (released, failure) -> {
                  longestCycleNanos.accumulateAndGet(System.nanoTime() - startNanos, Math::max);
                  CompletableFuture.delayedExecutor(10, TimeUnit.MILLISECONDS)
                      .execute(() -> cycle(client));
                });
  }

  private int release() throws Exception {
    List<CompletableFuture<Void>> releases = new ArrayList<>();
    for (Optional<LockHandle> next = poll(); next.isPresent(); next = poll()) {
      releases.add(next.get().releaseAsync());
    }
    CompletableFuture.allOf(releases.toArray(CompletableFuture<?>[]::new))
        .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    return releases.size();
  }

  private Optional<LockHandle> poll() {
    return Optional.ofNullable(held.poll());
  }

  private final class Losses implements LockListener {
    @Override
    public void onJeopardy(LockHandle handle, Duration validFor) {
      jeopardies.increment();
    }

    @Override
    public void onLost(LockHandle handle, LossReason reason) {
      lost.increment();
    }
  }
}
