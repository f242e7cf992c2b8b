package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.inprocess.InProcessChannelBuilder;
import io.lockkeeper.testing.InMemoryLockkeeper;
import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stream that ends is resumed; only a lease that ends loses something. */
class ResumeTest {

  private static final String LOCK = "orders/42";
  private static final Duration MOMENT = Duration.ofSeconds(3);

  private final ManualClock clock = new ManualClock();
  private final Recording heard = new Recording();
  private InMemoryLockkeeper server;
  private LockkeeperClient client;
  private LockkeeperClient other;

  @BeforeEach
  void start() {
    server = InMemoryLockkeeper.start(clock);
    client = server.clientBuilder().holder("a").callbackExecutor(Runnable::run).build();
    other = server.clientBuilder().holder("b").callbackExecutor(Runnable::run).build();
  }

  @AfterEach
  void stop() {
    other.close();
    client.close();
    server.close();
  }

  private CompletableFuture<LockHandle> ask(LockkeeperClient who) {
    CompletableFuture<LockHandle> asked = who.acquire(LockRequest.of(LOCK).listener(heard));
    clock.settle();
    return asked;
  }

  @Test
  void holderKeepsItsTokenWhenTheStreamBreaks() {
    // Given
    LockHandle held = ask(client).join();
    // When
    for (int i = 0; i < 10; i++) {
      server.dropStreams();
      clock.advance(MOMENT);
    }
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(server.holderToken(LOCK)).isEqualTo(Optional.of(held.fencingToken()));
    List<String> expected = new ArrayList<>(Collections.nCopies(10, "resumed"));
    expected.add(0, "granted");
    assertThat(heard.events()).isEqualTo(expected);
  }

  @Test
  void waiterKeepsItsPlaceWhenTheStreamBreaks() {
    // Given
    LockHandle held = ask(other).join();
    CompletableFuture<LockHandle> first = ask(client);
    CompletableFuture<LockHandle> second = ask(other);
    // When
    server.dropStreams();
    clock.advance(MOMENT);
    CompletableFuture<Void> released = held.releaseAsync();
    clock.advance(MOMENT);
    // Then
    assertThat(released).isCompleted();
    assertThat(first).isCompleted();
    assertThat(second).isNotDone();
    assertThat(heard.events())
        .containsExactly("granted", "queued 1 behind b", "queued 2 behind b", "resumed", "granted");
  }

  @Test
  void grantThatCameWhileTheStreamWasBrokenIsToldAfterTheResume() {
    // Given
    LockHandle held = ask(other).join();
    CompletableFuture<LockHandle> waiting = ask(client);
    server.freeze();
    server.dropStreams();
    server.whenFree(LOCK, () -> {});
    // When
    CompletableFuture<Void> released = held.releaseAsync();
    server.thaw();
    clock.advance(MOMENT);
    // Then
    assertThat(released).isCompleted();
    assertThat(waiting.join().isValid()).isTrue();
  }

  @Test
  void requestMadeWhileDisconnectedIsSentAfterTheResume() {
    // Given
    LockHandle held = ask(client).join();
    server.refuseCalls(true);
    server.dropStreams();
    clock.settle();
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of("orders/43"));
    // When
    server.refuseCalls(false);
    clock.advance(MOMENT);
    // Then
    assertThat(asked).isCompleted();
    assertThat(held.isValid()).isTrue();
    assertThat(server.leaseCount()).isEqualTo(1);
  }

  @Test
  void releaseThatWasInFlightIsRepeatedUntilCertain() {
    // Given
    LockHandle held = ask(client).join();
    server.freeze();
    CompletableFuture<Void> released = held.releaseAsync();
    clock.settle();
    server.dropStreams();
    // When
    boolean before = released.isDone();
    server.thaw();
    clock.advance(MOMENT);
    // Then
    assertThat(before).isFalse();
    assertThat(released).isCompleted();
    assertThat(server.holderToken(LOCK)).isEmpty();
  }

  @Test
  void goingAwayIsFollowedAfterTheDelayAndCostsNothing() {
    // Given
    LockHandle held = ask(client).join();
    // When
    server.goAway(Duration.ofSeconds(2));
    clock.advance(Duration.ofMillis(1_999));
    CompletableFuture<LockHandle> early = client.acquire(LockRequest.of("orders/43"));
    clock.settle();
    boolean servedEarly = early.isDone();
    clock.advance(MOMENT);
    // Then
    assertThat(servedEarly).isFalse();
    assertThat(early).isCompleted();
    assertThat(held.isValid()).isTrue();
    assertThat(heard.events()).containsExactly("granted", "resumed");
  }

  @Test
  void leaseThatEndedLosesHoldersAndFailsWaitersAndIsReplaced() {
    // Given
    LockHandle held = ask(client).join();
    CompletableFuture<LockHandle> waiting = ask(client);
    String firstLease = client.leaseTag();
    // When
    server.endLeases();
    clock.advance(MOMENT);
    CompletableFuture<LockHandle> again = ask(client);
    clock.advance(MOMENT);
    // Then
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events()).containsOnlyOnce("lost SESSION_LOST");
    assertThat(waiting)
        .isCompletedExceptionally()
        .failsWithin(Duration.ofSeconds(1))
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(LeaseLostException.class);
    assertThat(again.join().fencingToken()).isGreaterThan(held.fencingToken());
    assertThat(client.leaseTag()).isNotEqualTo(firstLease).isNotEmpty();
  }

  @Test
  void leaseThatIsUnknownAtTheResumeIsLostAtOnce() {
    // Given
    LockHandle held = ask(client).join();
    server.freeze();
    server.endLeases();
    // When
    server.dropStreams();
    server.thaw();
    clock.advance(Duration.ofSeconds(1));
    // Then
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events()).containsExactly("granted", "lost LEASE_UNKNOWN");
  }

  @Test
  void lateGrantOfARequestThatWasGivenUpIsReleased() {
    // Given
    ask(client).join();
    server.delay(Duration.ZERO, Duration.ofSeconds(1));
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of("orders/43"));
    clock.settle();
    Optional<Long> grantedMeanwhile = server.holderToken("orders/43");
    // When
    boolean cancelled = asked.cancel(true);
    clock.advance(MOMENT);
    // Then
    assertThat(grantedMeanwhile).isPresent();
    assertThat(cancelled).isTrue();
    assertThat(server.holderToken("orders/43")).isEmpty();
    server.delay(Duration.ZERO, Duration.ZERO);
  }

  @Test
  void holderIsToldWhatTheServerSaysOfTheLock() {
    // Given
    LockHandle held = ask(client).join();
    // When
    server.requestRelease(LOCK, "carol", "deploy");
    server.jeopardy();
    server.safe();
    server.removeHolder(LOCK);
    clock.settle();
    // Then
    assertThat(heard.events())
        .containsExactly(
            "granted",
            "asked by carol: deploy",
            "jeopardy PT14.65S",
            "safe PT14.65S",
            "lost REMOVED");
    assertThat(held.isValid()).isFalse();
  }

  @Test
  void leaseIsRenewedAtOnceWhenTheServerHasContactAgain() {
    // Given: the next keep-alive is due in two seconds
    LockHandle held = ask(client).join();
    clock.advance(Duration.ofSeconds(3));
    server.jeopardy();
    // When
    server.safe();
    clock.settle();
    clock.advance(Duration.ofMillis(250));
    // Then
    assertThat(held.remaining()).isGreaterThan(Duration.ofSeconds(14));
  }

  @Test
  void anotherServerIsTriedWhenOneDoesNotAnswer() {
    // Given
    List<String> tried = new CopyOnWriteArrayList<>();
    LockkeeperClient roaming =
        LockkeeperClient.builder("nobody:1,silent:2,good:3")
            .channels(
                address -> {
                  tried.add(address);
                  return address.equals("good:3")
                      ? server.connect()
                      : InProcessChannelBuilder.forName(address).directExecutor().build();
                })
            .clock(clock)
            .build();
    // When
    CompletableFuture<LockHandle> asked = roaming.acquire(LockRequest.of(LOCK));
    clock.advance(MOMENT);
    // Then
    assertThat(asked).succeedsWithin(Duration.ofSeconds(5));
    assertThat(tried).containsExactly("nobody:1", "silent:2", "good:3");
    roaming.close();
  }

  @Test
  void requestFailsWithAllAddressesWhenNoServerAnswers() {
    // Given
    LockkeeperClient lonely =
        LockkeeperClient.builder("nobody:1,nowhere")
            .channels(a -> InProcessChannelBuilder.forName(a).directExecutor().build())
            .requestTimeout(Duration.ofSeconds(5))
            .clock(clock)
            .build();
    CompletableFuture<LockHandle> asked = lonely.acquire(LockRequest.of(LOCK));
    // When
    clock.advance(Duration.ofMillis(4_999));
    boolean early = asked.isDone();
    clock.advance(Duration.ofMillis(2));
    // Then
    assertThat(early).isFalse();
    assertThat(asked)
        .failsWithin(Duration.ofSeconds(5))
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(ServerUnavailableException.class)
        .withMessageContaining("nobody:1, nowhere:7420");
    lonely.close();
  }
}
