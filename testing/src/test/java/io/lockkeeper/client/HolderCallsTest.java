package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.testing.InMemoryLockkeeper;
import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a holder asks of the server is sent until it has an answer, or its time is over. */
class HolderCallsTest {

  private static final String LOCK = "orders/42";

  private final ManualClock clock = new ManualClock();
  private InMemoryLockkeeper server;
  private LockkeeperClient client;
  private LockHandle held;

  @BeforeEach
  void start() {
    server = InMemoryLockkeeper.start(clock);
    client =
        server
            .clientBuilder()
            .ttl(Duration.ofMinutes(5))
            .requestTimeout(Duration.ofSeconds(15))
            .callbackExecutor(Runnable::run)
            .build();
    CompletableFuture<LockHandle> granted = client.acquire(LockRequest.of(LOCK));
    clock.settle();
    held = granted.join();
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private static void assertFailed(CompletableFuture<Void> call, Class<? extends Throwable> why) {
    assertThat(call).failsWithin(Duration.ZERO).withThrowableThat().havingCause().isInstanceOf(why);
  }

  @Test
  void callIsSentAgainOverTheNextConnection() {
    // Given
    server.delay(Duration.ofSeconds(1), Duration.ofSeconds(1));
    CompletableFuture<Void> first = held.updateMetadata(Map.of("step", "1"));
    CompletableFuture<Void> second = held.answerRelease(Duration.ofSeconds(5));
    // When
    server.dropStreams();
    server.delay(Duration.ZERO, Duration.ZERO);
    clock.advance(Duration.ofSeconds(10));
    // Then
    assertThat(first).isCompleted();
    assertThat(second).isCompleted();
    assertThat(held.isValid()).isTrue();
  }

  @Test
  void callWithoutAnAnswerFailsAfterTheRequestTimeoutAndTheNextIsNotMistakenForIt() {
    // Given
    server.freeze();
    CompletableFuture<Void> first = held.updateMetadata(Map.of("step", "1"));
    clock.advance(Duration.ofSeconds(10));
    CompletableFuture<Void> second = held.updateMetadata(Map.of("step", "2"));
    // When
    clock.advance(Duration.ofSeconds(5));
    boolean secondIsDone = second.isDone();
    server.thaw();
    clock.advance(Duration.ofSeconds(5));
    // Then
    assertFailed(first, ServerUnavailableException.class);
    assertThat(secondIsDone).isFalse();
    assertThat(second).isCompleted();
    assertThat(metadata()).isEqualTo(Map.of("step", "2"));
  }

  private Map<String, String> metadata() {
    return client.getLock(LOCK).holders().get(0).metadata();
  }

  @Test
  void callsEndWithTheRelease() {
    // Given
    server.freeze();
    CompletableFuture<Void> update = held.updateMetadata(Map.of("step", "1"));
    clock.settle();
    // When
    CompletableFuture<Void> released = held.releaseAsync();
    clock.settle();
    // Then
    assertFailed(update, IllegalStateException.class);
    server.thaw();
    clock.advance(Duration.ofSeconds(1));
    assertThat(released).isCompleted();
  }

  @Test
  void moreCallsThanFitFailAtOnce() {
    // Given
    server.freeze();
    for (int i = 0; i < 100; i++) {
      assertThat(held.updateMetadata(Map.of("step", "" + i))).isNotDone();
    }
    // When
    CompletableFuture<Void> tooMany = held.updateMetadata(Map.of("step", "100"));
    clock.settle();
    // Then
    assertFailed(tooMany, LockkeeperException.class);
    server.thaw();
    clock.advance(Duration.ofSeconds(1));
    assertThat(metadata()).isEqualTo(Map.of("step", "99"));
  }
}
