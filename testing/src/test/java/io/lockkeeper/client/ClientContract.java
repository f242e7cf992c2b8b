package io.lockkeeper.client;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** What a client does with any server: acquire, release, look, watch. */
public abstract class ClientContract extends Contract {

  @Test
  void freeLockIsGrantedWithTokenAndValidity() throws InterruptedException {
    // Given
    LockkeeperClient client = client("a");
    // When
    try (LockHandle handle = client.lock(lock)) {
      // Then
      assertThat(handle.name()).isEqualTo(lock);
      assertThat(handle.fencingToken()).isPositive();
      assertThat(handle.isValid()).isTrue();
      assertThat(handle.remaining()).isBetween(Duration.ofMillis(1), Duration.ofHours(1));
      handle.checkValid();
    }
  }

  @Test
  void releasedHandleIsNotValidAndSaysSo() throws InterruptedException {
    // Given
    LockHandle handle = client("a").lock(lock);
    // When
    handle.close();
    // Then
    assertThat(handle.isValid()).isFalse();
    assertThat(handle.remaining()).isZero();
    assertThatThrownBy(handle::checkValid)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("released");
  }

  @Test
  void releaseIsIdempotentAndFreesTheLock() throws InterruptedException {
    // Given
    LockHandle handle = client("a").lock(lock);
    // When
    handle.close();
    handle.close();
    handle.releaseAsync().join();
    // Then
    assertThat(client("b").tryLock(lock)).isPresent();
  }

  @Test
  void tokensRiseWithEveryGrant() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperClient b = client("b");
    List<Long> tokens = new ArrayList<>();
    // When
    for (int i = 0; i < 10; i++) {
      try (LockHandle handle = (i % 2 == 0 ? a : b).lock(lock)) {
        tokens.add(handle.fencingToken());
      }
    }
    // Then
    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void heldLockIsNotGrantedToAnother() throws InterruptedException {
    // Given
    LockHandle held = client("a").lock(lock);
    // When
    Optional<LockHandle> other = client("b").tryLock(lock);
    // Then
    assertThat(other).isEmpty();
    assertThat(held.isValid()).isTrue();
  }

  @Test
  void sameClientExcludesItself() throws InterruptedException {
    // Given
    LockkeeperClient client = client("a");
    client.lock(lock);
    // When
    Optional<LockHandle> second = client.tryLock(lock);
    // Then
    assertThat(second).isEmpty();
  }

  @Test
  void waitThatTimesOutIsEmptyAndLeavesTheQueue() throws InterruptedException {
    // Given
    LockkeeperClient b = client("b");
    LockHandle held = client("a").lock(lock);
    // When
    Optional<LockHandle> late = b.tryLock(lock, Duration.ofMillis(300));
    // Then
    assertThat(late).isEmpty();
    held.close();
    assertThat(client("c").tryLock(lock)).isPresent();
  }

  @Test
  void asynchronousWaitThatTimesOutFailsWithReasonAndHolders() throws InterruptedException {
    // Given
    LockkeeperClient b = client("b");
    client("the holder").lock(lock);
    // When
    CompletableFuture<LockHandle> late =
        b.acquire(LockRequest.of(lock).waitAtMost(Duration.ofMillis(200)));
    // Then
    assertThat(late)
        .failsWithin(LONG)
        .withThrowableThat()
        .havingCause()
        .isInstanceOfSatisfying(
            NotAcquiredException.class,
            e -> {
              assertThat(e.reason()).isEqualTo(NotAcquiredReason.TIMED_OUT);
              assertThat(e.holders()).extracting(Contender::holder).containsExactly("the holder");
              assertThat(e).hasMessageContaining("the holder");
            });
  }

  @Test
  void waitersAreGrantedInTheirOrder() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle first = a.lock(lock);
    List<Integer> order = new CopyOnWriteArrayList<>();
    List<CompletableFuture<Void>> waiters = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      int number = i;
      LockkeeperClient waiter = client("w" + i);
      waiters.add(
          waiter
              .acquire(LockRequest.of(lock))
              .thenCompose(
                  handle -> {
                    order.add(number);
                    return handle.releaseAsync();
                  }));
      await().until(() -> a.getLock(lock).queueLength() == number + 1);
    }
    // When
    first.close();
    // Then
    assertThat(CompletableFuture.allOf(waiters.toArray(CompletableFuture[]::new)))
        .succeedsWithin(LONG);
    assertThat(order).containsExactly(0, 1, 2, 3, 4);
  }

  @Test
  void listenerHearsQueuedWithHoldersAndThenGranted() throws InterruptedException {
    // Given
    LockkeeperClient b = client("b");
    LockHandle held = client("the holder").lock(lock);
    Recording heard = new Recording();
    // When
    CompletableFuture<LockHandle> granted = b.acquire(LockRequest.of(lock).listener(heard));
    await().until(() -> heard.events().size() == 1);
    held.close();
    // Then
    assertThat(granted).succeedsWithin(LONG);
    assertThat(heard.events()).containsExactly("queued 1 behind the holder", "granted");
  }

  @Test
  void grantTellsHowTheHolderBeforeEnded() throws InterruptedException {
    // Given
    LockkeeperClient b = client("b");
    LockHandle held = client("a").lock(lock);
    CompletableFuture<LockHandle> next = b.acquire(LockRequest.of(lock));
    await().until(() -> b.getLock(lock).queueLength() == 1);
    // When
    held.close();
    // Then
    assertThat(next)
        .succeedsWithin(LONG)
        .satisfies(h -> assertThat(h.previousEnd()).isEqualTo(PreviousEnd.RELEASED));
  }

  @Test
  void grantThatRacesWithCancellationIsReleased() {
    // Given
    LockkeeperClient a = client("a");
    // When
    for (int i = 0; i < 50; i++) {
      CompletableFuture<LockHandle> asked = a.acquire(LockRequest.of(lock));
      if (!asked.cancel(true)) {
        asked.join().close(); // The grant was faster.
      }
    }
    // Then
    await().until(() -> a.getLock(lock).isFree());
    assertThat(a.acquire(LockRequest.of(lock))).succeedsWithin(LONG);
  }

  @Test
  void closedClientFreesItsLocksAndTellsTheirHolders() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    Recording heard = new Recording();
    LockHandle handle = a.lock(LockRequest.of(lock).listener(heard));
    // When
    a.close();
    // Then
    assertThat(handle.isValid()).isFalse();
    assertThat(heard.events()).endsWith("lost LEASE_CLOSED");
    assertThat(client("b").tryLock(lock)).isPresent();
    assertThatThrownBy(() -> a.lock(lock)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void lockIsShownWithHolderMetadataAndQueue() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperClient b = client("b");
    LockHandle held = a.lock(LockRequest.of(lock).metadata("purpose", "checkout"));
    CompletableFuture<LockHandle> waiting = b.acquire(LockRequest.of(lock));
    // When
    await().until(() -> b.getLock(lock).queueLength() == 1);
    LockInfo info = b.getLock(lock);
    // Then
    assertThat(info.holders())
        .singleElement()
        .satisfies(
            holder -> {
              assertThat(holder.holder()).isEqualTo("a");
              assertThat(holder.leaseTag()).isEqualTo(a.leaseTag());
              assertThat(holder.fencingToken()).hasValue(held.fencingToken());
              assertThat(holder.metadata()).containsEntry("purpose", "checkout");
            });
    assertThat(info.queue())
        .singleElement()
        .satisfies(waiter -> assertThat(waiter.fencingToken()).isEmpty());
    assertThat(waiting).isNotDone();
  }

  @Test
  void locksAreListedByPrefixInTheOrderOfNames() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    a.lock(lock + "/2");
    a.lock(lock + "/1");
    a.lock(lock + "-other");
    // When
    List<String> names = a.listLocks(lock + "/").map(LockInfo::name).toList();
    // Then
    assertThat(names).containsExactly(lock + "/1", lock + "/2");
  }

  @Test
  void tokenIsCurrentWhileItsHolderHolds() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle held = a.lock(lock);
    // When
    TokenCheck before = a.checkToken(lock, held.fencingToken());
    held.close();
    TokenCheck after = a.checkToken(lock, held.fencingToken());
    // Then
    assertThat(before).isEqualTo(new TokenCheck(true, List.of(held.fencingToken())));
    assertThat(after.current()).isFalse();
  }

  @Test
  void watchShowsWhatIsAndThenWhatChanges() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle held = a.lock(lock);
    RecordingWatch seen = new RecordingWatch();
    // When
    try (Watch watch = a.watch(lock, seen)) {
      await().until(() -> seen.events().contains("end"));
      held.close();
      await().until(() -> seen.events().size() == 3);
    }
    // Then
    assertThat(seen.events())
        .containsExactly("snapshot " + lock + " held by a", "end", "RELEASED " + lock);
  }

  @Test
  void watchIsToldThatItsClientIsClosed() {
    // Given
    LockkeeperClient a = client("a");
    RecordingWatch seen = new RecordingWatch();
    RecordingWatch closedBefore = new RecordingWatch();
    a.watch(lock, closedBefore).close();
    try (Watch watch = a.watch(lock, seen)) {
      await().until(() -> seen.events().contains("end"));
      // When
      a.close();
    }
    // Then
    String failure = "failed watch of \"" + lock + "\": this client is closed: build another one";
    await().until(() -> seen.events().size() == 2);
    assertThat(seen.events()).containsExactly("end", failure);
    assertThat(closedBefore.events()).doesNotContain(failure);
  }

  @Test
  void malformedRequestIsRefusedWithItsField() {
    // Given
    LockkeeperClient a = client("a");
    // When / Then
    assertThatThrownBy(() -> a.getLock("no//name"))
        .isInstanceOfSatisfying(
            RequestRefusedException.class,
            e -> {
              assertThat(e.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
              assertThat(e.field()).isEqualTo("name");
            });
    assertThat(a.acquire(LockRequest.of(lock))).succeedsWithin(LONG);
  }

  @Test
  void leaseIsRenewedWhileTheClientLives() throws InterruptedException {
    // Given: a keep-alive every three seconds
    try (LockkeeperClient a = clientBuilder().ttl(Duration.ofSeconds(12)).holder("a").build()) {
      LockHandle held = a.lock(lock);
      long firstDeadline = held.validUntilNanos();
      // When
      await().until(() -> held.validUntilNanos() - firstDeadline > SECONDS.toNanos(1));
      // Then
      assertThat(held.isValid()).isTrue();
      assertThat(a.checkToken(lock, held.fencingToken()).current()).isTrue();
    }
  }
}
