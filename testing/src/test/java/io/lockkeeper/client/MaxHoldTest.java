package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.testing.InMemoryLockkeeper;
import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A hold with a limit ends by the client's own clock, before the server takes it away. */
class MaxHoldTest {

  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final ManualClock clock = new ManualClock();
  private final Recording heard = new Recording();
  private InMemoryLockkeeper server;
  private LockkeeperClient client;

  @BeforeEach
  void start() {
    server = InMemoryLockkeeper.start(clock);
    client =
        server.clientBuilder().ttl(Duration.ofMinutes(1)).callbackExecutor(Runnable::run).build();
  }

  @AfterEach
  void stop() {
    server.thaw();
    client.close();
    server.close();
  }

  private LockHandle hold() {
    CompletableFuture<LockHandle> held =
        client.acquire(LockRequest.of("orders/42").maxHold(LIMIT).listener(heard));
    clock.settle();
    return held.join();
  }

  @Test
  void warningComesAFifthBeforeTheEndAndTheLossAtIt() {
    // Given
    LockHandle handle = hold();
    Duration atFirst = handle.remaining();
    // When
    clock.advance(Duration.ofSeconds(8).minusNanos(1));
    List<String> before = heard.events();
    clock.advance(Duration.ofNanos(1));
    List<String> warned = heard.events();
    clock.advance(Duration.ofSeconds(2).minusNanos(1));
    boolean validJustBefore = handle.isValid();
    clock.advance(Duration.ofNanos(1));
    // Then
    assertThat(atFirst).isEqualTo(LIMIT);
    assertThat(before).containsExactly("granted");
    assertThat(warned).containsExactly("granted", "about to expire");
    assertThat(validJustBefore).isTrue();
    assertThat(handle.isValid()).isFalse();
    assertThat(handle.remaining()).isZero();
    assertThat(heard.events()).containsExactly("granted", "about to expire", "lost MAX_HOLD");
    assertThatThrownBy(handle::checkValid)
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.MAX_HOLD));
    assertThat(handle.lost().toCompletableFuture()).isCompletedWithValue(LossReason.MAX_HOLD);
  }

  @Test
  void serverStillHoldsTheLockWhenTheClientHasStoppedUsingIt() {
    // Given
    LockHandle handle = hold();
    // When
    clock.advance(LIMIT);
    boolean heldByServer = server.holderToken("orders/42").isPresent();
    clock.advance(Duration.ofSeconds(2));
    // Then
    assertThat(handle.isValid()).isFalse();
    assertThat(heldByServer).isTrue();
    assertThat(server.holderToken("orders/42")).isEmpty();
    assertThat(heard.events()).containsOnlyOnce("lost MAX_HOLD");
    assertThat(handle.releaseForResult())
        .isCompletedWithValue(new ReleaseResult(ReleaseResult.Outcome.LOST, 0));
  }

  @Test
  void lossByTheClientsOwnClockFailsWhatTheHolderStillAsks() {
    // Given
    LockHandle handle = hold();
    server.freeze();
    CompletableFuture<Void> update = handle.updateMetadata(Map.of("step", "2"));
    // When
    clock.advance(LIMIT);
    // Then
    assertThat(update)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(LockLostException.class);
  }

  private LockHandle take(LockRequest request) {
    CompletableFuture<LockHandle> held = client.acquire(request.owner("task").listener(heard));
    clock.settle();
    return held.join();
  }

  @Test
  void holdThatIsNestedInALimitedOneEndsWithItEvenIfNothingIsHeard() {
    // Given
    LockHandle outer = take(LockRequest.of("orders/42").maxHold(LIMIT));
    clock.advance(Duration.ofSeconds(1));
    LockHandle inner = take(LockRequest.of("orders/42"));
    server.freeze();
    CompletableFuture<ReleaseResult> unheard = outer.releaseForResult();
    // When
    clock.advance(Duration.ofSeconds(9).minusNanos(1));
    boolean validJustBefore = inner.isValid();
    clock.advance(Duration.ofNanos(1));
    // Then
    assertThat(unheard).isNotDone();
    assertThat(validJustBefore).isTrue();
    assertThat(inner.isValid()).isFalse();
    assertThat(heard.events())
        .containsExactly("granted", "granted", "about to expire", "lost MAX_HOLD");
  }

  @Test
  void holdThatWasNestedInALimitedOneIsFreeOfItWhenThatIsReleased() {
    // Given
    LockHandle outer = take(LockRequest.of("orders/42").maxHold(LIMIT));
    LockHandle inner = take(LockRequest.of("orders/42"));
    Duration nested = inner.remaining();
    // When
    CompletableFuture<ReleaseResult> released = outer.releaseForResult();
    clock.advance(LIMIT.multipliedBy(3));
    // Then
    assertThat(nested).isEqualTo(LIMIT);
    assertThat(released.join().outcome()).isEqualTo(ReleaseResult.Outcome.DECREMENTED);
    assertThat(inner.isValid()).isTrue();
    assertThat(heard.events()).containsExactly("granted", "granted");
  }

  @Test
  void limitOfWhatIsNestedDoesNotEndTheHoldAroundItByTheClientsClock() {
    // Given
    LockHandle outer = take(LockRequest.of("orders/42"));
    LockHandle inner = take(LockRequest.of("orders/42").maxHold(LIMIT));
    // When
    clock.advance(LIMIT);
    // Then
    assertThat(inner.isValid()).isFalse();
    assertThat(outer.isValid()).isTrue();
  }
}
