package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Waits that would never end are refused, and only those. */
@SuppressWarnings("LockNotBeforeTry") // What is tested is a lock that throws.
public abstract class DeadlockContract extends Contract {

  private final String one = lock + "/1";
  private final String two = lock + "/2";

  @Test
  void youngestOfThoseWhoWaitForEachOtherIsToldTheCycle() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperClient b = client("b");
    a.lock(LockRequest.of(one).owner("task"));
    LockHandle held = b.lock(LockRequest.of(two).owner("job"));
    CompletableFuture<LockHandle> older = queue(a, LockRequest.of(two).owner("task"), two);
    // When
    Throwable refused = failure(b.acquire(LockRequest.of(one).owner("job")));
    // Then
    assertDeadlock(refused);
    assertThat(refused).hasMessageContaining(one).hasMessageContaining(two);
    assertThat(older).isNotDone();
    held.close();
    assertThat(granted(older).isValid()).isTrue();
  }

  @Test
  void requestsWithoutAnOwnerAreCheckedIfTheySaySo() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperClient b = client("b");
    a.lock(LockRequest.of(one).checkForDeadlock());
    LockHandle held = b.lock(LockRequest.of(two).checkForDeadlock());
    CompletableFuture<LockHandle> older = queue(a, LockRequest.of(two).checkForDeadlock(), two);
    // When
    Throwable refused = failure(b.acquire(LockRequest.of(one).checkForDeadlock()));
    // Then
    assertDeadlock(refused);
    held.close();
    assertThat(granted(older).isValid()).isTrue();
  }

  @Test
  void whatARequestHoldsThatIsNotCheckedMakesNoCycleEither() throws InterruptedException {
    // Given: one client's task holds the first, the other's is to be checked
    LockkeeperClient a = client("a");
    LockkeeperClient b = client("b");
    LockHandle first = a.lock(one);
    LockHandle second = b.lock(LockRequest.of(two).checkForDeadlock());
    CompletableFuture<LockHandle> third = queue(b, LockRequest.of(one).checkForDeadlock(), one);
    // When
    CompletableFuture<LockHandle> fourth = queue(a, LockRequest.of(two).checkForDeadlock(), two);
    first.close();
    second.close();
    // Then
    assertThat(granted(third).isValid()).isTrue();
    assertThat(granted(fourth).isValid()).isTrue();
  }

  @Test
  void tasksWithoutOwnersThatLookLikeACycleAreAllGranted() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperClient b = client("b");
    LockHandle first = a.lock(one);
    LockHandle second = b.lock(two);
    CompletableFuture<LockHandle> third = queue(a, LockRequest.of(two), two);
    // When
    CompletableFuture<LockHandle> fourth = queue(b, LockRequest.of(one), one);
    first.close();
    second.close();
    // Then
    assertThat(granted(third).isValid()).isTrue();
    assertThat(granted(fourth).isValid()).isTrue();
  }

  private static void assertDeadlock(Throwable refused) {
    assertThat(refused)
        .isInstanceOfSatisfying(
            NotAcquiredException.class,
            e -> assertThat(e.reason()).isEqualTo(NotAcquiredReason.WOULD_DEADLOCK));
  }

  @Test
  void requestThatSkipsTheCheckWaitsOn() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperClient b = client("b");
    a.lock(LockRequest.of(one).owner("task"));
    b.lock(LockRequest.of(two).owner("job"));
    CompletableFuture<LockHandle> older = queue(a, LockRequest.of(two).owner("task"), two);
    LockRequest closing = LockRequest.of(one).owner("job").skipDeadlockCheck();
    // When
    Throwable ended = failure(b.acquire(closing.waitAtMost(Duration.ofMillis(500))));
    // Then
    assertThat(ended)
        .isInstanceOfSatisfying(
            NotAcquiredException.class,
            e -> assertThat(e.reason()).isEqualTo(NotAcquiredReason.TIMED_OUT));
    assertThat(older).isNotDone();
  }

  @Test
  void ownersOfTwoClientsThatDoNotWaitForEachOtherAreLeftAlone() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperClient b = client("b");
    LockHandle first = a.lock(LockRequest.of(one).owner("task 1"));
    LockHandle second = b.lock(LockRequest.of(two).owner("task 1"));
    CompletableFuture<LockHandle> third = queue(a, LockRequest.of(two).owner("task 2"), two);
    // When
    CompletableFuture<LockHandle> fourth = queue(b, LockRequest.of(one).owner("task 2"), one);
    first.close();
    second.close();
    // Then
    assertThat(granted(third).isValid()).isTrue();
    assertThat(granted(fourth).isValid()).isTrue();
  }

  @Test
  void oneOfTwoThreadsThatLockCrosswiseIsRefusedAndTheOtherGoesOn() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperLock[] locks = {a.asLock(one), a.asLock(two)};
    CyclicBarrier bothHold = new CyclicBarrier(2);
    AtomicInteger refused = new AtomicInteger();
    AtomicInteger done = new AtomicInteger();
    AtomicReference<Optional<Throwable>> thrown = new AtomicReference<>(Optional.empty());
    Thread[] threads = new Thread[2];
    // When
    for (int i = 0; i < 2; i++) {
      LockkeeperLock mine = locks[i];
      LockkeeperLock other = locks[1 - i];
      threads[i] = LockContract.start(() -> cross(mine, other, bothHold, refused, done), thrown);
    }
    for (Thread thread : threads) {
      thread.join(LONG.toMillis());
    }
    // Then
    assertThat(thrown.get()).isEmpty();
    assertThat(refused).hasValue(1);
    assertThat(done).hasValue(1);
  }

  private static void cross(
      LockkeeperLock mine,
      LockkeeperLock other,
      CyclicBarrier bothHold,
      AtomicInteger refused,
      AtomicInteger done) {
    mine.lock();
    try {
      bothHold.await(LONG.toSeconds(), TimeUnit.SECONDS);
      other.lock();
      other.unlock();
      done.incrementAndGet();
    } catch (NotAcquiredException e) {
      assertThat(e.reason()).isEqualTo(NotAcquiredReason.WOULD_DEADLOCK);
      refused.incrementAndGet();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    } finally {
      mine.unlock();
    }
  }
}
