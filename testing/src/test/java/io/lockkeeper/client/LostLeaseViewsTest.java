package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.testing.InMemoryLockkeeper;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the views make of a lease that ends under them. */
@SuppressWarnings("LockNotBeforeTry") // What is tested is what lock and unlock do after a loss.
class LostLeaseViewsTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private InMemoryLockkeeper server;
  private LockkeeperClient client;

  @BeforeEach
  void start() {
    server = InMemoryLockkeeper.start();
    client = server.clientBuilder().build();
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private static void awaitLost(LockHandle handle) {
    await().until(() -> !handle.isValid());
  }

  @Test
  void bothSidesOfADowngradeAreLostAndCanBeLockedAnew() {
    // Given
    LockkeeperReadWriteLock view = client.asReadWriteLock("orders/42");
    view.writeLock().lock();
    view.readLock().lock();
    LockHandle writing = view.writeLock().handle().orElseThrow();
    LockHandle reading = view.readLock().handle().orElseThrow();
    // When
    server.endLeases();
    awaitLost(writing);
    awaitLost(reading);
    // Then
    assertThatThrownBy(view.writeLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertThatThrownBy(view.readLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
    view.writeLock().lock();
    assertThat(view.writeLock().handle().orElseThrow().fencingToken())
        .isGreaterThan(writing.fencingToken());
    view.writeLock().unlock();
  }

  @Test
  void threadThatWaitsIsToldThatItsPlaceIsGone() throws InterruptedException {
    // Given
    AtomicReference<Optional<Throwable>> thrown = new AtomicReference<>(Optional.empty());
    LockkeeperLock view = client.asLock("orders/42");
    view.lock();
    LockHandle held = view.handle().orElseThrow();
    Thread waiter = LockContract.start(view::lock, thrown);
    Contract.awaitQueue(client, "orders/42", 1);
    // When
    server.endLeases();
    waiter.join(LONG.toMillis());
    // Then
    assertThat(thrown.get())
        .hasValueSatisfying(e -> assertThat(e).isInstanceOf(LeaseLostException.class));
    awaitLost(held);
    assertThatThrownBy(view::unlock)
        .isInstanceOf(IllegalMonitorStateException.class)
        .hasCauseInstanceOf(LockLostException.class);
  }
}
