package io.lockkeeper.client;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Permits in the shape of the JDK's semaphore, and with handles. */
public abstract class SemaphoreContract extends Contract {

  @Test
  void permitsAreTakenUntilNoneIsLeft() throws InterruptedException {
    // Given
    LockkeeperSemaphore mine = client("a").asSemaphore(lock, 3);
    LockkeeperSemaphore theirs = client("b").asSemaphore(lock, 3);
    // When
    mine.acquire(2);
    boolean third = theirs.tryAcquire();
    boolean fourth = theirs.tryAcquire(100, MILLISECONDS);
    // Then
    assertThat(third).isTrue();
    assertThat(fourth).isFalse();
    assertThat(theirs.availablePermits()).isZero();
    mine.release(2);
    assertThat(theirs.availablePermitsAsync().join()).isEqualTo(2);
    assertThat(theirs.tryAcquire(2, 1, MINUTES)).isTrue();
  }

  @Test
  void permitsThatWereNotTakenAreNotReleased() throws InterruptedException {
    // Given
    LockkeeperSemaphore mine = client("a").asSemaphore(lock, 3);
    mine.acquire();
    // When / Then
    assertThatThrownBy(() -> mine.release(2))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("1 are taken");
    assertThatThrownBy(() -> mine.release(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(client("b").asSemaphore(lock, 3)::release)
        .isInstanceOf(IllegalStateException.class);
    assertThat(mine.availablePermits()).isEqualTo(2);
    mine.release();
    assertThat(mine.availablePermits()).isEqualTo(3);
  }

  @Test
  void grantGoesBackAsAWhole() throws InterruptedException {
    // Given
    LockkeeperSemaphore mine = client("a").asSemaphore(lock, 10);
    mine.acquire(3);
    mine.acquire(2);
    mine.acquire(2);
    // When / Then
    assertThatThrownBy(() -> mine.release(6))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("[2, 2, 3]");
    assertThat(mine.availablePermits()).isEqualTo(3);
    mine.release(4);
    assertThat(mine.availablePermits()).isEqualTo(7);
    mine.releaseAsync(3).join();
    assertThat(mine.availablePermits()).isEqualTo(10);
  }

  @Test
  void anotherThreadMayGiveBackWhatAWaiterNeeds() throws InterruptedException {
    // Given
    LockkeeperSemaphore shared = client("a").asSemaphore(lock, 1);
    LockkeeperClient observer = client("observer");
    shared.acquire();
    AtomicReference<Optional<Throwable>> thrown = new AtomicReference<>(Optional.empty());
    Thread other =
        LockContract.start(
            () -> {
              awaitQueue(observer, lock, 1);
              shared.release();
            },
            thrown);
    // When
    shared.acquire();
    // Then
    other.join(LONG.toMillis());
    assertThat(thrown.get()).isEmpty();
    shared.release();
  }

  @Test
  void handleGivesItsPermitsBackOnce() throws InterruptedException {
    // Given
    LockkeeperSemaphore semaphore = client("a").asSemaphore(lock, 3);
    // When
    try (LockHandle two = semaphore.acquirePermits(2)) {
      // Then
      assertThat(two.fencingToken()).isPositive();
      assertThat(semaphore.tryAcquirePermits(2, Duration.ZERO)).isEmpty();
      assertThat(semaphore.tryAcquireAsync(2, Duration.ofMillis(100)).join()).isEmpty();
      assertThatThrownBy(semaphore::release).isInstanceOf(IllegalStateException.class);
      two.close();
    }
    assertThat(semaphore.availablePermits()).isEqualTo(3);
  }

  @Test
  void interruptedWaiterLeavesTheQueueAndAnUninterruptibleOneDoesNot() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperSemaphore semaphore = a.asSemaphore(lock, 1);
    semaphore.acquire();
    AtomicReference<Optional<Throwable>> ended = new AtomicReference<>(Optional.empty());
    AtomicReference<Optional<Throwable>> waited = new AtomicReference<>(Optional.empty());
    Thread interruptible = LockContract.start(() -> semaphore.tryAcquire(1, 1, HOURS), ended);
    Thread patient = LockContract.start(semaphore::acquireUninterruptibly, waited);
    awaitQueue(a, lock, 2);
    // When
    interruptible.interrupt();
    patient.interrupt();
    interruptible.join(LONG.toMillis());
    // Then
    assertThat(ended.get())
        .hasValueSatisfying(e -> assertThat(e).isInstanceOf(InterruptedException.class));
    awaitQueue(a, lock, 1);
    semaphore.release();
    patient.join(LONG.toMillis());
    assertThat(waited.get()).isEmpty();
    assertThat(semaphore.availablePermits()).isZero();
  }

  @Test
  void neverAreMoreInsideThanTheLimit() throws InterruptedException {
    // Given
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicReference<Optional<Throwable>> thrown = new AtomicReference<>(Optional.empty());
    LockkeeperSemaphore[] views = {
      client("a").asSemaphore(lock, 3), client("b").asSemaphore(lock, 3)
    };
    Thread[] threads = new Thread[8];
    // When
    for (int i = 0; i < threads.length; i++) {
      LockkeeperSemaphore view = views[i % 2];
      int permits = 1 + i % 3;
      threads[i] =
          LockContract.start(
              () -> {
                for (int round = 0; round < 8; round++) {
                  view.acquire(permits);
                  most.accumulateAndGet(inside.addAndGet(permits), Math::max);
                  inside.addAndGet(-permits);
                  view.release(permits);
                }
              },
              thrown);
    }
    for (Thread thread : threads) {
      thread.join(LONG.toMillis());
    }
    // Then
    assertThat(thrown.get()).isEmpty();
    assertThat(most.get()).isBetween(1, 3);
    assertThat(views[0].availablePermits()).isEqualTo(3);
  }

  @Test
  void permitsOfAClientThatEndsReturn() throws InterruptedException {
    // Given
    LockkeeperSemaphore mine = client("a").asSemaphore(lock, 2);
    LockkeeperClient other = client("b");
    other.asSemaphore(lock, 2).acquire(2);
    CompletableFuture<LockHandle> waiting = mine.acquireAsync(2);
    awaitQueue(client("c"), lock, 1);
    // When
    other.close();
    // Then
    assertThat(granted(waiting).isValid()).isTrue();
  }

  @Test
  void permitsThatWereLostAreNoticedWhenTheyAreReleased() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperSemaphore semaphore = a.asSemaphore(lock, 2);
    semaphore.acquire();
    LockHandle last = semaphore.acquirePermits(1);
    // When
    a.forceRelease(lock, "it hangs");
    await().until(() -> !last.isValid());
    // Then
    assertThatThrownBy(semaphore::release).isInstanceOf(LockLostException.class);
    semaphore.acquire();
    semaphore.release();
  }
}
