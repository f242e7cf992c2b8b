package io.lockkeeper.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.integration.util.CheckedRunnable;

/** The contract of Spring Integration's lock registries. */
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
        .until(
            () -> {
              System.gc();
              return unused.get() == null;
            });
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
