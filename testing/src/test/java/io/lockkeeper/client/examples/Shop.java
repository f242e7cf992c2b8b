package io.lockkeeper.client.examples;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Buys under a lock, and hands the token to what the lock protects. */
final class Shop {

  private final LockkeeperClient client;
  private final Stock stock;

  Shop(LockkeeperClient client, Stock stock) {
    this.client = client;
    this.stock = stock;
  }

  /** Blocking: the lock is held inside the braces. */
  boolean buy() throws InterruptedException {
    try (LockHandle lock = client.lock("stock")) {
      return stock.take(lock.fencingToken());
    }
  }

  /** Asynchronous: no thread waits. */
  CompletableFuture<Boolean> buyLater() {
    return client
        .acquire(LockRequest.of("stock").waitAtMost(Duration.ofSeconds(30)))
        .thenCompose(
            lock -> {
              boolean bought = stock.take(lock.fencingToken());
              return lock.releaseAsync().thenApply(released -> bought);
            });
  }
}
