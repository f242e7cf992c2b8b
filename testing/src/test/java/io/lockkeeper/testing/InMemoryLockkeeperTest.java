package io.lockkeeper.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.ReleaseRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every control does to clients what it says, and time passes only when it is let. */
class InMemoryLockkeeperTest {

  private static final String LOCK = "orders/42";
  private static final Duration TTL = Duration.ofSeconds(15);
  private static final Duration MOMENT = Duration.ofSeconds(3);

  private final ManualClock clock = new ManualClock();
  private final InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
  private final List<LockkeeperClient> clients = new ArrayList<>();
  private final Told told = new Told();
  private LockkeeperClient a;
  private LockkeeperClient b;

  /** Writes down what the holder hears. */
  private static final class Told implements LockListener {
    private final List<String> events = new CopyOnWriteArrayList<>();

    @Override
    public void onReleaseRequested(LockHandle handle, ReleaseRequest request) {
      events.add("asked by " + request.requester());
    }

    @Override
    public void onJeopardy(LockHandle handle, Duration validFor) {
      events.add("jeopardy");
    }

    @Override
    public void onSafe(LockHandle handle, Duration validFor) {
      events.add("safe");
    }

    @Override
    public void onLost(LockHandle handle, LossReason reason) {
      events.add("lost " + reason);
    }
  }

  @BeforeEach
  void start() {
    a = client(server, "a");
    b = client(server, "b");
  }

  private LockkeeperClient client(InMemoryLockkeeper first, String holder) {
    LockkeeperClient client =
        first.clusterClientBuilder().holder(holder).callbackExecutor(Runnable::run).build();
    clients.add(client);
    return client;
  }

  @AfterEach
  void stop() {
    clients.forEach(LockkeeperClient::close);
    server.close();
  }

  private CompletableFuture<LockHandle> ask(LockkeeperClient client) {
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of(LOCK).listener(told));
    clock.settle();
    return asked;
  }

  @Test
  void nothingEndsWhileTheClockStandsStill() {
    // Given
    LockHandle held = ask(a).join();
    CompletableFuture<LockHandle> waiting =
        b.acquire(LockRequest.of(LOCK).waitAtMost(Duration.ofSeconds(5)));
    clock.settle();
    // When
    clock.advance(Duration.ofMillis(4_999));
    boolean early = waiting.isDone();
    clock.advance(Duration.ofMillis(1));
    // Then
    assertThat(early).isFalse();
    assertThat(waiting).isCompletedExceptionally();
    assertThat(held.isValid()).isTrue();
  }

  @Test
  void leaseEndsAtTheServerWhenItsTimeHasPassedAndNotBefore() {
    // Given
    LockHandle held = ask(a).join();
    CompletableFuture<LockHandle> waiting = ask(client(server.startPeer(), "of a peer"));
    server.freeze();
    // When
    clock.advance(TTL.minusMillis(1));
    boolean early = waiting.isDone();
    clock.advance(Duration.ofMillis(1));
    // Then
    assertThat(early).isFalse();
    assertThat(held.isValid()).isFalse();
    assertThat(waiting.join().isValid()).isTrue();
    assertThat(told.events).containsExactly("lost DEADLINE_PASSED");
    server.thaw();
  }

  @Test
  void frozenMessagesArriveWhenTheyAreThawed() {
    // Given
    server.freeze();
    CompletableFuture<LockHandle> asked = ask(a);
    boolean early = asked.isDone();
    // When
    server.thaw();
    clock.settle();
    // Then
    assertThat(early).isFalse();
    assertThat(asked).isCompleted();
  }

  @Test
  void delayIsThatOfBothWays() {
    // Given
    ask(a).join().close();
    server.delay(Duration.ofMillis(200), Duration.ofMillis(300));
    CompletableFuture<LockHandle> asked = ask(a);
    // When
    clock.advance(Duration.ofMillis(499));
    boolean early = asked.isDone();
    clock.advance(Duration.ofMillis(1));
    // Then
    assertThat(early).isFalse();
    assertThat(asked).isCompleted();
    server.delay(Duration.ZERO, Duration.ZERO);
  }

  @Test
  void lockOutlivesTheCrashOfTheOnlyServer() {
    // Given
    LockHandle held = ask(a).join();
    CompletableFuture<LockHandle> waiting = ask(b);
    // When
    server.crash();
    clock.advance(MOMENT);
    server.refuseCalls(false);
    clock.advance(MOMENT);
    CompletableFuture<Void> released = held.releaseAsync();
    clock.advance(MOMENT);
    // Then
    assertThat(released).isCompleted();
    assertThat(waiting.join().isValid()).isTrue();
    assertThat(told.events).isEmpty();
  }

  @Test
  void clientsThatAreSentAwayComeAgainLater() {
    // Given
    LockHandle held = ask(a).join();
    // When
    server.goAway(Duration.ofSeconds(2));
    CompletableFuture<Void> released = held.releaseAsync();
    clock.advance(Duration.ofMillis(1_999));
    boolean early = released.isDone();
    clock.advance(MOMENT);
    // Then
    assertThat(early).isFalse();
    assertThat(released).isCompleted();
  }

  @Test
  void leasesThatEndLoseTheirLocks() {
    // Given
    LockHandle held = ask(a).join();
    String lease = server.leaseIds().get(0);
    // When
    server.endLeases();
    clock.settle();
    // Then
    assertThat(held.isValid()).isFalse();
    assertThat(told.events).containsExactly("lost SESSION_LOST");
    assertThat(server.leaseIds()).doesNotContain(lease);
    assertThat(server.holderToken(LOCK)).isEmpty();
  }

  @Test
  void removedHolderIsToldAndTheNextIsIn() {
    // Given
    ask(a).join();
    CompletableFuture<LockHandle> waiting = ask(b);
    List<String> freed = new CopyOnWriteArrayList<>();
    server.whenFree(LOCK, () -> freed.add(LOCK));
    // When
    server.removeHolder(LOCK);
    clock.settle();
    // Then
    assertThat(told.events).containsExactly("lost REMOVED");
    assertThat(waiting).isCompleted();
    assertThat(freed).containsExactly(LOCK);
  }

  @Test
  void holderIsAskedToGiveWay() {
    // Given
    ask(a).join();
    // When
    server.requestRelease(LOCK, "carol", "deploy");
    clock.settle();
    // Then
    assertThat(told.events).containsExactly("asked by carol");
  }

  @Test
  void holderHearsOfTheServersLostContactAndWhenItIsBack() {
    // Given
    LockHandle held = ask(a).join();
    server.jeopardy();
    CompletableFuture<LockHandle> other = b.acquire(LockRequest.of("orders/43"));
    clock.advance(MOMENT);
    boolean grantedMeanwhile = other.isDone();
    // When
    server.safe();
    clock.advance(MOMENT);
    // Then
    assertThat(told.events).containsExactly("jeopardy", "safe");
    assertThat(held.isValid()).isTrue();
    assertThat(grantedMeanwhile).isFalse();
    assertThat(other).isCompleted();
  }

  @Test
  void lockIsLostWhenTheContactStaysAway() {
    // Given
    LockHandle held = ask(a).join();
    // When
    server.jeopardy();
    clock.advance(Duration.ofMinutes(1));
    // Then
    assertThat(held.isValid()).isFalse();
    server.safe();
    clock.advance(MOMENT);
    assertThat(server.holderToken(LOCK)).isEmpty();
  }

  @Test
  void closedServerSaysSo() {
    // Given
    InMemoryLockkeeper closed = InMemoryLockkeeper.start();
    closed.close();
    // When // Then
    closed.close();
    assertThatThrownBy(closed::freeze).hasMessageContaining("closed");
    assertThatThrownBy(closed::jeopardy).hasMessageContaining("closed");
    assertThatThrownBy(() -> closed.holderToken(LOCK)).hasMessageContaining("closed");
  }
}
