package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class EventLoopTest {

  private static final Duration POLL = Duration.ofMillis(1);

  private final AtomicLong clock = new AtomicLong();
  private LongSupplier nextTurn = () -> Long.MAX_VALUE;
  private Runnable onTurn = () -> {};
  private final List<String> log = new CopyOnWriteArrayList<>();
  private final EventLoop loop =
      new EventLoop(
          new EventLoop.Turns() {
            @Override
            public void onStalled(long nanos) {
              log.add("stalled " + nanos);
            }

            @Override
            public void onTurn() {
              onTurn.run();
            }

            @Override
            public long nextTurnNanos() {
              return nextTurn.getAsLong();
            }
          },
          clock::get);

  @Test
  void pauseIsNoticedBeforeWhatWasSentMeanwhileIsRead() throws InterruptedException {
    // Given
    loop.start();
    loop.post(() -> log.add("before"));
    await().until(() -> log.contains("before"));
    // When
    clock.addAndGet(22_000_000_000L);
    loop.post(() -> log.add("after"));
    await().until(() -> log.contains("after"));
    loop.stop(5_000);
    // Then
    assertThat(log).containsExactly("before", "stalled 22000000000", "after");
  }

  @Test
  void muchWorkInSmallPiecesIsNoStall() throws InterruptedException {
    // Given: more than a stall's length of work in one batch, each piece of it short
    CountDownLatch posted = new CountDownLatch(1);
    loop.post(() -> awaitQuietly(posted));
    for (int i = 0; i < 20; i++) {
      loop.post(() -> clock.addAndGet(100_000_000L));
    }
    loop.post(() -> log.add("done"));
    // When
    loop.start();
    posted.countDown();
    await().until(() -> log.contains("done"));
    loop.stop(5_000);
    // Then
    assertThat(log).containsExactly("done");
  }

  @Test
  void turnThatIsDueSoonIsAwaitedAsleep() throws InterruptedException {
    // Given: a turn is always due a little later
    nextTurn = () -> clock.get() + 20_000_000L;
    loop.start();
    // When
    long before = loop.turnCount();
    await().until(() -> loop.turnCount() >= before + 10);
    long then = loop.turnCount();
    // Then: some ten turns, where a loop that runs in circles makes many thousands
    await().during(Duration.ofMillis(200)).until(() -> loop.turnCount() - then < 1_000);
    loop.stop(5_000);
  }

  @Test
  @Timeout(10)
  void turnThatBecomesDueEarlierIsNotSleptThrough() throws InterruptedException {
    // Given
    AtomicLong due = new AtomicLong(Long.MAX_VALUE);
    AtomicInteger ownTurns = new AtomicInteger();
    nextTurn = due::get;
    onTurn =
        () -> {
          if (Thread.currentThread().getName().equals("lockkeeper-loop")) {
            due.set(Long.MAX_VALUE);
            ownTurns.incrementAndGet();
          }
        };
    loop.start();
    // When: somebody else's task moves it forward, so often that to sleep through each would take
    // twice the time that the test has
    for (int i = 0; i < 200; i++) {
      int before = ownTurns.get();
      loop.post(() -> due.set(clock.get() - 1));
      // Then
      await().pollDelay(Duration.ZERO).pollInterval(POLL).until(() -> ownTurns.get() > before);
    }
    loop.stop(5_000);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void taskThatThrowsDoesNotEndTheLoop() throws InterruptedException {
    // Given
    loop.start();
    loop.post(
        () -> {
          throw new IllegalStateException("a bad event");
        });
    // When
    loop.post(() -> log.add("next"));
    // Then
    await().until(() -> log.contains("next"));
    loop.stop(5_000);
  }

  @Test
  void coordinatorThatWasNeverStartedStopsAtOnce() throws InterruptedException {
    // Given
    LoopCoordinator never =
        new LoopCoordinator(
            new FakeLockStore(),
            CoordinatorSettings.defaults(),
            CoordinatorObserver.NONE,
            () -> log.add("hang"));
    // When
    never.stop(Duration.ofHours(1));
    // Then
    assertThat(never.status().serving()).isFalse();
    assertThat(log).isEmpty();
  }

  @Test
  void watchdogBarksOnceWhenNothingMovesAndNeverWhileSomethingDoes() {
    // Given
    AtomicLong progress = new AtomicLong();
    AtomicInteger barks = new AtomicInteger();
    Watchdog watchdog = new Watchdog(progress::get, 3, barks::incrementAndGet);
    // When
    for (int i = 0; i < 10; i++) {
      progress.incrementAndGet();
      watchdog.check();
    }
    int whileMoving = barks.get();
    for (int i = 0; i < 10; i++) {
      watchdog.check();
    }
    // Then
    assertThat(whileMoving).isZero();
    assertThat(barks).hasValue(1);
  }
}
