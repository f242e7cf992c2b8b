package io.lockkeeper.client;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A read/write lock in the shape of the JDK's. */
@SuppressWarnings("LockNotBeforeTry") // What is tested is what lock and unlock do, in every order.
public abstract class ReadWriteLockContract extends Contract {

  @Test
  void manyReadersAreInsideTogetherAndWritersAlone() throws InterruptedException {
    // Given
    AtomicInteger readers = new AtomicInteger();
    AtomicInteger writers = new AtomicInteger();
    AtomicInteger mostReaders = new AtomicInteger();
    AtomicInteger violations = new AtomicInteger();
    AtomicReference<Optional<Throwable>> thrown = new AtomicReference<>(Optional.empty());
    LockkeeperReadWriteLock[] views = {
      client("a").asReadWriteLock(lock), client("b").asReadWriteLock(lock)
    };
    LockContract.Body read =
        () -> {
          mostReaders.accumulateAndGet(readers.incrementAndGet(), Math::max);
          violations.addAndGet(writers.get());
          readers.decrementAndGet();
        };
    LockContract.Body write =
        () -> {
          violations.addAndGet(writers.incrementAndGet() - 1 + readers.get());
          writers.decrementAndGet();
        };
    // When
    Thread[] threads = new Thread[8];
    for (int i = 0; i < threads.length; i++) {
      LockkeeperReadWriteLock view = views[i % 2];
      boolean writes = i < 2;
      LockkeeperLock side = writes ? view.writeLock() : view.readLock();
      threads[i] = LockContract.start(() -> repeat(side, writes ? write : read), thrown);
    }
    for (Thread thread : threads) {
      thread.join(LONG.toMillis());
    }
    // Then
    assertThat(thrown.get()).isEmpty();
    assertThat(violations).hasValue(0);
    assertThat(mostReaders).hasPositiveValue();
  }

  private static void repeat(LockkeeperLock side, LockContract.Body body)
      throws InterruptedException {
    for (int i = 0; i < 10; i++) {
      side.lock();
      try {
        body.run();
      } finally {
        side.unlock();
      }
    }
  }

  @Test
  void bothSidesAreReentrant() {
    // Given
    LockkeeperReadWriteLock view = client("a").asReadWriteLock(lock);
    LockkeeperClient b = client("b");
    // When
    for (LockkeeperLock side : new LockkeeperLock[] {view.readLock(), view.writeLock()}) {
      side.lock();
      side.lock();
      // Then
      assertThat(side.getHoldCount()).isEqualTo(2);
      side.unlock();
      assertThat(b.asReadWriteLock(lock).writeLock().tryLock()).isFalse();
      side.unlock();
      assertThat(b.getLock(lock).isFree()).isTrue();
    }
  }

  @Test
  void writerDowngradesPastAWriterThatWaits() throws InterruptedException {
    // Given
    LockkeeperReadWriteLock view = client("a").asReadWriteLock(lock);
    LockkeeperClient b = client("b");
    view.writeLock().lock();
    CompletableFuture<LockHandle> writer = queue(b, LockRequest.of(LockSpec.write(lock)), lock);
    // When
    view.readLock().lock();
    view.writeLock().unlock();
    // Then
    assertThat(view.readLock().handle())
        .hasValueSatisfying(handle -> assertThat(handle.isValid()).isTrue());
    assertThat(view.writeLock().isHeldByCurrentThread()).isFalse();
    assertThat(writer).isNotDone();
    await() // The server's copy of the queue may be behind.
        .untilAsserted(
            () ->
                assertThat(b.getLock(lock).holders())
                    .extracting(Contender::mode)
                    .containsExactly(LockMode.READ));
    view.readLock().unlock();
    assertThat(granted(writer).isValid()).isTrue();
  }

  @Test
  void readerThatLocksForWritingIsToldThatItWouldWaitForItself() {
    // Given
    LockkeeperReadWriteLock view = client("a").asReadWriteLock(lock);
    view.readLock().lock();
    Consumer<Throwable> saysSo =
        e ->
            assertThat(((NotAcquiredException) e).reason())
                .isEqualTo(NotAcquiredReason.WOULD_DEADLOCK);
    // When / Then
    assertThatThrownBy(view.writeLock()::lock)
        .isInstanceOf(NotAcquiredException.class)
        .satisfies(saysSo::accept);
    assertThatThrownBy(() -> view.writeLock().tryLock(1, HOURS))
        .isInstanceOf(NotAcquiredException.class);
    assertThat(view.writeLock().tryLock()).isFalse();
    view.readLock().unlock();
    assertThat(view.writeLock().tryLock()).isTrue();
  }

  @Test
  void threadThatHoldsOneSideMayNotUnlockTheOther() {
    // Given
    LockkeeperReadWriteLock view = client("a").asReadWriteLock(lock);
    // When
    view.writeLock().lock();
    // Then
    assertThatThrownBy(view.readLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
    view.writeLock().unlock();
  }

  @Test
  void threadOfTheSameClientWaitsForAnotherThatReads() throws InterruptedException {
    // Given
    LockkeeperReadWriteLock view = client("a").asReadWriteLock(lock);
    view.readLock().lock();
    AtomicReference<Boolean> wrote = new AtomicReference<>();
    // When
    Optional<Throwable> thrown =
        LockContract.inAnotherThread(() -> wrote.set(view.writeLock().tryLock(200, MILLISECONDS)));
    // Then
    assertThat(thrown).isEmpty();
    assertThat(wrote.get()).isFalse();
    view.readLock().unlock();
  }

  @Test
  void allWhoTakePartAreListedInTheirOrder() throws InterruptedException {
    // Given
    LockkeeperClient observer = client("observer");
    LockRequest read = LockRequest.of(LockSpec.read(lock));
    client("r1").lock(read);
    client("r2").lock(read);
    // When
    CompletableFuture<LockHandle> unused =
        queue(client("w"), LockRequest.of(LockSpec.write(lock)), lock);
    CompletableFuture<LockHandle> unusedToo = queue(client("r3"), read, lock);
    // Then
    await().until(() -> observer.getLock(lock).queueLength() == 2);
    LockInfo info = observer.getLock(lock);
    assertThat(info.holders()).extracting(Contender::holder).containsExactly("r1", "r2");
    assertThat(info.queue()).extracting(Contender::holder).containsExactly("w", "r3");
  }
}
