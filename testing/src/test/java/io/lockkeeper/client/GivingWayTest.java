package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ReleaseRequested;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which requests to give way are new to a holder. */
@Timeout(60)
class GivingWayTest {

  private static final String LOCK = "orders/42";

  private final List<Duration> asked = new CopyOnWriteArrayList<>();
  private final LockListener listener =
      new LockListener() {
        @Override
        public void onReleaseRequested(LockHandle handle, ReleaseRequest request) {
          asked.add(request.deadline().orElse(Duration.ZERO));
        }
      };
  @AutoClose private final ScriptedClient scripted = new ScriptedClient();
  private final ManualClock clock = scripted.clock;
  private final ScriptedServer server = scripted.server;
  private String id = "";

  @BeforeEach
  void hold() {
    server.script(ScriptedServer::keepAlive);
    CompletableFuture<LockHandle> held =
        scripted.client.acquire(LockRequest.of(LOCK).listener(listener));
    clock.settle();
    id = server.wishes().get(0).getAcquire().getRequestId();
    server.send(ScriptedServer.granted(id, 1, LOCK, 5));
    assertThat(held).isCompleted();
  }

  private SessionResponse wish(long sequence, Duration deadline) {
    ReleaseRequested.Builder wish =
        ReleaseRequested.newBuilder()
            .setName(LOCK)
            .setRequester("carol")
            .setReason("deploy")
            .setDeadline(Protos.toProto(deadline));
    return ScriptedServer.event(
        AcquireResponse.newBuilder().setReleaseRequested(wish), id, sequence);
  }

  private void resume() {
    server.end(Status.UNAVAILABLE);
    clock.advance(Duration.ofSeconds(1));
  }

  @Test
  void whoAsksTwiceIsToldTwice() {
    // When
    server.send(wish(2, Duration.ofSeconds(60)));
    server.send(wish(3, Duration.ofSeconds(60)));
    server.send(wish(4, Duration.ofSeconds(10)));
    // Then
    assertThat(asked)
        .containsExactly(Duration.ofSeconds(60), Duration.ofSeconds(60), Duration.ofSeconds(10));
  }

  @Test
  void wishThatIsRepeatedAfterAResumeIsToldOnceAndTheNextIsNew() {
    // Given
    server.send(wish(2, Duration.ofSeconds(60)));
    resume();
    // When
    server.send(wish(3, Duration.ofSeconds(59)));
    server.send(wish(4, Duration.ofSeconds(59)));
    // Then
    assertThat(asked).containsExactly(Duration.ofSeconds(60), Duration.ofSeconds(59));
  }

  @Test
  void wishOfAnotherDeadlineAfterAResumeIsNew() {
    // Given
    server.send(wish(2, Duration.ofSeconds(60)));
    resume();
    // When
    server.send(wish(3, Duration.ofSeconds(10)));
    // Then
    assertThat(asked).containsExactly(Duration.ofSeconds(60), Duration.ofSeconds(10));
  }

  @Test
  void wishThatIsRepeatedByWhoTookOverIsToldOnce() {
    // Given
    server.send(wish(2, Duration.ofSeconds(60)));
    server.takeOver();
    // When
    server.send(wish(1, Duration.ofSeconds(60)));
    // Then
    assertThat(asked).containsExactly(Duration.ofSeconds(60));
  }
}
