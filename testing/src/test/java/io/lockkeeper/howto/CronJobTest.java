package io.lockkeeper.howto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What {@code docs/how-to/cron-job-once.md} says of its example in Java. */
class CronJobTest {

  private static final Instant TWO = Instant.parse("2026-06-01T02:00:00Z");
  private static final Instant THREE = Instant.parse("2026-06-01T03:00:00Z");

  private final ExecutorService machines = Executors.newCachedThreadPool();
  private final Row row = new Row();
  private final AtomicInteger runs = new AtomicInteger();
  private InMemoryLockkeeper server;
  private LockkeeperClient one;
  private LockkeeperClient two;

  @BeforeEach
  void start() {
    server = InMemoryLockkeeper.start();
    one = server.clientBuilder().holder("machine-1").build();
    two = server.clientBuilder().holder("machine-2").build();
  }

  @AfterEach
  void stop() {
    machines.shutdownNow();
    one.close();
    two.close();
    server.close();
  }

  @Test
  void tickIsDoneOnceByHoweverManyMachines() throws Exception {
    // Given
    Callable<Boolean> first = () -> counting(one).runFor(TWO);
    Callable<Boolean> second = () -> counting(two).runFor(TWO);
    int done = 0;
    // When
    for (Future<Boolean> machine : machines.invokeAll(List.of(first, second, first, second))) {
      done += machine.get() ? 1 : 0;
    }
    // Then
    assertThat(done).isEqualTo(1);
    assertThat(runs).hasValue(1);
  }

  @Test
  void tickThatComesLateOnAMachineIsNotDoneAgain() throws Exception {
    // Given
    boolean ahead = counting(one).runFor(TWO) && counting(one).runFor(THREE);
    // When
    boolean behind = counting(two).runFor(TWO) || counting(two).runFor(THREE);
    // Then
    assertThat(ahead).isTrue();
    assertThat(behind).isFalse();
    assertThat(runs).hasValue(2);
  }

  @Test
  void tickWhoseJobHasFailedIsDoneByTheNextMachine() throws Exception {
    // Given
    CronJob failing =
        new CronJob(
            one,
            row,
            lock -> {
              throw new IllegalArgumentException("no paper");
            });
    // When
    assertThatThrownBy(() -> failing.runFor(TWO)).hasMessage("no paper");
    boolean done = counting(two).runFor(TWO);
    // Then
    assertThat(done).isTrue();
    assertThat(row.get()).isEqualTo(TWO);
  }

  @Test
  void tickOfAMachineThatHasLostItsLockIsDoneByAnother() throws Exception {
    // Given
    CountDownLatch working = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    CronJob stuck =
        new CronJob(
            one,
            row,
            lock -> {
              working.countDown();
              try {
                never.await(); // Until the loss of the lock interrupts it.
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    Future<Boolean> lost = machines.submit(() -> stuck.runFor(TWO));
    working.await();
    // When
    server.removeHolder("cron/report");
    boolean done = counting(two).runFor(TWO);
    // Then
    assertThat(done).isTrue();
    assertThatThrownBy(lost::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(LockLostException.class);
    assertThat(row.get()).isEqualTo(TWO);
  }

  private CronJob counting(LockkeeperClient client) {
    return new CronJob(client, row, lock -> runs.incrementAndGet());
  }

  /** The record, in memory. */
  private static final class Row implements CronJob.LastTick {

    private Instant tick = Instant.MIN;
    private long highestToken;

    @Override
    public synchronized Instant get() {
      return tick;
    }

    @Override
    public synchronized void set(Instant newTick, long fencingToken) {
      if (fencingToken < highestToken) {
        throw new IllegalStateException(fencingToken + " is below " + highestToken);
      }
      highestToken = fencingToken;
      tick = newTick;
    }
  }
}
