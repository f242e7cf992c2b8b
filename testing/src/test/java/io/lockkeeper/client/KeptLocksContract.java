package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Locks that stay with a client while nobody else wants them. */
public abstract class KeptLocksContract extends Contract {

  private static final Duration KEEP = Duration.ofMinutes(1);

  private LockRequest kept() {
    return LockRequest.of(lock).keepUnused(KEEP);
  }

  @Test
  void lockStaysWithTheClientUntilAnotherOneWantsIt() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle first = a.lock(kept());
    first.close();
    assertThat(a.getLock(lock).holders()).hasSize(1);
    LockHandle second = a.lock(kept());
    assertThat(second.fencingToken()).isEqualTo(first.fencingToken());
    second.close();
    // When
    LockHandle others = client("b").lock(LockRequest.of(lock).waitAtMost(LONG));
    // Then
    assertThat(others.fencingToken()).isGreaterThan(first.fencingToken());
    CompletableFuture<LockHandle> again = a.acquire(kept());
    awaitQueue(a, lock, 1);
    others.close();
    assertThat(granted(again).fencingToken()).isGreaterThan(others.fencingToken());
  }

  @Test
  void otherWaitsUntilTheUserReleasesIt() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    Recording heard = new Recording();
    LockHandle used = a.lock(kept().listener(heard));
    // When
    CompletableFuture<LockHandle> other = queue(client("b"), LockRequest.of(lock), lock);
    await().until(() -> heard.events().contains("contended 1"));
    // Then
    assertThat(other).isNotDone();
    assertThat(used.isValid()).isTrue();
    used.close();
    assertThat(granted(other).isValid()).isTrue();
  }

  @Test
  void attemptThatDoesNotWaitMakesItFreeForTheNext() throws InterruptedException {
    client("a").lock(kept()).close();
    LockkeeperClient b = client("b");
    await().until(() -> b.tryLock(lock).isPresent());
  }

  @Test
  @SuppressWarnings("LockNotBeforeTry")
  void viewsKeepThem() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperLock view = a.asLock(lock).keepUnused(KEEP);
    view.lock();
    view.lock();
    Optional<Long> token = view.handle().map(LockHandle::fencingToken);
    view.unlock();
    view.unlock();
    // When
    assertThat(view.tryLock()).isTrue();
    // Then
    assertThat(view.handle().map(LockHandle::fencingToken)).isEqualTo(token);
    view.unlock();
    assertThat(a.getLock(lock).holders()).hasSize(1);
    LockkeeperSemaphore permits = a.asSemaphore(lock + "/permits", 3).keepUnused(KEEP);
    permits.acquire(2);
    permits.release(2);
    assertThat(permits.availablePermits()).isEqualTo(1);
    permits.acquire(2);
    permits.release(2);
    assertThat(permits.availablePermits()).isEqualTo(1);
  }

  @Test
  @SuppressWarnings("LockNotBeforeTry")
  void readersKeepUntilAWriterComesAndThereIsNoDowngrade() throws InterruptedException {
    // Given
    LockkeeperReadWriteLock a = client("a").asReadWriteLock(lock).keepUnused(KEEP);
    a.readLock().lock();
    a.readLock().unlock();
    LockkeeperReadWriteLock b = client("b").asReadWriteLock(lock).keepUnused(KEEP);
    // When
    b.writeLock().lock();
    // Then
    assertThatThrownBy(() -> b.readLock().lock())
        .isInstanceOfSatisfying(
            NotAcquiredException.class,
            e -> assertThat(e.reason()).isEqualTo(NotAcquiredReason.WOULD_DEADLOCK));
    b.writeLock().unlock();
    a.readLock().lock();
    a.readLock().unlock();
  }

  @Test
  void tasksAreNestedAsEver() throws InterruptedException {
    LockkeeperClient a = client("a");
    long depth = a.withLock(kept(), outer -> a.withLock(kept(), inner -> inner.fencingToken()));
    assertThat(depth).isPositive();
    assertThat(a.getLock(lock).holders()).hasSize(1);
  }

  @Test
  void chainOfRequestsThatAreGrantedAtOnceIsNoRecursion() throws InterruptedException {
    // Given: what is held already when the chain begins, and callbacks that run where they arise
    try (LockkeeperClient direct = clientBuilder().callbackExecutor(Runnable::run).build()) {
      direct.lock(kept()).close();
      CompletableFuture<Integer> done = new CompletableFuture<>();
      // When
      chain(direct, 20_000, done);
      // Then
      assertThat(done.orTimeout(LONG.toSeconds(), TimeUnit.SECONDS).join()).isZero();
    }
  }

  private void chain(LockkeeperClient direct, int left, CompletableFuture<Integer> done) {
    if (left == 0) {
      done.complete(0);
      return;
    }
    CompletableFuture<Void> unused =
        direct
            .acquire(kept())
            .thenCompose(LockHandle::releaseAsync)
            .thenRun(() -> chain(direct, left - 1, done));
  }

  @Test
  void neverTwoUseItWhoeverTheyAre() throws InterruptedException {
    // Given
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger done = new AtomicInteger();
    List<Throwable> failures = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (LockkeeperClient each : List.of(client("a"), client("b"))) {
      for (int i = 0; i < 3; i++) {
        threads.add(
            new Thread(
                () -> {
                  try {
                    for (int turn = 0; turn < 50; turn++) {
                      each.runWithLock(
                          kept(),
                          held -> {
                            if (inside.incrementAndGet() != 1 || !held.isValid()) {
                              throw new IllegalStateException("two at once");
                            }
                            inside.decrementAndGet();
                            done.incrementAndGet();
                          });
                    }
                  } catch (InterruptedException | RuntimeException e) {
                    synchronized (failures) {
                      failures.add(e);
                    }
                  }
                }));
      }
    }
    // When
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    // Then
    assertThat(failures).isEmpty();
    assertThat(done).hasValue(300);
  }
}
