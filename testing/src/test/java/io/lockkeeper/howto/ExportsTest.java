package io.lockkeeper.howto;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockedAction;
import io.lockkeeper.client.LockkeeperClient;
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

/** What {@code docs/how-to/permits.md} says of its example in Java. */
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
    // Then
    assertThat(room).isFalse();
    assertThat(first.get() && second.get()).isTrue();
    Awaitility.await().until(() -> exports.small(lock -> {}));
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
