package io.lockkeeper.howto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The steps of {@code docs/migrate/two-locks.md}; a lock of the JDK stands for the old service. */
@SuppressWarnings("LockNotBeforeTry") // Tests look at what is between.
class MovingLockTest {

  private static final String NAME = "orders/42";

  private final ReentrantLock old = new ReentrantLock();
  private final InMemoryLockkeeper server = InMemoryLockkeeper.start();
  private final List<LockkeeperClient> clients =
      Stream.generate(() -> server.clientBuilder().build()).limit(3).toList();
  private final LockkeeperClient client = clients.get(0);
  private final LockkeeperClient another = clients.get(1);

  @AfterEach
  void close() {
    clients.forEach(LockkeeperClient::close);
    server.close();
  }

  private Rollout.Version onlyOld() {
    return Rollout.Version.of(old);
  }

  private Rollout.Version both(int worker) {
    return Rollout.Version.of(new MovingLock(old, clients.get(worker).asLock(NAME)));
  }

  private Rollout.Version onlyNew(int worker) {
    return Rollout.Version.of(clients.get(worker).asLock(NAME));
  }

  @Test
  void workersMoveOverAndBackUnderLoadAndNoUpdateIsLost() {
    // Given
    Rollout rollout = new Rollout(clients.size(), worker -> onlyOld());

    // When
    try (rollout) {
      rollout.deploy(this::both);
      rollout.deploy(this::onlyNew);
      rollout.deploy(this::both);
      rollout.deploy(worker -> onlyOld());
    }

    // Then
    assertThat(rollout.lost()).isZero();
    assertThat(server.holderToken(NAME)).isEmpty();
  }

  @Test
  void versionWithOnlyTheNewLockIsInsideBesideOneWithOnlyTheOldAndAnUpdateIsLost() {
    // Given
    int[] counter = {0};
    Lock next = client.asLock(NAME);
    old.lock();
    int read = counter[0];

    // When: the phase with both locks is left out
    CompletableFuture.runAsync(
            () -> {
              next.lock();
              counter[0] = counter[0] + 1;
              next.unlock();
            })
        .join();
    counter[0] = read + 1;
    old.unlock();

    // Then
    assertThat(counter[0]).as("of two updates").isEqualTo(1);
  }

  @Test
  void bothLocksKeepOutWhoTakesOnlyTheOldAndWhoTakesOnlyTheNew() throws InterruptedException {
    // Given
    Lock moving = new MovingLock(old, client.asLock(NAME));

    // When
    moving.lock();

    // Then
    assertThat(CompletableFuture.supplyAsync(old::tryLock).join()).isFalse();
    assertThat(another.tryLock(NAME)).isEmpty();
    moving.unlock();
    assertThat(CompletableFuture.supplyAsync(old::tryLock).join()).isTrue();
    try (LockHandle free = another.tryLock(NAME).orElseThrow()) {
      assertThat(free.isValid()).isTrue();
    }
  }

  @Test
  void newLockThatIsNotHadInTimeGivesTheOldOneBack() throws InterruptedException {
    // Given
    Lock moving = new MovingLock(old, client.asLock(NAME));

    // When
    try (LockHandle held = another.lock(NAME)) {
      boolean now = moving.tryLock();
      boolean soon = moving.tryLock(10, TimeUnit.MILLISECONDS);

      // Then
      assertThat(now).isFalse();
      assertThat(soon).isFalse();
      assertThat(old.isLocked()).isFalse();
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void newServiceThatFailsGivesTheOldLockBack() {
    // Given
    Lock moving = new MovingLock(old, client.asLock(NAME));

    // When
    client.close();

    // Then
    assertThatThrownBy(moving::lock).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(moving::lockInterruptibly).isInstanceOf(IllegalStateException.class);
    assertThat(old.isLocked()).isFalse();
  }

  @Test
  void lossOfTheNewLockIsToldByUnlockAndTheOldOneIsFree() {
    // Given
    var next = client.asLock(NAME);
    Lock moving = new MovingLock(old, next);
    moving.lock();
    LockHandle handle = next.handle().orElseThrow();

    // When
    server.endLeases();
    Awaitility.await().until(() -> !handle.isValid());

    // Then
    assertThatThrownBy(moving::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertThat(old.isLocked()).isFalse();
  }

  @Test
  void levelsOfOneThreadAreCountedInBothLocks() {
    // Given
    var next = client.asLock(NAME);
    Lock moving = new MovingLock(old, next);

    // When
    moving.lock();
    moving.lock();
    moving.unlock();

    // Then
    assertThat(old.getHoldCount()).isEqualTo(1);
    assertThat(next.getHoldCount()).isEqualTo(1);
    moving.unlock();
    assertThat(old.isLocked()).isFalse();
    assertThat(server.holderToken(NAME)).isEmpty();
  }
}
