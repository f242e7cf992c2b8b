package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a client does whose keep-alives are refused. */
@Timeout(60)
class OverloadedServerTest {

  private static final String LOCK = "orders/42";
  private static final Duration TTL = Duration.ofSeconds(ScriptedServer.TTL_SECONDS);

  @AutoClose private final ScriptedClient scripted = new ScriptedClient();
  private final ManualClock clock = scripted.clock;
  private final ScriptedServer server = scripted.server;
  private final LockkeeperClient client = scripted.client;

  private LockHandle hold() {
    LockHandle held = server.hold(client, LOCK);
    clock.advance(Duration.ofSeconds(3));
    return held;
  }

  private static BiConsumer<SessionRequest, StreamObserver<SessionResponse>> refusing(
      Status.Code code) {
    return (request, stream) -> {
      ScriptedServer.answerOpen(request, stream);
      if (request.hasKeepAlive()) {
        stream.onNext(ScriptedServer.keepAliveRefused(request.getKeepAlive().getNonce(), code));
      }
    };
  }

  private long keepAlives() {
    return server.requests().stream().filter(SessionRequest::hasKeepAlive).count();
  }

  @Test
  void keepAliveThatIsRefusedIsTriedAgainOnTheSameStreamWhileTheLeaseIsValid() {
    // Given
    LockHandle held = hold();
    server.script(refusing(Status.Code.RESOURCE_EXHAUSTED));
    // When
    clock.advance(TTL.minusSeconds(4));
    boolean valid = held.isValid();
    long tried = keepAlives();
    server.script(ScriptedServer::keepAlive);
    clock.advance(TTL);
    // Then
    assertThat(server.streamCount()).isEqualTo(1);
    assertThat(valid).isTrue();
    assertThat(tried).isBetween(4L, 15L);
    assertThat(held.isValid()).isTrue();
  }

  @Test
  void refusedKeepAliveExtendsNothing() {
    // Given
    LockHandle held = hold();
    long until = held.validUntilNanos();
    server.script(refusing(Status.Code.RESOURCE_EXHAUSTED));
    // When
    clock.advance(TTL);
    // Then
    assertThat(held.isValid()).isFalse();
    assertThat(held.validUntilNanos()).isEqualTo(until);
  }

  @Test
  void keepAliveIsSentAgainAfterTheDelayWhateverItIsRefusedFor() {
    // Given
    LockHandle held = hold();
    List<Long> sentAt = new ArrayList<>();
    server.script(
        (request, stream) -> {
          ScriptedServer.answerOpen(request, stream);
          if (request.hasKeepAlive()) {
            sentAt.add(clock.getAsLong());
            long nonce = request.getKeepAlive().getNonce();
            stream.onNext(
                sentAt.size() == 1
                    ? ScriptedServer.after(
                        Duration.ofSeconds(1),
                        ScriptedServer.keepAliveRefused(nonce, Status.Code.UNAVAILABLE))
                    : ScriptedServer.keptAlive(nonce));
          }
        });
    // When
    clock.advance(Duration.ofSeconds(8));
    // Then
    assertThat(sentAt).hasSizeGreaterThan(1);
    assertThat(sentAt.get(1) - sentAt.get(0)).isEqualTo(Duration.ofSeconds(1).toNanos());
    assertThat(server.streamCount()).isEqualTo(1);
    assertThat(held.isValid()).isTrue();
  }

  @Test
  void serverThatCannotServeTheLeaseIsLeftAsIfItSaidNothing() {
    // Given
    LockHandle held = hold();
    server.script(
        (request, stream) -> {
          ScriptedServer.answerOpen(request, stream);
          if (request.hasKeepAlive()) {
            long nonce = request.getKeepAlive().getNonce();
            stream.onNext(
                ScriptedServer.after(
                    Duration.ofMillis(500),
                    ScriptedServer.keepAliveRefused(nonce, Status.Code.UNAVAILABLE)));
          }
        });
    // When
    clock.advance(Duration.ofMillis(4_499)); // A keep-alive after 5 s, and 2.5 s for its answer.
    int before = server.streamCount();
    long tried = keepAlives();
    clock.advance(Duration.ofMillis(2));
    // Then
    assertThat(before).isEqualTo(1);
    assertThat(tried).isGreaterThan(3);
    assertThat(server.streamCount()).isEqualTo(2);
    assertThat(held.isValid()).isTrue();
  }
}
