package io.lockkeeper.howto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockedAction;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.NotAcquiredReason;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What {@code docs/how-to/permits.md} says of its example in Java. */
@Timeout(60)
class ExportsTest {

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final CountDownLatch end = new CountDownLatch(1);
  private InMemoryLockkeeper server;
  private LockkeeperClient client;
  private Exports exports;

  @BeforeEach
  void start() {
    server = InMemoryLockkeeper.start();
    client = server.clientBuilder().build();
    exports = new Exports(client);
    exports.allow(4);
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
    client.close();
    server.close();
  }

  @Test
  void noMoreThanTheLimitRunAtATime() throws Exception {
    // Given
    LockedAction<RuntimeException> large =
        lock -> {
          most.accumulateAndGet(running.incrementAndGet(), Math::max);
          running.decrementAndGet();
        };
    // When
    for (Future<Boolean> done : threads.invokeAll(Collections.nCopies(20, exporting(large)))) {
      assertThat(done.get()).isTrue();
    }
    // Then
    assertThat(most).hasValueBetween(1, 2);
  }

  @Test
  void smallExportIsTurnedAwayWhereThereIsNoRoomInTime() throws Exception {
    // Given
    Future<Boolean> first = threads.submit(exporting(this::untilTheEnd));
    Future<Boolean> second = threads.submit(exporting(this::untilTheEnd));
    Awaitility.await().until(() -> running.get() == 2);
    // When
    boolean room = exports.small(lock -> {});
    end.countDown();
    boolean roomAfter = first.get() && second.get() && exports.small(lock -> {});
    // Then
    assertThat(room).isFalse();
    assertThat(roomAfter).isTrue();
  }

  @Test
  void higherLimitLetsWaitersInAtOnceAndALowerOneTakesNothingAway() throws Exception {
    // Given
    exports.allow(2);
    Future<Boolean> first = threads.submit(exporting(this::untilTheEnd));
    Awaitility.await().until(() -> running.get() == 1);
    Future<Boolean> second = threads.submit(exporting(this::untilTheEnd));
    Awaitility.await().until(() -> client.getLock("exports/database").queueLength() == 1);
    // When
    exports.allow(4);
    Awaitility.await().until(() -> running.get() == 2);
    exports.allow(1);
    // Then
    assertThat(client.getLock("exports/database").holders()).hasSize(2);
    end.countDown();
    assertThat(first.get()).isTrue();
    assertThat(second.get()).isTrue();
  }

  @Test
  void whoAsksForMoreThanThereAreIsRefused() {
    // Given
    exports.allow(1);
    // When
    assertThatThrownBy(() -> exports.large(lock -> {}))
        // Then
        .isInstanceOfSatisfying(
            NotAcquiredException.class,
            e -> assertThat(e.reason()).isEqualTo(NotAcquiredReason.LIMIT_TOO_SMALL));
  }

  private Callable<Boolean> exporting(LockedAction<RuntimeException> export) {
    return () -> {
      exports.large(export);
      return true;
    };
  }

  private void untilTheEnd(LockHandle unused) {
    running.incrementAndGet();
    try {
      end.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
