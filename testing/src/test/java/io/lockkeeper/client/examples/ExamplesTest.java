package io.lockkeeper.client.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The examples, run. Also an example: this is how a program's use of locks is tested. */
class ExamplesTest {

  @Test
  void stockIsNeverOversold() {
    // Given
    Stock stock = new Stock(30);
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start();
        LockkeeperClient one = server.clientBuilder().holder("shop 1").build();
        LockkeeperClient two = server.clientBuilder().holder("shop 2").build()) {
      // When
      CompletableFuture<?>[] buyers = new CompletableFuture<?>[100];
      for (int i = 0; i < buyers.length; i++) {
        Shop shop = new Shop(i % 2 == 0 ? one : two, stock);
        buyers[i] = shop.buyLater();
      }
      CompletableFuture.allOf(buyers).join();
    }
    // Then
    assertThat(stock.left()).isZero();
    assertThat(stock.sold()).isEqualTo(30);
  }

  @Test
  void purchaseWithATokenThatIsOldIsRefused() throws InterruptedException {
    // Given
    Stock stock = new Stock(2);
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start();
        LockkeeperClient client = server.clientBuilder().build()) {
      long old;
      try (LockHandle lock = client.lock("stock")) {
        old = lock.fencingToken();
      }
      boolean bought = new Shop(client, stock).buy();
      // When
      boolean boughtLate = stock.take(old);
      // Then
      assertThat(bought).isTrue();
      assertThat(boughtLate).isFalse();
      assertThat(stock.left()).isEqualTo(1);
    }
  }
}
