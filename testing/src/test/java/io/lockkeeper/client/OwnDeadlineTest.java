package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.testing.InMemoryLockkeeper;
import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The client stops by its own clock before the server gives the lock to another client. */
class OwnDeadlineTest {

  private static final int RUNS = 100;
  private static final long FIRST_SEED = 20_260_101L;

  /** What happened in one run, in nanoseconds of the server's clock. */
  private record Observed(long lostAt, int timesLost, long grantedToOtherAt) {}

  private static LockHandle hold(LockkeeperClient client, ManualClock clock, Recording heard) {
    CompletableFuture<LockHandle> held =
        client.acquire(LockRequest.of("orders/42").listener(heard));
    clock.settle();
    return held.join();
  }

  @Test
  void partitionedHolderIsToldLostBeforeAnotherIsGranted() {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
      // When
      Observed outcome = run(new SplittableRandom(seed));
      // Then
      assertThat(outcome.timesLost()).as("seed %d: lost events", seed).isEqualTo(1);
      assertThat(outcome.grantedToOtherAt()).as("seed %d", seed).isGreaterThan(outcome.lostAt());
    }
  }

  /** Partitions a holder whose clock is off by up to 2 % and whose network is slow. */
  private static Observed run(SplittableRandom random) {
    ManualClock clock = new ManualClock();
    Duration ttl = Duration.ofMillis(random.nextLong(2_000, 30_000));
    double rate = random.nextDouble(0.98, 1.02);
    List<Long> lostAt = new ArrayList<>();
    List<Long> otherAt = new ArrayList<>();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
        LockkeeperClient holder =
            server
                .clientBuilder()
                .clock(clock.atRate(rate))
                .callbackExecutor(Runnable::run)
                .ttl(ttl)
                .build()) {
      LockListener listener =
          new LockListener() {
            @Override
            public void onLost(LockHandle handle, LossReason reason) {
              lostAt.add(clock.getAsLong());
            }
          };
      server.delay(millis(random, 150), millis(random, 150));
      CompletableFuture<LockHandle> held =
          holder.acquire(LockRequest.of("partitioned").listener(listener));
      clock.advance(Duration.ofSeconds(2).plusNanos(random.nextLong(ttl.toNanos() * 3)));
      LockHandle handle = held.join();
      server.whenFree("partitioned", () -> otherAt.add(clock.getAsLong()));
      server.freeze();
      clock.advance(ttl.multipliedBy(2));
      assertThat(handle.isValid()).isFalse();
      thaw(server, clock);
    }
    return new Observed(lostAt.get(0), lostAt.size(), otherAt.get(0));
  }

  /** Lets the client close the lease that it has given up, so that its own end need not wait. */
  private static void thaw(InMemoryLockkeeper server, ManualClock clock) {
    server.thaw();
    clock.advance(Duration.ofSeconds(3));
  }

  private static Duration millis(SplittableRandom random, int bound) {
    return Duration.ofMillis(random.nextLong(bound));
  }

  @Test
  void warningComesBeforeTheDeadlineAndLostAtIt() {
    // Given
    ManualClock clock = new ManualClock();
    Recording heard = new Recording();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
        LockkeeperClient client =
            server
                .clientBuilder()
                .ttl(Duration.ofSeconds(10))
                .expiryWarning(Duration.ofSeconds(3))
                .callbackExecutor(Runnable::run)
                .build()) {
      LockHandle handle = hold(client, clock, heard);
      server.freeze();
      // When
      clock.advance(handle.remaining().minusSeconds(3).minusNanos(1));
      List<String> beforeWarning = heard.events();
      clock.advance(Duration.ofNanos(1));
      List<String> atWarning = heard.events();
      clock.advance(Duration.ofSeconds(3).minusNanos(1));
      boolean validJustBefore = handle.isValid();
      clock.advance(Duration.ofNanos(1));
      // Then
      assertThat(beforeWarning).containsExactly("granted");
      assertThat(atWarning).containsExactly("granted", "about to expire");
      assertThat(validJustBefore).isTrue();
      assertThat(handle.isValid()).isFalse();
      assertThat(heard.events())
          .containsExactly("granted", "about to expire", "lost DEADLINE_PASSED");
      assertThat(handle.lost().toCompletableFuture())
          .isCompletedWithValue(LossReason.DEADLINE_PASSED);
      thaw(server, clock);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {5, 14, 15, 60})
  void warningThatIsTooLongComesOnceBeforeExpiryAndNotBetweenKeepAlives(long warningSeconds) {
    // Given
    ManualClock clock = new ManualClock();
    Recording heard = new Recording();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
        LockkeeperClient client =
            server
                .clientBuilder()
                .ttl(Duration.ofSeconds(15))
                .expiryWarning(Duration.ofSeconds(warningSeconds))
                .callbackExecutor(Runnable::run)
                .build()) {
      LockHandle held = hold(client, clock, heard);
      clock.advance(Duration.ofMinutes(1));
      List<String> whileRenewed = heard.events();
      // When
      server.freeze();
      clock.advance(Duration.ofMinutes(1));
      // Then
      assertThat(held.isValid()).isFalse();
      assertThat(whileRenewed).containsExactly("granted");
      assertThat(heard.events())
          .containsExactly("granted", "about to expire", "lost DEADLINE_PASSED");
      thaw(server, clock);
    }
  }

  @Test
  void partitionedLeaderIsWarnedAndThenToldBeforeAnotherLeads() {
    // Given
    ManualClock clock = new ManualClock();
    List<String> told = new CopyOnWriteArrayList<>();
    LeadershipListener listener =
        new LeadershipListener() {
          @Override
          public void onAboutToLose(Leadership leadership, Duration remaining) {
            told.add("about to lose, valid " + leadership.isValid());
          }

          @Override
          public void onSafe(Leadership leadership) {
            told.add("safe");
          }

          @Override
          public void onLost(Leadership leadership, LossReason reason) {
            told.add("lost " + reason);
          }
        };
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
        LockkeeperClient client = server.clientBuilder().callbackExecutor(Runnable::run).build()) {
      CompletableFuture<Leadership> elected =
          client.asElection("leader").campaignAsync("one", listener);
      clock.settle();
      server.jeopardy();
      server.safe();
      clock.settle();
      server.whenFree("leader", () -> told.add("free"));
      // When
      server.freeze();
      clock.advance(Duration.ofMinutes(1));
      // Then
      assertThat(elected.join().isValid()).isFalse();
      assertThat(told)
          .containsExactly(
              "about to lose, valid true",
              "safe",
              "about to lose, valid true",
              "lost DEADLINE_PASSED",
              "free");
      thaw(server, clock);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"MAX_HOLD", "DEADLINE_PASSED"})
  void guardClosedAfterADeadlineThatNoTimerHasNoticedIsALossToAll(LossReason reason)
      throws InterruptedException {
    // Given: the loop is blocked, so that no timer runs
    AtomicLong clock = new AtomicLong();
    CountDownLatch blocking = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Recording heard = new Recording();
    LockListener block =
        new LockListener() {
          @Override
          public void onGranted(LockHandle handle) {
            blocking.countDown();
            awaitQuietly(goOn);
          }
        };
    Duration limit = reason == LossReason.MAX_HOLD ? Duration.ofSeconds(10) : Duration.ofHours(1);
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start();
        LockkeeperClient client =
            server
                .clientBuilder()
                .ttl(Duration.ofMinutes(5))
                .callbackExecutor(Runnable::run)
                .clock(clock::get)
                .build()) {
      LockHandle lock = client.lock(LockRequest.of("orders/42").listener(heard).maxHold(limit));
      CompletableFuture<LockHandle> other =
          client.acquire(LockRequest.of("orders/43").listener(block));
      awaitQuietly(blocking);
      // When
      clock.addAndGet(lock.remaining().toNanos());
      Throwable thrown = catchThrowable(lock::close);
      boolean validAfterwards = lock.isValid();
      List<String> heardBefore = heard.events();
      goOn.countDown();
      // Then
      assertThat(thrown)
          .isInstanceOfSatisfying(
              LockLostException.class, e -> assertThat(e.reason()).isEqualTo(reason));
      assertThat(validAfterwards).isFalse();
      assertThat(heardBefore).containsExactly("granted");
      await()
          .untilAsserted(
              () -> assertThat(heard.events()).containsExactly("granted", "lost " + reason));
      assertThat(lock.lost().toCompletableFuture()).isCompletedWithValue(reason);
      assertThat(other).isCompleted();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
