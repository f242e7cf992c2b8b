package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A release is sent until it is certain, whatever the server has against it meanwhile. */
class ReleaseRetryTest {

  private static final String LOCK = "orders/42";
  private static final Duration LONG = Duration.ofSeconds(20);

  @AutoClose private final ScriptedClient scripted = new ScriptedClient();
  private final ManualClock clock = scripted.clock;
  private final ScriptedServer server = scripted.server;
  private final LockkeeperClient client = scripted.client;

  /** Refuses releases, as an overloaded server does. */
  private static void refuse(SessionRequest request, StreamObserver<SessionResponse> stream) {
    ScriptedServer.keepAlive(request, stream);
    if (request.hasRelease()) {
      String id = request.getRelease().getRequestId();
      stream.onNext(ScriptedServer.releaseRefused(id, Status.Code.RESOURCE_EXHAUSTED));
    }
  }

  private static void release(SessionRequest request, StreamObserver<SessionResponse> stream) {
    ScriptedServer.keepAlive(request, stream);
    if (request.hasRelease()) {
      SessionResponse.Builder answer = SessionResponse.newBuilder();
      answer
          .getReleasedBuilder()
          .setRequestId(request.getRelease().getRequestId())
          .getResultBuilder()
          .setOutcome(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
      stream.onNext(answer.build());
    }
  }

  private List<String> releases() {
    return server.wishes().stream()
        .filter(SessionRequest::hasRelease)
        .map(wish -> wish.getRelease().getRequestId())
        .toList();
  }

  @Test
  void releaseThatAnOverloadedServerRefusesIsRepeatedUntilItIsDone() {
    // Given
    LockHandle held = server.hold(client, LOCK);
    server.script(ReleaseRetryTest::refuse);
    CompletableFuture<Void> released = held.releaseAsync();
    clock.advance(LONG);
    boolean certainTooEarly = released.isDone();
    // When
    server.script(ReleaseRetryTest::release);
    clock.advance(LONG);
    // Then
    assertThat(certainTooEarly).isFalse();
    assertThat(released).isCompleted();
  }

  @Test
  void releaseOfAnUnknownGrantIsRepeatedToo() {
    // Given
    LockHandle held = server.hold(client, LOCK);
    server.script(ReleaseRetryTest::refuse);
    server.send(ScriptedServer.granted("ghost", 1, "orders/43", 6));
    clock.advance(LONG);
    List<String> refused = releases();
    // When
    server.script(ReleaseRetryTest::release);
    clock.advance(LONG);
    List<String> done = releases();
    clock.advance(LONG);
    // Then
    assertThat(refused).hasSizeGreaterThan(1).containsOnly("ghost");
    assertThat(done).hasSize(refused.size() + 1);
    assertThat(releases()).isEqualTo(done);
    assertThat(held.isValid()).isTrue();
  }
}
