package io.lockkeeper.bench.lockkeeper;

import io.lockkeeper.bench.load.AsyncCrew;
import io.lockkeeper.bench.load.AsyncLocks;
import io.lockkeeper.bench.load.Crew;
import io.lockkeeper.bench.load.LoadedSystem;
import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Tally;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

/**
 * Lockkeeper through its client library: many clients share a few {@link LockkeeperClient}s, as the
 * tasks of a few processes would, and none has a thread.
 *
 * <p>Futures complete on the thread that hears of the grant, as those of the other systems do.
 */
final class LockkeeperLocks implements LoadedSystem {

  /** Longer than any order lasts. */
  static final Duration KEEP = Duration.ofMinutes(10);

  private final List<LockkeeperClient> clients;
  private final boolean keeps;

  private LockkeeperLocks(List<LockkeeperClient> clients, boolean keeps) {
    this.clients = clients;
    this.keeps = keeps;
  }

  /**
   * Makes {@code count} library clients; where there are several servers, each has one to begin
   * with, in turn.
   *
   * @param keeps whether locks stay with their client while nobody else wants them
   */
  static LockkeeperLocks connect(
      List<String> servers, int count, Credentials credentials, boolean keeps) {
    return new LockkeeperLocks(
        IntStream.range(0, count)
            .mapToObj(
                i ->
                    credentials
                        .addTo(LockkeeperClient.builder(servers.get(i % servers.size())))
                        .holder("bench-" + i)
                        .callbackExecutor(Runnable::run)
                        .build())
            .toList(),
        keeps);
  }

  @Override
  public Crew start(Order order, Tally tally) {
    return AsyncCrew.start(order, tally, new Locks(order.shape() == Order.Shape.REENTRY));
  }

  /** Locks of an order's clients. */
  private final class Locks implements AsyncLocks<LockHandle> {
    private final boolean named;

    /** If {@code named}, each client is an owner, as those must be who acquire what they hold. */
    Locks(boolean named) {
      this.named = named;
    }

    @Override
    public CompletionStage<LockHandle> acquire(int client, String lock) {
      LockRequest plain = LockRequest.of(lock);
      LockRequest request = keeps ? plain.keepUnused(KEEP) : plain;
      return clients
          .get(client % clients.size())
          .acquire(named ? request.owner("client-" + client) : request);
    }

    @Override
    public CompletionStage<?> release(int client, LockHandle held) {
      return held.releaseAsync();
    }
  }
}
