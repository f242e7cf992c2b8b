package io.lockkeeper.example;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import java.time.Duration;
import java.util.Optional;

/** Takes one item from the stock, whichever process does it. */
public final class Checkout {

  private final LockkeeperClient client;
  private final Stock stock;

  /** Makes one that sells from {@code stock}. */
  public Checkout(LockkeeperClient client, Stock stock) {
    this.client = client;
    this.stock = stock;
  }

  /** Waits for the lock as long as it takes; the task is interrupted if the lock is lost. */
  public int sell(String item) throws InterruptedException {
    LockRequest request = LockRequest.of("stock/" + item).maxHold(Duration.ofMinutes(1));
    return client.withLock(request, lock -> stock.decrement(item, lock.fencingToken()));
  }

  /** Gives up after a second. A guard that was lost throws when it closes. */
  public boolean trySell(String item) throws InterruptedException {
    Optional<LockHandle> free = client.tryLock("stock/" + item, Duration.ofSeconds(1));
    if (free.isEmpty()) {
      return false;
    }
    try (LockHandle lock = free.get()) {
      stock.decrement(item, lock.fencingToken());
      return true;
    } catch (LockLostException e) {
      return false; // The stock has refused the token, or nobody can tell: look before you retry.
    }
  }

  /** What the lock protects: it refuses any token below the highest that it has seen. */
  public interface Stock {
    /** Takes one item and returns how many are left. */
    int decrement(String item, long fencingToken);
  }
}
