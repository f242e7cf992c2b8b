package io.lockkeeper.examples.micronaut;

import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Sells from the stock; of all instances of the application, one at a time sells an item. */
@Singleton
public final class Shop {

  private final LockkeeperClient client;
  private final Stock stock;

  /** Makes one that sells from {@code stock}. */
  public Shop(LockkeeperClient client, Stock stock) {
    this.client = client;
    this.stock = stock;
  }

  /**
   * Sells one item and returns how many are left. Waits for the lock, so not on an event loop.
   * Fails as {@link LockkeeperClient#withLock} and {@link Stock#take} do, and where none is left,
   * without the lock.
   */
  public int sell(String item) throws InterruptedException {
    return client.withLock(request(item), lock -> stock.take(item, lock.fencingToken()));
  }

  /**
   * Like {@link #sell}, without a thread that waits. Where none is left it fails at once; the
   * future fails as that of {@link LockkeeperClient#acquire}, or with what {@link Stock#take}
   * throws.
   */
  public CompletableFuture<Integer> sellAsync(String item) {
    return client
        .acquire(request(item))
        .thenApply(
            lock -> {
              try {
                return stock.take(item, lock.fencingToken());
              } finally {
                var unused = lock.releaseAsync();
              }
            });
  }

  private LockRequest request(String item) {
    stock.require(item); // Or whoever calls could have locks of any name made.
    return LockRequest.of("stock/" + item).waitAtMost(Duration.ofSeconds(5));
  }
}
