package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
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

  private static void refuse(
      SessionRequest request, StreamObserver<SessionResponse> stream, Status.Code code) {
    ScriptedServer.keepAlive(request, stream);
    if (request.hasAcquire()) {
      stream.onNext(ScriptedServer.refused(request.getAcquire().getRequestId(), code));
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
            e -> assertThat(e.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED));
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
