package io.lockkeeper.client.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is done on a loop: all of it, in order, one thing at a time, whoever does it. */
class LoopTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final List<Loop> loops = new ArrayList<>();

  @AfterEach
  void stop() {
    loops.forEach(Loop::stop);
  }

  private Loop loop(CallerRuns callerRuns) {
    Loop loop = Loop.onSystemClock("loop-under-test", callerRuns);
    loops.add(loop);
    return loop;
  }

  /** Does something and returns the thread that did it. */
  private static CompletableFuture<Thread> whoDoes(Loop loop) {
    CompletableFuture<Thread> who = new CompletableFuture<>();
    loop.execute(() -> who.complete(Thread.currentThread()));
    return who;
  }

  @Test
  void idleLoopThatAnybodyHelpsDoesATaskInTheThreadThatGivesIt() {
    // Given
    Loop loop = loop(CallerRuns.ALWAYS);
    // When
    CompletableFuture<Thread> who = whoDoes(loop);
    // Then
    assertThat(who).isCompletedWithValue(Thread.currentThread());
  }

  @Test
  void loopThatNobodyHelpsDoesAllOnItsOwnThread() {
    // Given
    Loop loop = loop(CallerRuns.NEVER);
    CompletableFuture<Thread> received = new CompletableFuture<>();
    // When
    CompletableFuture<Thread> who = whoDoes(loop);
    loop.executeReceived(() -> received.complete(Thread.currentThread()));
    // Then
    assertThat(who).succeedsWithin(LONG).extracting(Thread::getName).isEqualTo("loop-under-test");
    assertThat(received).succeedsWithin(LONG).isEqualTo(who.join());
  }

  @Test
  void whoIsNoCarrierDoesNotWhatHisTaskLeadsTo() {
    // Given
    Loop loop = loop(CallerRuns.RECEIVERS);
    CompletableFuture<Thread> first = new CompletableFuture<>();
    CompletableFuture<Thread> second = new CompletableFuture<>();
    // When
    loop.execute(
        () -> {
          loop.execute(() -> second.complete(Thread.currentThread()));
          first.complete(Thread.currentThread());
        });
    // Then
    assertThat(first).isCompletedWithValue(Thread.currentThread());
    assertThat(second)
        .succeedsWithin(LONG)
        .extracting(Thread::getName)
        .isEqualTo("loop-under-test");
  }

  @Test
  void carrierDoesWhatHisTaskLeadsTo() {
    // Given
    Loop loop = loop(CallerRuns.RECEIVERS);
    List<Thread> who = new ArrayList<>();
    // When
    loop.executeReceived(
        () -> {
          loop.execute(() -> who.add(Thread.currentThread()));
          who.add(Thread.currentThread());
        });
    // Then
    assertThat(who).containsExactly(Thread.currentThread(), Thread.currentThread());
  }

  @Test
  void helperIsNotKeptForEverByWhatOthersGive() {
    // Given
    Loop loop = loop(CallerRuns.ALWAYS);
    AtomicInteger done = new AtomicInteger();
    CompletableFuture<Thread> last = new CompletableFuture<>();
    Runnable again =
        new Runnable() {
          @Override
          public void run() {
            if (done.incrementAndGet() < 100_000) {
              loop.execute(this);
            } else {
              last.complete(Thread.currentThread());
            }
          }
        };
    // When
    loop.execute(again);
    // Then
    assertThat(last).succeedsWithin(LONG).extracting(Thread::getName).isEqualTo("loop-under-test");
  }

  @Test
  void tasksOfManyThreadsAreDoneOneAtATimeAndThoseOfEachInOrder() throws InterruptedException {
    // Given
    Loop loop = loop(CallerRuns.ALWAYS);
    int threads = 8;
    int each = 20_000;
    int[] last = new int[threads]; // The loop's: a race would lose some.
    AtomicInteger outOfOrder = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(threads * each);
    // When
    for (int t = 0; t < threads; t++) {
      int mine = t;
      new Thread(
              () -> {
                for (int i = 1; i <= each; i++) {
                  int number = i;
                  loop.execute(
                      () -> {
                        if (++last[mine] != number) {
                          outOfOrder.incrementAndGet();
                        }
                        all.countDown();
                      });
                }
              })
          .start();
    }
    all.await();
    // Then
    assertThat(outOfOrder).hasValue(0);
    assertThat(last).containsOnly(each);
  }

  @Test
  void taskThatThrowsStopsNeitherTheLoopNorWhoHelps() {
    // Given
    Loop loop = loop(CallerRuns.ALWAYS);
    // When
    loop.execute(
        () -> {
          throw new StackOverflowError("thrown by a task");
        });
    CompletableFuture<Thread> next = whoDoes(loop);
    // Then
    assertThat(next).isCompletedWithValue(Thread.currentThread());
  }

  @Test
  void interruptOfWhoHelpsIsKept() {
    // Given
    Loop loop = loop(CallerRuns.ALWAYS);
    Thread.currentThread().interrupt();
    // When
    CompletableFuture<Thread> who = whoDoes(loop);
    // Then
    assertThat(Thread.interrupted()).isTrue();
    assertThat(who).isCompletedWithValue(Thread.currentThread());
  }

  @Test
  void timersAreDoneThoughTasksNeverEnd() {
    // Given
    Loop loop = loop(CallerRuns.NEVER);
    CompletableFuture<Void> timer = new CompletableFuture<>();
    Runnable always =
        new Runnable() {
          @Override
          public void run() {
            loop.execute(this);
          }
        };
    // When
    loop.execute(always);
    loop.schedule(1_000_000, () -> timer.complete(null));
    // Then
    assertThat(timer).succeedsWithin(LONG);
  }

  @Test
  void whatIsLeftForTheLastIsDoneAfterTheTasksThatWait() {
    // Given
    Loop loop = loop(CallerRuns.ALWAYS);
    List<String> done = new ArrayList<>();
    // When
    loop.execute(
        () -> {
          loop.executeAfterBatch(() -> done.add("last"));
          loop.execute(() -> done.add("task"));
        });
    // Then
    assertThat(done).containsExactly("task", "last");
  }

  @Test
  void whatIsLeftForTheLastIsDoneByAHelperThatLeavesTasksToTheThread() {
    // Given
    Loop loop = loop(CallerRuns.RECEIVERS);
    List<Thread> who = new ArrayList<>();
    // When
    loop.execute(
        () -> {
          loop.executeAfterBatch(() -> who.add(Thread.currentThread()));
          loop.execute(() -> {});
        });
    // Then
    assertThat(who).containsExactly(Thread.currentThread());
  }

  @Test
  void whatIsLeftForTheLastIsDoneThoughTasksNeverEnd() {
    // Given
    Loop loop = loop(CallerRuns.NEVER);
    CompletableFuture<Void> last = new CompletableFuture<>();
    Runnable always =
        new Runnable() {
          @Override
          public void run() {
            loop.execute(this);
          }
        };
    // When
    loop.execute(always);
    loop.execute(() -> loop.executeAfterBatch(() -> last.complete(null)));
    // Then
    assertThat(last).succeedsWithin(LONG);
  }

  @Test
  void whoWaitsForTheLoopToSettleWaitsForWhatIsLeftForTheLast() {
    // Given
    ManualClock clock = new ManualClock();
    Loop loop = Loop.on(clock, "loop-under-test");
    loops.add(loop);
    for (int round = 0; round < 1_000; round++) {
      AtomicInteger done = new AtomicInteger();
      loop.execute(() -> loop.executeAfterBatch(done::incrementAndGet));
      // When
      loop.settle();
      // Then
      assertThat(done).hasValue(1);
    }
  }

  @Test
  void timerThatIsMadeEarlierThanAllOthersIsDoneInTime() {
    // Given
    Loop loop = loop(CallerRuns.ALWAYS);
    CompletableFuture<Void> late = new CompletableFuture<>();
    CompletableFuture<Void> early = new CompletableFuture<>();
    loop.schedule(Duration.ofHours(1).toNanos(), () -> late.complete(null));
    // When
    loop.schedule(1_000_000, () -> early.complete(null));
    // Then
    assertThat(early).succeedsWithin(LONG);
    assertThat(late).isNotDone();
  }

  @Test
  void whatTheLoopTookBeforeItsEndIsDoneAndNothingAfter() throws InterruptedException {
    // Given
    for (int round = 0; round < 500; round++) {
      Loop loop = loop(CallerRuns.ALWAYS);
      AtomicInteger taken = new AtomicInteger();
      AtomicInteger done = new AtomicInteger();
      Thread giver =
          new Thread(
              () -> {
                while (loop.executeIfRunning(done::incrementAndGet)) {
                  taken.incrementAndGet();
                }
              });
      giver.start();
      // When
      loop.execute(
          () -> {
            loop.drain();
            loop.stop();
          });
      giver.join();
      loop.awaitEnd(LONG);
      // Then
      assertThat(done).hasValue(taken.get());
    }
  }

  @Test
  void timerThatBecomesDueWhileOthersAreDoneIsDoneToo() {
    // Given
    Loop loop = loop(CallerRuns.NEVER);
    CompletableFuture<Void> first = new CompletableFuture<>();
    CompletableFuture<Void> last = new CompletableFuture<>();
    // When
    loop.schedule(
        0,
        () -> {
          loop.schedule(0, () -> loop.schedule(0, () -> last.complete(null)));
          loop.schedule(0, () -> first.complete(null));
        });
    // Then
    assertThat(first).succeedsWithin(LONG);
    assertThat(last).succeedsWithin(LONG);
  }

  @Test
  void stoppedLoopEndsItsThread() {
    // Given
    Loop loop = loop(CallerRuns.ALWAYS);
    CompletableFuture<Thread> own = new CompletableFuture<>();
    loop.schedule(0, () -> own.complete(Thread.currentThread()));
    assertThat(own).succeedsWithin(LONG);
    // When
    loop.stop();
    // Then
    await().until(() -> !own.join().isAlive());
    assertThat(loop.executeIfRunning(() -> {})).isFalse();
  }
}
