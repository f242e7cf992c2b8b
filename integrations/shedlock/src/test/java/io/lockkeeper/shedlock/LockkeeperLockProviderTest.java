package io.lockkeeper.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.ServerUnavailableException;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import net.javacrumbs.shedlock.support.LockException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What ShedLock's own tests do not ask: limits, losses, outages, threads. */
class LockkeeperLockProviderTest {

  private static final String LOCK = "shedlock/report";
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration MOMENT = Duration.ofMillis(100);

  private final InMemoryLockkeeper server = InMemoryLockkeeper.start();
  private final LockkeeperClient client = server.clientBuilder().build();
  private final LockkeeperLockProvider provider =
      LockkeeperLockProvider.builder(client).interruptWhenOver().build();
  private final LockingTaskExecutor executor = new DefaultLockingTaskExecutor(provider);

  @AfterEach
  void stop() {
    provider.close();
    client.close();
    server.close();
  }

  private static LockConfiguration report(Duration lockAtMostFor, Duration lockAtLeastFor) {
    return new LockConfiguration(Instant.EPOCH, "report", lockAtMostFor, lockAtLeastFor);
  }

  private static LockConfiguration report() {
    return report(HOUR, Duration.ZERO);
  }

  private SimpleLock take(LockConfiguration configuration) {
    return provider.lock(configuration).orElseThrow();
  }

  private boolean isFree() {
    return server.holderToken(LOCK).isEmpty();
  }

  /** Waits for this thread to be interrupted, and clears that. Awaitility asks in another one. */
  private static void awaitInterrupt() {
    assertThatThrownBy(() -> new CountDownLatch(1).await())
        .isInstanceOf(InterruptedException.class);
  }

  /** Like {@link #awaitInterrupt}, and leaves the thread interrupted. */
  private static void spinUntilInterrupted() {
    while (!Thread.currentThread().isInterrupted()) {
      Thread.onSpinWait();
    }
  }

  private static Set<Thread> providerThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("lockkeeper-shedlock"))
        .collect(Collectors.toSet());
  }

  @Test
  void nameOfTheLockIsThatOfTheJobWithThePrefix() {
    // Given
    try (LockkeeperLockProvider billing =
        LockkeeperLockProvider.builder(client).prefix("billing/jobs/").build()) {
      // When
      Optional<SimpleLock> lock = billing.lock(report());
      // Then
      assertThat(lock).isPresent();
      assertThat(server.holderToken("billing/jobs/report")).isPresent();
      assertThat(isFree()).isTrue();
    }
  }

  @Test
  void prefixThatNoNameMayBeginWithIsRefused() {
    // When / Then
    assertThatThrownBy(() -> LockkeeperLockProvider.builder(client).prefix("a//"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("prefix \"a//\"")
        .hasMessageContaining("no segment");
  }

  @Test
  void nameThatIsTooLongIsRefusedWithItsLimit() {
    // Given
    LockConfiguration tooLong =
        new LockConfiguration(Instant.EPOCH, "x".repeat(512), HOUR, Duration.ZERO);
    // When / Then
    assertThatThrownBy(() -> provider.lock(tooLong))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("512 bytes of UTF-8; this one has 521");
  }

  @Test
  void lockIsFreeAfterLockAtMostForAndTheLateUnlockDoesNoHarm() {
    // Given
    SimpleLock late = take(report(MOMENT, Duration.ZERO));
    awaitInterrupt();
    await().until(this::isFree);
    SimpleLock next = take(report());
    // When
    late.unlock();
    // Then
    assertThat(isFree()).isFalse();
    next.unlock();
    assertThat(isFree()).isTrue();
  }

  @Test
  void limitsMayBeAsLongAsADurationIs() {
    // Given
    Duration longest = Duration.ofSeconds(Long.MAX_VALUE);
    SimpleLock lock = take(report(longest, longest));
    // When
    lock.unlock();
    // Then
    assertThat(isFree()).isFalse();
  }

  @Test
  void lockAtMostForOfZeroIsOverAtOnceAndANegativeLockAtLeastForIsNone() {
    // When
    SimpleLock lock = take(report(Duration.ZERO, Duration.ofSeconds(-1)));
    // Then
    awaitInterrupt();
    await().until(this::isFree);
    lock.unlock();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void extensionMovesLockAtLeastForToo() {
    // Given
    SimpleLock lock = take(report(HOUR, HOUR));
    // When
    SimpleLock extended = lock.extend(HOUR, Duration.ZERO).orElseThrow();
    extended.unlock();
    // Then
    assertThat(isFree()).isTrue();
  }

  @Test
  void extensionMakesLockAtMostForShorter() {
    // Given
    SimpleLock lock = take(report());
    // When
    Optional<SimpleLock> extended = lock.extend(MOMENT, Duration.ZERO);
    // Then
    assertThat(extended).isPresent();
    awaitInterrupt();
    await().until(this::isFree);
    extended.orElseThrow().unlock();
  }

  @Test
  void extensionWhoseLimitsContradictEachOtherIsRefusedAndTheLockIsNotSpent() {
    // Given
    SimpleLock lock = take(report());
    // When
    assertThatThrownBy(() -> lock.extend(MOMENT, HOUR))
        .isInstanceOf(IllegalArgumentException.class);
    lock.unlock();
    // Then
    assertThat(isFree()).isTrue();
  }

  @Test
  void extensionOfALostLockIsRefusedAndTheJobMayStillUnlock() {
    // Given
    SimpleLock lock = take(report());
    server.removeHolder(LOCK);
    // When / Then
    awaitInterrupt();
    assertThat(lock.extend(HOUR, Duration.ZERO)).isEmpty();
    lock.unlock();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void ofManyWhoUnlockAndExtendAtOnceOneSucceeds() throws Exception {
    // Given
    LockkeeperLockProvider quiet = new LockkeeperLockProvider(client);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      for (int round = 0; round < 50; round++) {
        SimpleLock lock = quiet.lock(report()).orElseThrow();
        AtomicInteger unlocked = new AtomicInteger();
        AtomicInteger extended = new AtomicInteger();
        // When
        List<Future<?>> calls =
            List.of(
                threads.submit(() -> counted(unlocked, lock::unlock)),
                threads.submit(() -> counted(extended, () -> lock.extend(HOUR, HOUR))),
                threads.submit(() -> counted(unlocked, lock::unlock)),
                threads.submit(() -> counted(extended, () -> lock.extend(HOUR, HOUR))));
        for (Future<?> call : calls) {
          call.get();
        }
        // Then
        assertThat(unlocked.get() + extended.get()).isEqualTo(1);
        assertThat(isFree()).isEqualTo(unlocked.get() == 1);
        server.removeHolder(LOCK);
      }
    } finally {
      threads.shutdownNow();
      quiet.close();
    }
  }

  private static void counted(AtomicInteger successes, Runnable call) {
    try {
      call.run();
      successes.incrementAndGet();
    } catch (IllegalStateException spent) {
      assertThat(spent).hasMessageContaining("unlocked or extended before");
    }
  }

  @Test
  void holderThatIsLostLeavesTheLockForLockAtLeastForOfItsCall() {
    // Given
    SimpleLock lock = take(report(HOUR, HOUR));
    SimpleLock extended = lock.extend(HOUR, Duration.ZERO).orElseThrow();
    // When
    server.endLeases();
    // Then
    awaitInterrupt();
    assertThat(isFree()).isTrue();
    assertThat(provider.lock(report())).isEmpty();
    extended.unlock();
  }

  @Test
  void holderThatIsLostWithoutLockAtLeastForLeavesTheLockFree() {
    // Given
    SimpleLock lock = take(report(HOUR, Duration.ZERO));
    // When
    server.endLeases();
    // Then
    awaitInterrupt();
    SimpleLock next = take(report());
    lock.unlock();
    assertThat(isFree()).isFalse();
    next.unlock();
  }

  @Test
  void clientThatClosesLeavesALockThatIsKeptForLockAtLeastFor() {
    // Given
    LockkeeperClient leaving = server.clientBuilder().build();
    LockkeeperLockProvider elsewhere = new LockkeeperLockProvider(leaving);
    elsewhere.lock(report(HOUR, HOUR)).orElseThrow().unlock();
    // When
    elsewhere.close();
    leaving.close();
    // Then
    await().until(this::isFree);
    assertThat(provider.lock(report())).isEmpty();
  }

  @Test
  void jobWhoseLockIsLostIsInterruptedAndTheInterruptDoesNotOutliveIt() {
    // When / Then
    assertThatThrownBy(
            () ->
                executor.executeWithLock(
                    (LockingTaskExecutor.Task)
                        () -> {
                          server.removeHolder(LOCK);
                          new CountDownLatch(1).await();
                        },
                    report()))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void interruptThatNoJobHasSeenDoesNotOutliveTheLock() {
    // When
    executor.executeWithLock(
        (Runnable)
            () -> {
              server.removeHolder(LOCK);
              spinUntilInterrupted();
            },
        report());
    // Then
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void ofNestedLocksThatAreLostBothJobsAreInterrupted() {
    // Given
    SimpleLock outer = take(report());
    SimpleLock inner = take(new LockConfiguration(Instant.EPOCH, "other", HOUR, Duration.ZERO));
    server.endLeases();
    spinUntilInterrupted();
    // When
    inner.unlock();
    // Then
    spinUntilInterrupted();
    outer.unlock();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void nobodyIsInterruptedUnlessTheProviderIsToldTo() {
    // Given
    LockkeeperLockProvider quiet = new LockkeeperLockProvider(client);
    SimpleLock lock = quiet.lock(report(MOMENT, Duration.ZERO)).orElseThrow();
    // When
    while (catchThrowable(LockkeeperLockProvider::fencingToken) == null) {
      Thread.onSpinWait();
    }
    lock.unlock();
    quiet.close();
    // Then
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void jobThatCannotExtendItsLockIsToldSo() {
    // When / Then
    assertThatThrownBy(
            () ->
                executor.executeWithLock(
                    (LockingTaskExecutor.Task)
                        () -> {
                          server.removeHolder(LOCK);
                          awaitInterrupt();
                          LockExtender.extendActiveLock(HOUR, HOUR);
                        },
                    report()))
        .isInstanceOf(LockExtender.LockCanNotBeExtendedException.class);
  }

  @Test
  void keepAliveProviderWrapsThisOne() throws Throwable {
    // Given
    ScheduledExecutorService alarms = Executors.newSingleThreadScheduledExecutor();
    try {
      LockingTaskExecutor kept =
          new DefaultLockingTaskExecutor(new KeepAliveLockProvider(provider, alarms));
      // When
      Long token =
          kept.executeWithLock(
                  (LockingTaskExecutor.TaskWithResult<Long>) LockkeeperLockProvider::fencingToken,
                  report())
              .getResult();
      // Then
      assertThat(token).isPositive();
      assertThat(isFree()).isTrue();
    } finally {
      alarms.shutdownNow();
    }
  }

  @Test
  void outageIsALockExceptionWithItsCause() {
    // Given
    try (LockkeeperClient impatient =
        server.clientBuilder().requestTimeout(Duration.ofMillis(200)).build()) {
      LockkeeperLockProvider elsewhere = new LockkeeperLockProvider(impatient);
      server.refuseCalls(true);
      // When / Then
      assertThatThrownBy(() -> elsewhere.lock(report()))
          .isInstanceOf(LockException.class)
          .hasMessageContaining(LOCK)
          .hasCauseInstanceOf(ServerUnavailableException.class);
    }
  }

  @Test
  void interruptWhileTakingALockIsKept() {
    // Given
    server.freeze();
    Thread.currentThread().interrupt();
    // When / Then
    assertThatThrownBy(() -> provider.lock(report()))
        .isInstanceOf(LockException.class)
        .hasCauseInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isTrue();
    server.thaw();
    await().until(this::isFree);
  }

  @Test
  void providerThatIsClosedGivesAndExtendsNoLockAndReleasesThoseItHasGiven() {
    // Given
    Set<Thread> others = providerThreads();
    SimpleLock held = take(report());
    Set<Thread> threads = providerThreads();
    threads.removeAll(others);
    assertThat(threads).hasSize(1);
    // When
    provider.close();
    // Then
    assertThatThrownBy(() -> provider.lock(report()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThat(held.extend(HOUR, Duration.ZERO)).isEmpty();
    assertThat(isFree()).isFalse();
    held.unlock();
    assertThat(isFree()).isTrue();
    await().until(() -> threads.stream().noneMatch(Thread::isAlive));
  }

  @Test
  void providerThatIsClosedReleasesALockThatIsKept() {
    // Given
    Set<Thread> others = providerThreads();
    SimpleLock kept = take(report(HOUR, MOMENT));
    SimpleLock heldOn = take(new LockConfiguration(Instant.EPOCH, "other", MOMENT, MOMENT));
    kept.unlock();
    Set<Thread> threads = providerThreads();
    threads.removeAll(others);
    assertThat(threads).hasSize(1);
    // When
    provider.close();
    heldOn.unlock();
    // Then
    await().until(this::isFree);
    await().until(() -> server.holderToken("shedlock/other").isEmpty());
    await().until(() -> threads.stream().noneMatch(Thread::isAlive));
  }

  @Test
  void closedProviderLeavesTheClientOpen() throws InterruptedException {
    // When
    provider.close();
    // Then
    try (LockHandle lock = client.lock(LOCK)) {
      assertThat(lock.isValid()).isTrue();
    }
  }
}
