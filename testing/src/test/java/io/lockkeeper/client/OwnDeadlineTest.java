package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.testing.InMemoryLockkeeper;
import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The client stops by its own clock before the server gives the lock to somebody else. */
class OwnDeadlineTest {

  private static final int RUNS = 300;
  private static final long FIRST_SEED = 20_260_101L;

  /** What happened in one run, in nanoseconds of the server's clock. */
  private record Observed(long lostAt, int timesLost, long grantedToOtherAt) {
    long margin() {
      return grantedToOtherAt - lostAt;
    }
  }

  private static LockHandle hold(LockkeeperClient client, ManualClock clock, Recording heard) {
    CompletableFuture<LockHandle> held =
        client.acquire(LockRequest.of("orders/42").listener(heard));
    clock.settle();
    return held.join();
  }

  @Test
  void partitionedHolderIsToldLostBeforeAnotherIsGranted() {
    // Given
    List<Long> margins = new ArrayList<>();
    for (long seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
      // When
      Observed outcome = run(new SplittableRandom(seed));
      // Then
      assertThat(outcome.timesLost()).as("seed %d: told lost", seed).isEqualTo(1);
      assertThat(outcome.margin()).as("seed %d: margin", seed).isPositive();
      margins.add(outcome.margin());
    }
    System.out.printf(
        "own deadline: %d partitions from seed %d, margin min %.1f ms, median %.1f ms%n",
        RUNS,
        FIRST_SEED,
        margins.stream().min(Long::compare).orElseThrow() / 1e6,
        margins.stream().sorted().skip(RUNS / 2).findFirst().orElseThrow() / 1e6);
  }

  /** A holder with a clock that is wrong by up to 2 % and a slow network is cut off; one waits. */
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
    }
    return new Observed(lostAt.get(0), lostAt.size(), otherAt.get(0));
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
    }
  }

  @Test
  void answersThatWereHeldBackDoNotReviveTheLease() {
    // Given
    ManualClock clock = new ManualClock();
    Recording heard = new Recording();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
        LockkeeperClient client = server.clientBuilder().callbackExecutor(Runnable::run).build()) {
      LockHandle handle = hold(client, clock, heard);
      server.freeze();
      clock.advance(Duration.ofSeconds(14).plusMillis(700));
      // When
      server.thaw();
      clock.advance(Duration.ofMinutes(1));
      // Then
      assertThat(handle.isValid()).isFalse();
      assertThat(heard.events()).endsWith("lost DEADLINE_PASSED").doesNotHaveDuplicates();
    }
  }

  @Test
  void processThatWasPausedPastItsDeadlineIsNotRevivedByWhatItFindsInItsQueue() throws Exception {
    // Given
    AtomicLong clock = new AtomicLong();
    CountDownLatch pausing = new CountDownLatch(1);
    CountDownLatch paused = new CountDownLatch(1);
    Recording heard = new Recording();
    LockListener pause =
        new LockListener() {
          @Override
          public void onAboutToExpire(LockHandle handle, Duration remaining) {
            pausing.countDown();
            awaitQuietly(paused);
          }

          @Override
          public void onLost(LockHandle handle, LossReason reason) {
            heard.onLost(handle, reason);
          }
        };
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start();
        LockkeeperClient client =
            server
                .clientBuilder()
                .ttl(Duration.ofSeconds(15))
                .expiryWarning(Duration.ofSeconds(9))
                .callbackExecutor(Runnable::run)
                .clock(clock::get)
                .build()) {
      LockHandle handle = client.lock(LockRequest.of("orders/42").listener(pause));
      server.freeze();
      clock.addAndGet(TimeUnit.SECONDS.toNanos(10));
      awaitQuietly(pausing);
      // When
      server.thaw();
      server.leaseCount();
      clock.addAndGet(TimeUnit.SECONDS.toNanos(10));
      boolean validInThePause = handle.isValid();
      paused.countDown();
      // Then
      assertThat(validInThePause).isFalse();
      await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(() -> assertThat(heard.events()).containsExactly("lost DEADLINE_PASSED"));
      assertThat(handle.isValid()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"MAX_HOLD", "DEADLINE_PASSED"})
  void guardThatIsClosedWhenItsDeadlineHasPassedUnnoticedIsALossToAll(LossReason reason)
      throws InterruptedException {
    // Given: a loop that has no time to look at its timers
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
    Duration limit = reason == LossReason.MAX_HOLD ? Duration.ofSeconds(5) : Duration.ofMinutes(1);
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start();
        LockkeeperClient client =
            server
                .clientBuilder()
                .ttl(Duration.ofSeconds(15))
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
      assertThat(lock.lost().toCompletableFuture())
          .succeedsWithin(Duration.ofSeconds(20))
          .isEqualTo(reason);
      await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(
              () -> assertThat(heard.events()).containsExactly("granted", "lost " + reason));
      assertThat(other).isCompleted();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void pauseShorterThanTheDeadlineCostsNothing() {
    // Given
    ManualClock clock = new ManualClock();
    Recording heard = new Recording();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
        LockkeeperClient client = server.clientBuilder().callbackExecutor(Runnable::run).build()) {
      LockHandle handle = hold(client, clock, heard);
      // When
      for (int i = 0; i < 20; i++) {
        server.freeze();
        clock.advance(Duration.ofSeconds(8));
        server.thaw();
        clock.advance(Duration.ofSeconds(8));
      }
      // Then
      assertThat(handle.isValid()).isTrue();
      assertThat(server.holderToken("orders/42")).isEqualTo(Optional.of(handle.fencingToken()));
      assertThat(heard.events()).doesNotContain("lost DEADLINE_PASSED");
    }
  }
}
