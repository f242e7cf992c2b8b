package io.lockkeeper.client.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.testing.InMemoryLockkeeper;
import io.lockkeeper.client.testing.ManualClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples, run. Also an example: this is how a program's use of locks is tested. */
@Timeout(60)
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

  @Test
  void leaderStopsWhenItsLeaseIsLostAndAnotherTakesOver() {
    // Given
    ManualClock clock = new ManualClock();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
        LockkeeperClient one = server.clientBuilder().callbackExecutor(Runnable::run).build();
        LockkeeperClient two = server.clientBuilder().callbackExecutor(Runnable::run).build()) {
      LeaderWork first = new LeaderWork(one);
      LeaderWork second = new LeaderWork(two);
      first.campaign();
      clock.settle();
      second.campaign();
      clock.settle();
      boolean firstLed = first.isLeading();
      // When
      server.removeHolder("leader");
      clock.advance(Duration.ofSeconds(1));
      // Then
      assertThat(firstLed).isTrue();
      assertThat(first.isLeading()).isFalse();
      assertThat(second.isLeading()).isTrue();
      second.resign();
      assertThat(second.isLeading()).isFalse();
    }
  }

  @Test
  void counterBehindALockViewCountsRight() throws InterruptedException {
    // Given
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start();
        LockkeeperClient client = server.clientBuilder().build()) {
      Runnable work =
          () -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            inside.decrementAndGet();
          };
      Thread[] threads = new Thread[4];
      // When
      for (int i = 0; i < threads.length; i++) {
        threads[i] = new Thread(() -> new GuardedTask(client.asLock("task"), work).run(25));
        threads[i].start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    // Then
    assertThat(most).hasValue(1);
  }
}
