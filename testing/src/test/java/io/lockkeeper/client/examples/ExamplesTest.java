package io.lockkeeper.client.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import io.lockkeeper.testing.ManualClock;
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
      LeaderWork first = new LeaderWork(one, "10.0.0.1");
      LeaderWork second = new LeaderWork(two, "10.0.0.2");
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

  @Test
  void leaderThatIsAskedToStepsDown() {
    // Given
    ManualClock clock = new ManualClock();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
        LockkeeperClient client = server.clientBuilder().callbackExecutor(Runnable::run).build()) {
      LeaderWork work = new LeaderWork(client, "10.0.0.1");
      work.campaign();
      clock.settle();
      boolean led = work.isLeading();
      // When
      server.requestRelease("leader", "ops", "deploy");
      clock.settle();
      // Then
      assertThat(led).isTrue();
      assertThat(work.isLeading()).isFalse();
      assertThat(server.holderToken("leader")).isEmpty();
    }
  }

  @Test
  void moneyMovesBothWaysAndNoneIsLost() throws InterruptedException {
    // Given
    AtomicInteger failed = new AtomicInteger();
    int sum;
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start();
        LockkeeperClient client = server.clientBuilder().build()) {
      Bank bank = new Bank(client, "a", "b");
      Thread[] threads = new Thread[4];
      // When
      for (int i = 0; i < threads.length; i++) {
        String from = i % 2 == 0 ? "a" : "b";
        String to = i % 2 == 0 ? "b" : "a";
        threads[i] =
            new Thread(
                () -> {
                  try {
                    for (int round = 0; round < 10; round++) {
                      bank.transfer(from, to, 1);
                    }
                  } catch (InterruptedException | RuntimeException e) {
                    failed.incrementAndGet();
                  }
                });
        threads[i].start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      sum = bank.sum();
    }
    // Then
    assertThat(failed).hasValue(0);
    assertThat(sum).isEqualTo(200);
  }

  @Test
  void printersAreNeverMoreThanThereAre() throws InterruptedException {
    // Given
    AtomicInteger busy = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start();
        LockkeeperClient client = server.clientBuilder().build()) {
      Thread[] threads = new Thread[6];
      // When
      for (int i = 0; i < threads.length; i++) {
        int needed = 1 + i % 3;
        PrinterRoom room = new PrinterRoom(client, 3);
        threads[i] = new Thread(() -> print(room, needed, busy, most));
        threads[i].start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    // Then
    assertThat(busy).hasValue(0);
    assertThat(most).hasValue(3);
  }

  private static void print(PrinterRoom room, int needed, AtomicInteger busy, AtomicInteger most) {
    try {
      for (int i = 0; i < 10; i++) {
        room.print(
            needed,
            () -> {
              most.accumulateAndGet(busy.addAndGet(needed), Math::max);
              busy.addAndGet(-needed);
            });
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
