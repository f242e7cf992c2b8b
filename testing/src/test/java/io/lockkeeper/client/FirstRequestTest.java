package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of a request that no server has seen when it is refused. */
@Timeout(60)
class FirstRequestTest {

  @AutoClose private final ScriptedClient scripted = new ScriptedClient();
  private final ManualClock clock = scripted.clock;
  private final ScriptedServer server = scripted.server;
  private final LockkeeperClient client = scripted.client;

  private static final Duration DELAY = Duration.ofSeconds(3);

  private static void refuse(
      SessionRequest request, StreamObserver<SessionResponse> stream, Status.Code code) {
    ScriptedServer.keepAlive(request, stream);
    if (request.hasAcquire()) {
      String id = request.getAcquire().getRequestId();
      stream.onNext(ScriptedServer.after(DELAY, ScriptedServer.refused(id, code)));
    }
  }

  private static void refuseTooMany(
      SessionRequest request, StreamObserver<SessionResponse> stream) {
    refuse(request, stream, Status.Code.RESOURCE_EXHAUSTED);
  }

  private static void refuseFullQueue(
      SessionRequest request, StreamObserver<SessionResponse> stream) {
    ScriptedServer.keepAlive(request, stream);
    if (request.hasAcquire()) {
      SessionResponse.Builder refused =
          ScriptedServer.refused(
              request.getAcquire().getRequestId(), Status.Code.RESOURCE_EXHAUSTED)
              .toBuilder();
      refused
          .getRefusedBuilder()
          .setReason(io.lockkeeper.v1.ErrorReason.ERROR_REASON_QUEUE_FULL)
          .setMessage("10 entries");
      stream.onNext(refused.build());
    }
  }

  private static void refuseForNow(SessionRequest request, StreamObserver<SessionResponse> stream) {
    refuse(request, stream, Status.Code.UNAVAILABLE);
  }

  private static void assertRefused(CompletableFuture<LockHandle> asked) {
    assertThat(asked)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOfSatisfying(
            RequestRefusedException.class,
            e -> {
              assertThat(e.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
              assertThat(e.retryAfter()).hasValue(DELAY);
            });
  }

  private static void assertFullQueue(CompletableFuture<LockHandle> asked) {
    assertThat(asked)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .withMessageContaining("10 entries")
        .isInstanceOfSatisfying(
            NotAcquiredException.class,
            e -> assertThat(e.reason()).isEqualTo(NotAcquiredReason.QUEUE_FULL));
  }

  @Test
  void firstRequestOfAClientIsRefusedAtOnceWhenItIsOneTooMany() {
    // Given
    server.script(FirstRequestTest::refuseTooMany);
    // When
    CompletableFuture<LockHandle> waiting = client.acquire(LockRequest.of("orders/42"));
    CompletableFuture<LockHandle> trying =
        client.acquire(LockRequest.of("orders/43").waitAtMost(Duration.ZERO));
    CompletableFuture<LockHandle> permit =
        client.acquire(LockRequest.of(LockSpec.permits("pool", 1, 2)));
    clock.settle();
    // Then
    assertRefused(waiting);
    assertRefused(trying);
    assertRefused(permit);
  }

  @Test
  void fullQueueIsAnEndingThatCallersExpect() {
    // Given
    server.script(FirstRequestTest::refuseFullQueue);
    // When
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of("orders/42"));
    clock.settle();
    // Then
    assertFullQueue(asked);
  }

  @Test
  void requestThatIsRefusedForTheMomentIsSentAgainAfterTheDelay() {
    // Given
    server.script(FirstRequestTest::refuseForNow);
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of("orders/42"));
    clock.settle();
    // When
    clock.advance(DELAY.minusMillis(1));
    int early = server.wishes().size();
    clock.advance(Duration.ofSeconds(1));
    // Then
    assertThat(early).isEqualTo(1);
    assertThat(server.wishes()).hasSize(2).allMatch(SessionRequest::hasAcquire);
    assertThat(server.wishes().get(1).getAcquire().getRequestId())
        .isEqualTo(server.wishes().get(0).getAcquire().getRequestId());
    assertThat(asked).isNotDone();
  }

  @Test
  void requestThatIsRefusedForTheMomentFailsSomeSecondsAfterItsWaitLimit() {
    // Given: nobody but the client counts the limit of what is not queued
    server.script(FirstRequestTest::refuseForNow);
    CompletableFuture<LockHandle> asked =
        client.acquire(LockRequest.of("orders/42").waitAtMost(Duration.ofSeconds(3)));
    clock.settle();
    // When
    advanceBySeconds(6);
    boolean early = asked.isDone();
    advanceBySeconds(6);
    // Then
    assertThat(early).isFalse();
    assertThat(asked)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(RequestRefusedException.class);
  }

  private void advanceBySeconds(int seconds) {
    for (int i = 0; i < seconds; i++) {
      clock.advance(Duration.ofSeconds(1));
    }
  }

  @Test
  void requestThatIsRefusedWithoutADelayWouldBeRefusedAgain() {
    // Given
    server.script(
        (request, stream) -> {
          ScriptedServer.keepAlive(request, stream);
          if (request.hasAcquire()) {
            String id = request.getAcquire().getRequestId();
            stream.onNext(ScriptedServer.refused(id, Status.Code.INTERNAL));
          }
        });
    // When
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of("orders/42"));
    clock.settle();
    // Then
    assertThat(asked)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOfSatisfying(
            RequestRefusedException.class, e -> assertThat(e.retryAfter()).isEmpty());
  }

  @Test
  void candidateThatIsRefusedForALimitAsksAgainAfterTheDelay() throws InterruptedException {
    // Given
    AtomicInteger asked = new AtomicInteger();
    server.script(
        (request, stream) -> {
          if (request.hasAcquire() && asked.incrementAndGet() == 1) {
            String id = request.getAcquire().getRequestId();
            SessionResponse refused = ScriptedServer.refused(id, Status.Code.RESOURCE_EXHAUSTED);
            stream.onNext(ScriptedServer.after(Duration.ofMillis(1), refused));
          } else if (request.hasAcquire()) {
            stream.onNext(
                ScriptedServer.granted(request.getAcquire().getRequestId(), 1, "leader", 7));
          } else if (request.hasRelease()) {
            stream.onNext(
                ScriptedServer.released(
                    request.getRelease().getRequestId(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED));
          } else {
            ScriptedServer.keepAlive(request, stream);
          }
        });
    List<Long> terms = new ArrayList<>();
    // When
    client.asElection("leader").run("", leadership -> terms.add(leadership.fencingToken()));
    // Then
    assertThat(terms).containsExactly(7L);
    assertThat(asked).hasValue(2);
  }

  @Test
  void holdersCallThatIsRefusedForTheMomentIsSentAgainAfterTheDelay() {
    // Given
    LockHandle held = server.hold(client, "orders/42");
    server.script(
        (request, stream) -> {
          ScriptedServer.keepAlive(request, stream);
          if (request.hasUpdateMetadata()) {
            SessionResponse.Builder refused = SessionResponse.newBuilder();
            refused
                .getRefusedBuilder()
                .setUpdateMetadata(request.getUpdateMetadata().getRequestId())
                .setCode(Status.Code.RESOURCE_EXHAUSTED.value());
            stream.onNext(ScriptedServer.after(DELAY, refused.build()));
          }
        });
    CompletableFuture<Void> update = held.updateMetadata(Map.of("step", "1"));
    clock.settle();
    // When
    clock.advance(DELAY.minusMillis(1));
    long early = updates();
    clock.advance(Duration.ofSeconds(1));
    // Then
    assertThat(early).isEqualTo(1);
    assertThat(updates()).isEqualTo(2);
    assertThat(update).isNotDone();
  }

  private long updates() {
    return server.wishes().stream().filter(SessionRequest::hasUpdateMetadata).count();
  }

  @Test
  void requestThatWasRefusedForTheMomentIsRefusedAtOnceByTheNextServerToo() {
    // Given
    server.script(FirstRequestTest::refuseForNow);
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of("orders/42"));
    clock.settle();
    server.script(FirstRequestTest::refuseTooMany);
    // When
    server.end(Status.UNAVAILABLE);
    clock.advance(Duration.ofSeconds(1));
    // Then
    assertRefused(asked);
  }
}
