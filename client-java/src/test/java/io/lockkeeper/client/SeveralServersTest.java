package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.testing.InMemoryLockkeeper;
import io.lockkeeper.client.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With several servers a lease is resumed at the one that has it; the others do not know it. */
class SeveralServersTest {

  private static final String LOCK = "orders/42";
  private static final Duration MOMENT = Duration.ofSeconds(5);

  private final ManualClock clock = new ManualClock();
  private final Recording heard = new Recording();
  private final List<String> tried = new CopyOnWriteArrayList<>();
  private InMemoryLockkeeper first;
  private InMemoryLockkeeper second;
  private LockkeeperClient client;

  @BeforeEach
  void start() {
    first = InMemoryLockkeeper.start(clock);
    second = InMemoryLockkeeper.start(clock);
    client =
        LockkeeperClient.builder("a:1,b:2")
            .channels(
                address -> {
                  tried.add(address);
                  return address.equals("a:1") ? first.connect() : second.connect();
                })
            .clock(clock)
            .callbackExecutor(Runnable::run)
            .build();
  }

  @AfterEach
  void stop() {
    client.close();
    first.close();
    second.close();
  }

  private LockHandle hold() {
    CompletableFuture<LockHandle> held = client.acquire(LockRequest.of(LOCK).listener(heard));
    clock.settle();
    return held.join();
  }

  @Test
  void brokenConnectionIsResumedAtTheServerThatHasTheLease() {
    // Given
    LockHandle held = hold();
    // When
    for (int i = 0; i < 5; i++) {
      first.dropStreams();
      clock.advance(MOMENT);
    }
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(heard.events()).containsExactly("granted");
    assertThat(tried).containsOnly("a:1");
  }

  @Test
  void serverThatIsAwayForAWhileLosesNothingThoughTheOtherDoesNotKnowTheLease() {
    // Given
    LockHandle held = hold();
    first.refuseCalls(true);
    first.dropStreams();
    clock.advance(MOMENT);
    // When
    first.refuseCalls(false);
    clock.advance(MOMENT);
    // Then
    assertThat(tried).contains("b:2");
    assertThat(held.isValid()).isTrue();
    assertThat(heard.events()).containsExactly("granted");
    assertThat(first.holderToken(LOCK)).contains(held.fencingToken());
  }

  @Test
  void leaseThatItsOwnServerDoesNotKnowIsLostAtOnce() {
    // Given
    LockHandle held = hold();
    first.freeze();
    first.endLeases();
    // When
    first.dropStreams();
    first.thaw();
    clock.advance(Duration.ofSeconds(1));
    // Then
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events()).containsExactly("granted", "lost LEASE_UNKNOWN");
  }

  @Test
  void serverThatStaysAwayCostsTheLeaseAtTheDeadlineAndTheOtherOpensTheNext() {
    // Given
    LockHandle held = hold();
    first.refuseCalls(true);
    first.dropStreams();
    // When
    clock.advance(Duration.ofSeconds(16));
    CompletableFuture<LockHandle> next = client.acquire(LockRequest.of(LOCK));
    clock.advance(MOMENT);
    // Then
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events())
        .containsExactly("granted", "about to expire", "lost DEADLINE_PASSED");
    assertThat(next).isCompleted();
    assertThat(second.holderToken(LOCK)).contains(next.join().fencingToken());
  }
}
