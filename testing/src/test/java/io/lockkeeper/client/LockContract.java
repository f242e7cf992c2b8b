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

/** A lock, or several, in the shape of the JDK's reentrant lock. */
@SuppressWarnings("LockNotBeforeTry") // What is tested is what lock and unlock do, in every order.
public abstract class LockContract extends Contract {

  /** Runs in another thread what may throw, and returns what it threw. */
  static Optional<Throwable> inAnotherThread(Body body) throws InterruptedException {
    AtomicReference<Optional<Throwable>> thrown = new AtomicReference<>(Optional.empty());
    Thread thread = start(body, thrown);
    thread.join(LONG.toMillis());
    assertThat(thread.isAlive()).isFalse();
    return thrown.get();
  }

  static Thread start(Body body, AtomicReference<Optional<Throwable>> thrown) {
    Thread thread =
        new Thread(
            () -> {
              try {
                body.run();
              } catch (InterruptedException | RuntimeException e) {
                thrown.set(Optional.of(e));
              }
            });
    thread.start();
    return thread;
  }

  /** What a thread does. */
  interface Body {
    void run() throws InterruptedException;
  }

  @Test
  void viewExcludesOthersUntilUnlocked() throws InterruptedException {
    // Given
    LockkeeperLock mine = client("a").asLock(lock);
    LockkeeperLock theirs = client("b").asLock(lock);
    // When
    mine.lock();
    try {
      // Then
      assertThat(theirs.tryLock()).isFalse();
      assertThat(theirs.tryLock(100, MILLISECONDS)).isFalse();
      assertThat(mine.handle()).hasValueSatisfying(h -> assertThat(h.isValid()).isTrue());
    } finally {
      mine.unlock();
    }
    assertThat(theirs.tryLock(1, MINUTES)).isTrue();
    theirs.unlock();
  }

  @Test
  void threadThatHoldsLocksAgainAndUnlocksAsOften() throws InterruptedException {
    // Given
    LockkeeperLock mine = client("a").asLock(lock);
    LockkeeperClient b = client("b");
    // When
    mine.lock();
    mine.lockInterruptibly();
    assertThat(mine.tryLock()).isTrue();
    assertThat(mine.tryLock(1, MINUTES)).isTrue();
    // Then
    for (int count = 4; count > 0; count--) {
      assertThat(mine.getHoldCount()).isEqualTo(count);
      assertThat(b.tryLock(lock)).isEmpty();
      mine.unlock();
    }
    assertThat(mine.isHeldByCurrentThread()).isFalse();
    assertThat(b.tryLock(lock)).isPresent();
    assertThatThrownBy(mine::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void anotherViewOfTheSameClientSharesTheThreadsHold() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperLock one = a.asLock(lock);
    LockkeeperLock two = a.asLock(lock);
    LockkeeperClient b = client("b");
    // When
    one.lock();
    boolean shared = two.tryLock();
    one.unlock();
    Optional<LockHandle> between = b.tryLock(lock);
    two.unlock();
    // Then
    assertThat(shared).isTrue();
    assertThat(between).isEmpty();
    assertThat(b.tryLock(lock)).isPresent();
  }

  @Test
  void anotherThreadOfTheSameViewIsExcludedAndMayNotUnlock() throws InterruptedException {
    // Given
    LockkeeperLock mine = client("a").asLock(lock);
    mine.lock();
    // When
    AtomicReference<Boolean> locked = new AtomicReference<>();
    Optional<Throwable> thrown =
        inAnotherThread(
            () -> {
              locked.set(mine.tryLock());
              mine.unlock();
            });
    // Then
    assertThat(locked.get()).isFalse();
    assertThat(thrown)
        .hasValueSatisfying(
            e ->
                assertThat(e)
                    .isInstanceOf(IllegalMonitorStateException.class)
                    .hasMessageContaining(lock));
    assertThat(mine.isHeldByCurrentThread()).isTrue();
    mine.unlock();
  }

  @Test
  void threadThatDiesHoldingIsNotSucceededByTheNext() throws InterruptedException {
    // Given
    LockkeeperLock view = client("a").asLock(lock);
    // When
    inAnotherThread(view::lock);
    AtomicReference<Boolean> inherited = new AtomicReference<>();
    for (int i = 0; i < 5; i++) {
      inAnotherThread(() -> inherited.set(view.tryLock()));
      // Then
      assertThat(inherited.get()).isFalse();
    }
  }

  @Test
  void manyThreadsOfSeveralClientsAreInsideOneAtATime() throws InterruptedException {
    // Given
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger rounds = new AtomicInteger();
    LockkeeperLock[] views = {client("a").asLock(lock), client("b").asLock(lock)};
    Thread[] threads = new Thread[8];
    AtomicReference<Optional<Throwable>> thrown = new AtomicReference<>(Optional.empty());
    // When
    for (int i = 0; i < threads.length; i++) {
      LockkeeperLock view = views[i % views.length];
      threads[i] =
          start(
              () -> {
                for (int round = 0; round < 10; round++) {
                  view.lock();
                  try {
                    view.lock();
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    rounds.incrementAndGet();
                    inside.decrementAndGet();
                    view.unlock();
                  } finally {
                    view.unlock();
                  }
                }
              },
              thrown);
    }
    for (Thread thread : threads) {
      thread.join(LONG.toMillis());
    }
    // Then
    assertThat(thrown.get()).isEmpty();
    assertThat(rounds).hasValue(80);
    assertThat(most).hasValue(1);
  }

  @Test
  void interruptedWaiterLeavesTheQueue() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperLock view = client("b").asLock(lock);
    a.lock(lock);
    AtomicReference<Optional<Throwable>> thrown = new AtomicReference<>(Optional.empty());
    Thread waiter = start(view::lockInterruptibly, thrown);
    Thread timed = start(() -> view.tryLock(1, HOURS), thrown);
    awaitQueue(a, lock, 2);
    // When
    waiter.interrupt();
    timed.interrupt();
    waiter.join(LONG.toMillis());
    timed.join(LONG.toMillis());
    // Then
    assertThat(thrown.get())
        .hasValueSatisfying(e -> assertThat(e).isInstanceOf(InterruptedException.class));
    awaitQueue(a, lock, 0);
  }

  @Test
  void threadThatIsInterruptedBeforeDoesNotLock() throws InterruptedException {
    // Given
    LockkeeperLock view = client("a").asLock(lock);
    // When
    Optional<Throwable> thrown =
        inAnotherThread(
            () -> {
              Thread.currentThread().interrupt();
              view.lockInterruptibly();
            });
    // Then
    assertThat(thrown)
        .hasValueSatisfying(e -> assertThat(e).isInstanceOf(InterruptedException.class));
    assertThat(view.tryLock()).isTrue();
  }

  @Test
  void lockWaitsOnWhenInterruptedAndKeepsTheInterrupt() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle held = a.lock(lock);
    LockkeeperLock view = client("b").asLock(lock);
    AtomicReference<Boolean> kept = new AtomicReference<>();
    AtomicReference<Optional<Throwable>> thrown = new AtomicReference<>(Optional.empty());
    Thread waiter =
        start(
            () -> {
              view.lock();
              kept.set(Thread.currentThread().isInterrupted());
              view.unlock();
            },
            thrown);
    awaitQueue(a, lock, 1);
    // When
    waiter.interrupt();
    held.close();
    waiter.join(LONG.toMillis());
    // Then
    assertThat(thrown.get()).isEmpty();
    assertThat(kept.get()).isTrue();
  }

  @Test
  void lostLockIsNoticedByTheNextLockAndByEveryUnlock() {
    // Given
    LockkeeperLock mine = client("a").asLock(lock);
    LockkeeperClient b = client("b");
    mine.lock();
    mine.lock();
    LockHandle handle = mine.handle().orElseThrow();
    // When
    b.forceRelease(lock, "it hangs");
    await().until(() -> !handle.isValid());
    // Then
    assertThatThrownBy(mine::lock).isInstanceOf(LockLostException.class);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(mine::unlock)
          .isInstanceOf(IllegalMonitorStateException.class)
          .hasCauseInstanceOf(LockLostException.class);
    }
    mine.lock();
    assertThat(mine.handle()).hasValueSatisfying(h -> assertThat(h.isValid()).isTrue());
    mine.unlock();
  }

  @Test
  void severalLocksAreLockedTogetherOrNotAtAll() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperLock both =
        a.asLock(LockSpec.exclusive(lock + "/1"), LockSpec.permits(lock + "/2", 1, 1));
    LockHandle other = client("b").lock(LockRequest.of(LockSpec.permits(lock + "/2", 1, 1)));
    // When
    boolean while2IsTaken = both.tryLock(200, MILLISECONDS);
    // Told first, deleted then.
    await().until(() -> a.getLock(lock + "/1").isFree());
    other.close();
    both.lock();
    both.lock();
    boolean bothAreTaken = a.listLocks(lock).noneMatch(LockInfo::isFree);
    both.unlock();
    both.unlock();
    // Then
    assertThat(while2IsTaken).isFalse();
    assertThat(bothAreTaken).isTrue();
    assertThat(a.listLocks(lock)).isEmpty();
  }

  @Test
  void ownersThatAreNoThreadsLockWithoutWaiting() {
    // Given
    LockkeeperLock view = client("a").asLock(lock);
    // When
    LockHandle outer = granted(view.lockAsync("task"));
    LockHandle inner = granted(view.lockAsync("task"));
    Optional<LockHandle> other = view.tryLockAsync("other").join();
    Optional<LockHandle> later = view.tryLockAsync("other", Duration.ofMillis(200)).join();
    CompletableFuture<LockHandle> waiting = view.lockAsync("other");
    ReleaseResult first = inner.releaseForResult().join();
    ReleaseResult last = outer.releaseForResult().join();
    // Then
    assertThat(other).isEmpty();
    assertThat(later).isEmpty();
    assertThat(first.outcome()).isEqualTo(ReleaseResult.Outcome.DECREMENTED);
    assertThat(last.outcome()).isEqualTo(ReleaseResult.Outcome.RELEASED);
    granted(waiting).close();
    assertThat(view.tryLockAsync("task").join()).isPresent();
  }

  @Test
  void cancelledTwinLeavesTheQueue() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    a.lock(lock);
    CompletableFuture<Optional<LockHandle>> waiting =
        client("b").asLock(lock).tryLockAsync("task", Duration.ofHours(1));
    awaitQueue(a, lock, 1);
    // When
    waiting.cancel(true);
    // Then
    awaitQueue(a, lock, 0);
  }

  @Test
  void conditionsAreNotOffered() {
    assertThatThrownBy(client("a").asLock(lock)::newCondition)
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("condition");
  }
}
