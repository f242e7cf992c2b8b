package io.lockkeeper.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.integration.util.CheckedRunnable;

/** The contract of Spring Integration's lock registries. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // To lock and to unlock is what the tests are about.
class LockkeeperLockRegistryTest {

  private final InMemoryLockkeeper server = InMemoryLockkeeper.start();
  private final LockkeeperClient client = server.clientBuilder().build();
  private final LockkeeperClient other = server.clientBuilder().build();
  private final LockkeeperLockRegistry registry = new LockkeeperLockRegistry(client);

  @AfterEach
  void stop() {
    client.close();
    other.close();
    server.close();
  }

  @Test
  void lockThatWasObtainedAgainUnlocksWhatTheThreadHas() {
    // Given
    registry.obtain("group").lock();
    System.gc(); // What is held is not garbage, though nobody refers to it.
    // When
    registry.obtain("group").unlock();
    // Then
    assertThat(other.getLock("spring-integration/group").holders()).isEmpty();
  }

  @Test
  void keyMayBeThePathOfAFile() {
    // When
    boolean locked = registry.obtain("/var/in/100%").tryLock();
    // Then
    assertThat(locked).isTrue();
    assertThat(other.getLock("spring-integration/%2Fvar%2Fin%2F100%25").holders()).hasSize(1);
    registry.obtain("/var/in/100%").unlock();
  }

  @Test
  void lockThatNobodyUsesIsGarbage() {
    // Given
    WeakReference<Object> unused = new WeakReference<>(registry.obtain("garbage"));
    // When, then
    Awaitility.await()
        .atMost(50, TimeUnit.SECONDS)
        .until(
            () -> {
              System.gc();
              return unused.get() == null;
            });
  }

  @Test
  void lockIsReentrantForItsThread() {
    // When
    registry.obtain("group").lock();
    boolean again = registry.obtain("group").tryLock();
    registry.obtain("group").unlock();
    // Then
    assertThat(again).isTrue();
    assertThat(other.getLock("spring-integration/group").holders()).hasSize(1);
    registry.obtain("group").unlock();
    assertThat(other.getLock("spring-integration/group").holders()).isEmpty();
  }

  @Test
  void lockExcludesOtherThreadsAndOtherProcesses() throws Exception {
    // Given
    LockkeeperLockRegistry elsewhere = new LockkeeperLockRegistry(other);
    registry.obtain("group").lock();
    // When
    boolean thread = CompletableFuture.supplyAsync(() -> registry.obtain("group").tryLock()).get();
    boolean process = elsewhere.obtain("group").tryLock();
    // Then
    assertThat(thread).isFalse();
    assertThat(process).isFalse();
    registry.obtain("group").unlock();
    assertThat(elsewhere.obtain("group").tryLock()).isTrue();
  }

  @Test
  void threadThatHasNotLockedMayNotUnlock() {
    assertThatThrownBy(() -> registry.obtain("group").unlock())
        .isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void unlockAfterALossSaysSo() {
    // Given
    registry.obtain("group").lock();
    LockHandle handle = registry.obtain("group").handle().orElseThrow();
    server.removeHolder("spring-integration/group");
    Awaitility.await().atMost(50, TimeUnit.SECONDS).until(() -> !handle.isValid());
    // When, then
    assertThatThrownBy(() -> registry.obtain("group").unlock())
        .isInstanceOf(IllegalMonitorStateException.class)
        .hasMessageContaining("lost");
  }

  @Test
  void workIsExecutedUnderTheLockOrTimesOut() throws Throwable {
    // Given
    CheckedRunnable<RuntimeException> nothing = () -> {};
    // When
    int holders =
        registry.executeLocked(
            "work", () -> other.getLock("spring-integration/work").holders().size());
    // Then
    assertThat(holders).isEqualTo(1);
    try (LockHandle held = other.lock("spring-integration/work")) {
      assertThatThrownBy(() -> registry.executeLocked("work", Duration.ofMillis(1), nothing))
          .isInstanceOf(TimeoutException.class);
    }
  }
}
