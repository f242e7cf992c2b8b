package io.lockkeeper.howto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What {@code docs/how-to/migrations-once.md} says of its example in Java. */
class MigrationsTest {

  private final ExecutorService instances = Executors.newCachedThreadPool();
  private final Database database = new Database();

  @AfterEach
  void stop() {
    instances.shutdownNow();
  }

  @Test
  void oneOfManyInstancesMigrates() throws Exception {
    // Given
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start();
        LockkeeperClient one = server.clientBuilder().build();
        LockkeeperClient two = server.clientBuilder().build()) {
      Callable<Boolean> first = starting(one, 42);
      Callable<Boolean> second = starting(two, 42);
      // When
      for (Future<Boolean> up : instances.invokeAll(List.of(first, second, first, second))) {
        assertThat(up.get()).isTrue();
      }
    }
    // Then
    assertThat(database.log()).containsExactly("begin 42", "end 42");
  }

  @Test
  void migrationWhoseInstanceHasDiedIsRepairedAndDoneAgainAfterTheDelay() throws Exception {
    // Given
    ManualClock clock = new ManualClock();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
        LockkeeperClient dying = server.clientBuilder().build();
        LockkeeperClient next = server.clientBuilder().build()) {
      database.hangsOnce();
      Future<Boolean> lost = instances.submit(starting(dying, 42));
      database.awaitHanging();
      Future<Boolean> up = instances.submit(starting(next, 42));
      Awaitility.await().until(() -> next.getLock("db/shop/migrations").queueLength() == 1);
      // When
      server.removeHolder("db/shop/migrations");
      clock.advance(Duration.ofSeconds(29));
      boolean early = up.isDone();
      clock.advance(Duration.ofSeconds(2));
      // Then
      assertThat(up.get()).isTrue();
      assertThat(early).isFalse();
      assertThatThrownBy(lost::get)
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(LockLostException.class);
    }
    assertThat(database.log()).containsExactly("begin 42", "repair", "begin 42", "end 42");
  }

  @Test
  void migrationThatHasFailedIsNotTriedAgainUntilSomebodyHasLooked() throws Exception {
    // Given
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start();
        LockkeeperClient client = server.clientBuilder().build()) {
      database.failsOnce();
      Migrations migrations = new Migrations(client, database);
      assertThatThrownBy(() -> migrations.bringTo(42)).hasMessage("duplicate column");
      // When
      assertThatThrownBy(() -> migrations.bringTo(42)).hasMessageContaining("has failed");
      assertThatThrownBy(() -> migrations.bringTo(42)).hasMessageContaining("has failed");
      database.repair();
      migrations.bringTo(42);
    }
    // Then
    assertThat(database.log()).containsExactly("begin 42", "repair", "begin 42", "end 42");
  }

  private Callable<Boolean> starting(LockkeeperClient client, int version) {
    return () -> {
      new Migrations(client, database).bringTo(version);
      return true;
    };
  }

  /** A database that can be told to hang or to fail. */
  private static final class Database implements Migrations.Schema {

    private final List<String> log = new CopyOnWriteArrayList<>();
    private final CountDownLatch hanging = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);
    private final AtomicBoolean hangs = new AtomicBoolean();
    private final AtomicBoolean fails = new AtomicBoolean();
    private volatile int version = 41;
    private volatile boolean halfDone;

    void hangsOnce() {
      hangs.set(true);
    }

    void failsOnce() {
      fails.set(true);
    }

    void awaitHanging() throws InterruptedException {
      hanging.await();
    }

    List<String> log() {
      return List.copyOf(log);
    }

    @Override
    public int version() {
      return version;
    }

    @Override
    public void migrateTo(int newVersion) {
      log.add("begin " + newVersion);
      halfDone = true;
      if (hangs.getAndSet(false)) {
        hanging.countDown();
        try {
          never.await(); // Until the loss of the lock interrupts it.
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      if (fails.getAndSet(false)) {
        throw new IllegalStateException("duplicate column");
      }
      version = newVersion;
      halfDone = false;
      log.add("end " + newVersion);
    }

    @Override
    public boolean isHalfDone() {
      return halfDone;
    }

    @Override
    public void repair() {
      log.add("repair");
      halfDone = false;
    }
  }
}
