package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.server.coordinator.api.CoordinatorClock;
import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.CoordinatorSettings;
import io.lockkeeper.server.coordinator.serial.Batch;
import io.lockkeeper.server.coordinator.serial.EventLoop;
import io.lockkeeper.server.coordinator.serial.Watchdog;
import io.lockkeeper.server.memory.InMemoryLockStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EventLoopTest {

  private static final Duration POLL = Duration.ofMillis(1);

  private final AtomicLong clock = new AtomicLong();
  private final AtomicLong wallMillis = new AtomicLong(1_700_000_000_000L);
  private volatile LongSupplier time = clock::get;
  private LongSupplier nextBatch = () -> Long.MAX_VALUE;
  private LongConsumer onBatch = now -> {};

  /** Waits of the loop's own thread that are this long end by being woken only. */
  private volatile long idleForGoodNanos = Long.MAX_VALUE;

  private final List<String> log = new CopyOnWriteArrayList<>();
  private final EventLoop loop =
      new EventLoop(
          new EventLoop.BatchListener() {
            @Override
            public void onStalled(long nanos) {
              log.add("stalled " + nanos);
            }

            @Override
            public void onClockStopped(long nanos) {
              log.add("not counted " + nanos);
            }

            @Override
            public void onBatchEnd(long now) {
              onBatch.accept(now);
            }

            @Override
            public long nextBatchNanos() {
              return nextBatch.getAsLong();
            }

            @Override
            public void onFailed(Throwable cause) {
              log.add("failed: " + cause.getMessage());
            }

            @Override
            public void onAbandoned() {
              log.add("abandoned");
            }
          },
          new CoordinatorClock() {
            @Override
            public void park(Object blocker, long nanos) {
              if (nanos < idleForGoodNanos) {
                CoordinatorClock.super.park(blocker, nanos);
              } else {
                LockSupport.park(blocker);
              }
            }

            @Override
            public long nanos() {
              return time.getAsLong();
            }

            @Override
            public long wallMillis() {
              return wallMillis.get();
            }
          });

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

  /** Posts a task, and returns when it has been run. */
  private void run(String name) {
    loop.post(() -> log.add(name));
    await().until(() -> log.contains(name));
  }

  @Test
  void timeThatTheClockDoesNotCountIsNoticedBeforeWhatWasSentMeanwhileIsRead()
      throws InterruptedException {
    // Given
    loop.start();
    run("before");
    // When: the machine is suspended, and goes on
    wallMillis.addAndGet(22_000);
    run("after");
    loop.stop(5_000);
    // Then
    assertThat(log).containsExactly("before", "not counted 22000000000", "after");
  }

  @Test
  void timeThatTheClockDoesNotCountIsNoticedAlsoWhenItPassesBitByBit() throws InterruptedException {
    // Given
    loop.start();
    run("0");
    // When
    for (int i = 1; i <= 3; i++) {
      wallMillis.addAndGet(200);
      run("" + i);
    }
    loop.stop(5_000);
    // Then
    assertThat(log).containsExactly("0", "1", "2", "not counted 600000000", "3");
  }

  @Test
  void wallClockThatIsSetBackHidesNothingThatComesAfterIt() throws InterruptedException {
    // Given
    loop.start();
    run("before");
    wallMillis.addAndGet(-3_600_000);
    run("set back");
    // When
    wallMillis.addAndGet(22_000);
    run("after");
    loop.stop(5_000);
    // Then
    assertThat(log).containsExactly("before", "set back", "not counted 22000000000", "after");
  }

  @Test
  void pauseThatBeginsInATurnIsNoticedBeforeAnythingIsDueByTheTimeAfterIt()
      throws InterruptedException {
    // Given
    AtomicBoolean paused = new AtomicBoolean();
    onBatch =
        now -> {
          if (paused.compareAndSet(false, true)) {
            clock.addAndGet(22_000_000_000L);
          }
          log.add("turn at " + now);
        };
    // When
    loop.start();
    await().until(() -> log.stream().filter(line -> line.startsWith("turn")).count() >= 2);
    loop.stop(5_000);
    // Then
    assertThat(log).startsWith("turn at 0", "stalled 22000000000", "turn at 22000000000");
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
    nextBatch = () -> clock.get() + 20_000_000L;
    loop.start();
    // When
    long before = loop.batchCount();
    await().until(() -> loop.batchCount() >= before + 10);
    long then = loop.batchCount();
    // Then: some ten turns, where a loop that runs in circles makes many thousands
    await().during(Duration.ofMillis(200)).until(() -> loop.batchCount() - then < 1_000);
    loop.stop(5_000);
  }

  @Test
  void turnThatBecomesDueEarlierIsNotSleptThrough() throws InterruptedException {
    // Given
    AtomicLong due = new AtomicLong(Long.MAX_VALUE);
    AtomicInteger ownBatches = new AtomicInteger();
    nextBatch = due::get;
    onBatch =
        now -> {
          if (Thread.currentThread().getName().equals("lockkeeper-loop")) {
            due.set(Long.MAX_VALUE);
            ownBatches.incrementAndGet();
          }
        };
    loop.start();
    // When: somebody else's task moves it forward, and nothing but that wakes an idle loop
    idleForGoodNanos = 50_000_000L;
    for (int i = 0; i < 200; i++) {
      int before = ownBatches.get();
      loop.post(() -> due.set(clock.get() - 1));
      // Then
      await().pollDelay(Duration.ZERO).pollInterval(POLL).until(() -> ownBatches.get() > before);
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

  /** A task that somebody waits for. */
  private final class Waited implements EventLoop.Awaited {
    @Override
    public void run() {
      log.add("run");
    }

    @Override
    public void onDropped() {
      log.add("dropped");
    }
  }

  static List<Throwable> exceptionsAndErrors() {
    return List.of(new IllegalStateException("a bad event"), new AssertionError("a bad event"));
  }

  private static void raise(Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    throw (RuntimeException) thrown;
  }

  @ParameterizedTest
  @MethodSource("exceptionsAndErrors")
  void nothingRunsAfterATaskThatThrewAndWhoeverWaitsIsTold(Throwable thrown)
      throws InterruptedException {
    // Given: one turn with something put off, the failure, and what comes behind it
    loop.post(() -> Batch.atEnd(() -> log.add("put off")));
    loop.post(() -> raise(thrown));
    loop.post(() -> log.add("next"));
    loop.post(new Waited());
    onBatch = now -> log.add("turn");
    // When
    loop.start();
    await().until(() -> log.contains("dropped"));
    loop.post(new Waited());
    loop.post(() -> raise(thrown));
    loop.stop(5_000);
    // Then: said once, and before all else
    assertThat(log).containsExactly("failed: a bad event", "abandoned", "dropped", "dropped");
    assertThat(loop.isAlive()).isFalse();
  }

  @Test
  void turnThatThrowsHasTheLoopFailAsATaskDoes() throws InterruptedException {
    // Given
    onBatch = now -> raise(new IllegalStateException("a bad turn"));
    // When
    loop.start();
    await().until(() -> log.contains("abandoned"));
    loop.post(new Waited());
    loop.stop(5_000);
    // Then
    assertThat(log).containsExactly("failed: a bad turn", "abandoned", "dropped");
  }

  @Test
  void whatIsPutOffToTheEndOfATurnHasTheLoopFailToo() throws InterruptedException {
    // Given
    loop.post(() -> Batch.atEnd(() -> raise(new IllegalStateException("put off"))));
    loop.post(() -> Batch.atEnd(() -> log.add("behind it")));
    // When
    loop.start();
    await().until(() -> log.contains("abandoned"));
    loop.stop(5_000);
    // Then
    assertThat(log).containsExactly("failed: put off", "abandoned");
  }

  @Test
  void loopWhoseOwnThreadEndsHasFailed() throws InterruptedException {
    // Given
    loop.start();
    // When: it looks at the time before it sleeps
    time =
        () -> {
          raise(new AssertionError("no time"));
          return 0;
        };
    await().until(() -> !loop.isAlive());
    // Then
    assertThat(log).contains("failed: no time");
  }

  @Test
  void failedLoopSleepsUntilItIsStopped() throws InterruptedException {
    // Given: a turn would be due all the time
    nextBatch = () -> clock.get() - 1;
    loop.start();
    // When
    loop.fail(new IllegalStateException("elsewhere"));
    await().until(() -> log.contains("abandoned"));
    long then = loop.batchCount();
    // Then
    await().during(Duration.ofMillis(200)).until(() -> loop.batchCount() - then <= 1);
    loop.stop(5_000);
    assertThat(loop.isAlive()).isFalse();
  }

  @Test
  void taskThatComesAfterTheEndIsDropped() throws InterruptedException {
    // Given
    loop.start();
    loop.stop(5_000);
    // When
    loop.post(new Waited());
    // Then
    assertThat(log).containsExactly("dropped");
  }

  @Test
  void coordinatorThatWasNeverStartedStopsAtOnce() throws InterruptedException {
    // Given
    LoopCoordinator never =
        new LoopCoordinator(
            new InMemoryLockStore(),
            CoordinatorSettings.defaults(),
            CoordinatorObserver.NONE,
            why -> log.add("breakdown"));
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
