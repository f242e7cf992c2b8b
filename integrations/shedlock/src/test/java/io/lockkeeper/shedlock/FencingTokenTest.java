package io.lockkeeper.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Whose token a job is given. Each test has a thread of its own, so that it knows nothing of locks
 * that others have not unlocked.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FencingTokenTest {

  private static final String LOCK = "shedlock/report";
  private static final Duration HOUR = Duration.ofHours(1);

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

  private static LockConfiguration job(String name, Duration lockAtMostFor) {
    return new LockConfiguration(Instant.EPOCH, name, lockAtMostFor, Duration.ZERO);
  }

  private SimpleLock take(LockConfiguration configuration) {
    return provider.lock(configuration).orElseThrow();
  }

  /** Waits for this thread to be interrupted, and clears that. */
  private static void awaitInterrupt() {
    assertThatThrownBy(() -> new CountDownLatch(1).await())
        .isInstanceOf(InterruptedException.class);
  }

  @Test
  void jobKnowsTheTokenOfItsRun() throws Throwable {
    // When
    long first = executor.executeWithLock(this::token, job("report", HOUR)).getResult();
    long second = executor.executeWithLock(this::token, job("report", HOUR)).getResult();
    // Then
    assertThat(first).isPositive();
    assertThat(second).isGreaterThan(first);
    assertThatThrownBy(LockkeeperLockProvider::fencingToken)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("this thread has no lock");
  }

  private Long token() {
    assertThat(server.holderToken(LOCK)).contains(LockkeeperLockProvider.fencingToken());
    return LockkeeperLockProvider.fencingToken();
  }

  @Test
  void tokenIsThatOfTheInnermostLock() {
    // Given
    SimpleLock outer = take(job("report", HOUR));
    SimpleLock inner = take(job("other", HOUR));
    // When
    long innermost = LockkeeperLockProvider.fencingToken();
    SimpleLock extended = inner.extend(HOUR, Duration.ZERO).orElseThrow();
    long afterExtension = LockkeeperLockProvider.fencingToken();
    extended.unlock();
    long outermost = LockkeeperLockProvider.fencingToken();
    // Then
    assertThat(server.holderToken(LOCK)).contains(outermost);
    assertThat(afterExtension).isEqualTo(innermost);
    outer.unlock();
  }

  @Test
  void tokenOfALockThatAnotherThreadUnlockedIsForgotten() throws Exception {
    // Given
    SimpleLock lock = take(job("report", HOUR));
    // When
    Thread other = new Thread(lock::unlock);
    other.start();
    other.join();
    // Then
    assertThatThrownBy(LockkeeperLockProvider::fencingToken)
        .isInstanceOf(IllegalStateException.class);
    assertThat(server.holderToken(LOCK)).isEmpty();
  }

  @Test
  void tokenOfALockThatIsOverIsRefused() {
    // Given
    SimpleLock lock = take(job("report", Duration.ofMillis(100)));
    awaitInterrupt();
    // When / Then
    assertThatThrownBy(LockkeeperLockProvider::fencingToken)
        .isInstanceOf(LockException.class)
        .hasMessageContaining(LOCK);
    lock.unlock();
  }

  @Test
  void innerLockThatIsOverHidesTheTokenOfTheOuterOneUntilItIsUnlocked() {
    // Given
    SimpleLock outer = take(job("report", HOUR));
    long outerToken = LockkeeperLockProvider.fencingToken();
    SimpleLock inner = take(job("inner", HOUR));
    server.removeHolder("shedlock/inner");
    awaitInterrupt();
    // When
    take(job("innermost", HOUR)).unlock();
    // Then
    assertTokenIsRefusedBecauseOf("inner");
    inner.unlock();
    assertThat(LockkeeperLockProvider.fencingToken()).isEqualTo(outerToken);
    outer.unlock();
  }

  @Test
  void outerLockThatIsOverIsSoStillWhenAnInnerOneIsUnlocked() {
    // Given
    SimpleLock outer = take(job("report", HOUR));
    server.removeHolder(LOCK);
    awaitInterrupt();
    SimpleLock inner = take(job("inner", HOUR));
    long innerToken = LockkeeperLockProvider.fencingToken();
    // When
    inner.unlock();
    // Then
    assertThat(innerToken).isPositive();
    assertTokenIsRefusedBecauseOf("report");
    outer.unlock();
    assertThatThrownBy(LockkeeperLockProvider::fencingToken)
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void outerLockThatIsOverIsSoStillWhenTheSameLockIsTakenAndUnlockedInside() {
    // Given
    SimpleLock outer = take(job("report", HOUR));
    server.removeHolder(LOCK);
    awaitInterrupt();
    // When
    take(job("report", HOUR)).unlock();
    // Then
    assertTokenIsRefusedBecauseOf("report");
    outer.unlock();
  }

  @Test
  void locksThatNobodyUnlocksDoNotPileUpAndHideTheTokenOfTheOuterOne() {
    // Given
    SimpleLock outer = take(job("report", HOUR));
    long outerToken = LockkeeperLockProvider.fencingToken();
    Deque<SimpleLock> forgotten = new ArrayDeque<>();
    for (int i = 0; i < 100; i++) {
      forgotten.push(take(job("forgotten-" + i, HOUR)));
      server.removeHolder("shedlock/forgotten-" + i);
      awaitInterrupt();
    }
    // When
    Set<String> refusals = new HashSet<>();
    for (SimpleLock lock : forgotten) {
      Throwable refusal = catchThrowable(LockkeeperLockProvider::fencingToken);
      assertThat(refusal).isInstanceOf(LockException.class);
      refusals.add(refusal.getMessage());
      lock.unlock();
    }
    // Then
    assertThat(refusals).hasSizeLessThan(20); // Those that were kept say each its own name.
    assertThat(LockkeeperLockProvider.fencingToken()).isEqualTo(outerToken);
    outer.unlock();
  }

  private static void assertTokenIsRefusedBecauseOf(String job) {
    assertThatThrownBy(LockkeeperLockProvider::fencingToken)
        .isInstanceOf(LockException.class)
        .hasMessageContaining("\"shedlock/" + job + "\"");
  }
}
