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

  private final List<LockkeeperClient> clients;

  private LockkeeperLocks(List<LockkeeperClient> clients) {
    this.clients = clients;
  }

  /**
   * Makes {@code count} library clients; where there are several servers, each has one to begin
   * with, in turn.
   */
  static LockkeeperLocks connect(List<String> servers, int count, Credentials credentials) {
    return new LockkeeperLocks(
        IntStream.range(0, count)
            .mapToObj(
                i ->
                    credentials
                        .addTo(LockkeeperClient.builder(servers.get(i % servers.size())))
                        .holder("bench-" + i)
                        .callbackExecutor(Runnable::run)
                        .build())
            .toList());
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
      LockRequest request = LockRequest.of(lock);
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
