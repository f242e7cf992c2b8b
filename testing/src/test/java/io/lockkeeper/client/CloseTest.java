package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

/** A client that is closed leaves nothing behind: no connection, and nobody who waits. */
class CloseTest {

  @Test
  void closedClientEndsTheConnectionsOfItsWatches() {
    // Given
    List<ManagedChannel> opened = new CopyOnWriteArrayList<>();
    CountDownLatch watching = new CountDownLatch(1);
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start()) {
      LockkeeperClient client =
          LockkeeperClient.builder("in-memory")
              .channels(
                  address -> {
                    ManagedChannel channel = server.connect();
                    opened.add(channel);
                    return channel;
                  })
              .build();
      Watch watch =
          client.watch(
              "",
              new WatchListener() {
                @Override
                public void onSnapshotEnd() {
                  watching.countDown();
                }
              });
      awaitQuietly(watching);
      // When
      client.close();
      watch.close();
      // Then
      await().untilAsserted(() -> assertThat(opened).allMatch(ManagedChannel::isTerminated));
      assertThat(opened).hasSize(1);
    }
  }

  @Test
  void watchIsToldOfTheEndAfterWhatCameBefore() {
    // Given
    BlockingQueue<Runnable> callbacks = new LinkedBlockingQueue<>();
    RecordingWatch seen = new RecordingWatch();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start()) {
      LockkeeperClient client = server.clientBuilder().callbackExecutor(callbacks::add).build();
      Watch watch = client.watch("orders/", seen);
      await().until(() -> !callbacks.isEmpty());
      // When
      client.close();
      callbacks.forEach(Runnable::run);
      // Then
      assertThat(watch).isNotNull();
      assertThat(seen.events())
          .containsExactly(
              "end", "failed watch of \"orders/\": this client is closed: build another one");
    }
  }

  @Test
  void watchThatIsClosedBeforeItIsToldOfTheEndIsToldNothing() {
    // Given
    BlockingQueue<Runnable> callbacks = new LinkedBlockingQueue<>();
    RecordingWatch seen = new RecordingWatch();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start()) {
      LockkeeperClient client = server.clientBuilder().callbackExecutor(callbacks::add).build();
      Watch watch = client.watch("orders/", seen);
      await().until(() -> !callbacks.isEmpty());
      client.close();
      // When
      watch.close();
      callbacks.forEach(Runnable::run);
      // Then
      assertThat(seen.events()).isEmpty();
    }
  }

  @Test
  void watchWhoseListenerClosesTheClientIsToldSo() {
    // Given
    CompletableFuture<LockkeeperException> told = new CompletableFuture<>();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start()) {
      LockkeeperClient client = server.clientBuilder().build();
      // When
      Watch watch =
          client.watch(
              "",
              new WatchListener() {
                @Override
                public void onSnapshotEnd() {
                  client.close();
                }

                @Override
                public void onFailed(LockkeeperException why) {
                  told.complete(why);
                }
              });
      // Then
      assertThat(watch).isNotNull();
      assertThat(told).succeedsWithin(Duration.ofMinutes(1));
    }
  }

  @Test
  void requestAndCloseThatComeBehindTheLastTaskStillEnd() {
    // Given
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    LockListener block =
        new LockListener() {
          @Override
          public void onGranted(LockHandle handle) {
            blocked.countDown();
            awaitQuietly(goOn);
          }
        };
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start()) {
      LockkeeperClient client = server.clientBuilder().callbackExecutor(Runnable::run).build();
      CompletableFuture<LockHandle> held =
          client.acquire(LockRequest.of("orders/42").listener(block));
      awaitQuietly(blocked);
      // When
      Thread hasty =
          start(
              () -> {
                Thread.currentThread().interrupt(); // Does not wait for the server.
                client.close();
              });
      awaitWaiting(hasty);
      CompletableFuture<LockHandle> late = client.acquire(LockRequest.of("orders/43"));
      CompletableFuture<Void> closed = new CompletableFuture<>();
      Thread second =
          start(
              () -> {
                client.close();
                closed.complete(null);
              });
      awaitWaiting(second);
      goOn.countDown();
      // Then
      assertThat(late)
          .failsWithin(Duration.ofMinutes(1))
          .withThrowableThat()
          .havingCause()
          .isInstanceOf(LockkeeperException.class)
          .withMessageContaining("closed");
      assertThat(closed).succeedsWithin(Duration.ofMinutes(1));
      assertThat(held).isDone();
    }
  }

  private static Thread start(Runnable task) {
    Thread thread = new Thread(task, "closes");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void awaitWaiting(Thread thread) {
    await()
        .pollInterval(Duration.ofMillis(5))
        .until(() -> thread.getState() == Thread.State.TIMED_WAITING);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
