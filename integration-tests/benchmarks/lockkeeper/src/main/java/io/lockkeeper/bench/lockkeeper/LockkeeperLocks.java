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
final class LockkeeperLocks implements LoadedSystem, AsyncLocks<LockHandle> {

  private final List<LockkeeperClient> clients;

  private LockkeeperLocks(List<LockkeeperClient> clients) {
    this.clients = clients;
  }

  /**
   * Makes {@code count} library clients; where there are several servers, each has one to begin
   * with, in turn.
   */
  static LockkeeperLocks connect(List<String> servers, int count) {
    return new LockkeeperLocks(
        IntStream.range(0, count)
            .mapToObj(
                i ->
                    LockkeeperClient.builder(servers.get(i % servers.size()))
                        .holder("bench-" + i)
                        .callbackExecutor(Runnable::run)
                        .build())
            .toList());
  }

  @Override
  public Crew start(Order order, Tally tally) {
    return AsyncCrew.start(order, tally, this);
  }

  @Override
  public CompletionStage<LockHandle> acquire(int client, String lock) {
    return clients.get(client % clients.size()).acquire(LockRequest.of(lock));
  }

  @Override
  public CompletionStage<?> release(int client, LockHandle held) {
    return held.releaseAsync();
  }
}
