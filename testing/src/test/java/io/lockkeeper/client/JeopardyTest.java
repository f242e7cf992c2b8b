package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.grpc.Status;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Jeopardy;
import io.lockkeeper.v1.Safe;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long a holder may rely on its lock whose server has lost ZooKeeper. */
@Timeout(60)
class JeopardyTest {

  private static final String LOCK = "orders/42";
  private static final Duration MOMENT = Duration.ofSeconds(1);

  private final Recording heard = new Recording();
  @AutoClose private final ScriptedClient scripted = new ScriptedClient();
  private final ManualClock clock = scripted.clock;
  private final ScriptedServer server = scripted.server;
  private final LockkeeperClient client = scripted.client;
  private String id = "";

  private LockHandle hold() {
    server.script(ScriptedServer::keepAlive);
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of(LOCK).listener(heard));
    clock.settle();
    id = server.wishes().get(0).getAcquire().getRequestId();
    server.send(ScriptedServer.granted(id, 1, LOCK, 5));
    return asked.join();
  }

  private SessionResponse jeopardy(long sequence, Duration validFor) {
    Jeopardy.Builder jeopardy = Jeopardy.newBuilder().setValidFor(Protos.toProto(validFor));
    return ScriptedServer.event(AcquireResponse.newBuilder().setJeopardy(jeopardy), id, sequence);
  }

  private SessionResponse safe(long sequence) {
    return ScriptedServer.event(
        AcquireResponse.newBuilder().setSafe(Safe.getDefaultInstance()), id, sequence);
  }

  private void resume() {
    server.end(Status.UNAVAILABLE);
    clock.advance(MOMENT);
  }

  @Test
  void grantThatIsToldAgainWithItsOldNumberLiftsNoJeopardy() {
    // Given
    LockHandle held = hold();
    server.send(jeopardy(2, Duration.ofSeconds(5)));
    resume();
    // When
    server.send(ScriptedServer.granted(id, 1, LOCK, 5));
    clock.advance(MOMENT);
    // Then
    assertThat(held.remaining()).isEqualTo(Duration.ofSeconds(3));
    assertThat(heard.events()).containsExactly("granted", "jeopardy PT5S", "resumed");
  }

  @Test
  void keepAliveThatIsAnsweredAfterAResumeLiftsNoJeopardy() {
    // Given
    LockHandle held = hold();
    server.send(jeopardy(2, Duration.ofSeconds(8)));
    resume();
    // When
    clock.advance(Duration.ofSeconds(6));
    // Then
    assertThat(server.requests()).anyMatch(SessionRequest::hasKeepAlive);
    assertThat(held.remaining()).isEqualTo(MOMENT);
    assertThat(heard.events()).containsExactly("granted", "jeopardy PT8S");
  }

  @Test
  void grantThatIsNoRepetitionLiftsTheJeopardy() {
    // Given
    LockHandle held = hold();
    server.send(jeopardy(2, Duration.ofSeconds(5)));
    server.takeOver();
    resume();
    // When
    server.send(ScriptedServer.granted(id, 1, LOCK, 5));
    Duration remaining = held.remaining();
    clock.advance(Duration.ofSeconds(10));
    // Then
    assertThat(remaining).isGreaterThan(Duration.ofSeconds(5));
    assertThat(held.isValid()).isTrue();
    assertThat(heard.events())
        .containsExactly("granted", "jeopardy PT5S", "resumed", "safe " + remaining);
  }

  @Test
  void whoWasToldOfAJeopardyHearsAfterTheResumeThatItIsSafe() {
    // Given
    LockHandle held = hold();
    server.send(jeopardy(2, Duration.ofSeconds(5)));
    resume();
    server.send(ScriptedServer.granted(id, 1, LOCK, 5));
    // When
    server.send(safe(3));
    clock.advance(Duration.ofSeconds(10));
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(heard.events())
        .hasSize(4)
        .startsWith("granted", "jeopardy PT5S", "resumed")
        .last(STRING)
        .startsWith("safe");
  }

  @Test
  void safeWithoutAJeopardyBeforeItIsNotTold() {
    // Given
    LockHandle held = hold();
    // When
    server.send(safe(2));
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(heard.events()).containsExactly("granted");
  }

  @Test
  void eachJeopardySetsItsOwnDeadlineAndTheFirstIsTold() {
    // Given
    LockHandle held = hold();
    // When
    server.send(jeopardy(2, Duration.ofSeconds(8)));
    server.send(jeopardy(3, Duration.ofSeconds(4)));
    Duration shorter = held.remaining();
    server.send(jeopardy(4, Duration.ofSeconds(6)));
    Duration longer = held.remaining();
    // Then
    assertThat(shorter).isEqualTo(Duration.ofSeconds(4));
    assertThat(longer).isEqualTo(Duration.ofSeconds(6));
    assertThat(heard.events()).containsExactly("granted", "jeopardy PT8S");
  }

  @Test
  void holdWhoseJeopardyIsNotLiftedInTimeIsLostAndReleasedForGood() {
    // Given
    LockHandle held = hold();
    server.send(jeopardy(2, Duration.ofSeconds(4)));
    clock.advance(Duration.ofSeconds(4).minusNanos(1));
    boolean justBefore = held.isValid();
    // When
    clock.advance(Duration.ofNanos(1));
    boolean then = held.isValid();
    server.send(safe(3));
    // Then
    assertThat(justBefore).isTrue();
    assertThat(then).isFalse();
    assertThat(held.isValid()).isFalse();
    assertThat(held.lost().toCompletableFuture()).isCompletedWithValue(LossReason.DEADLINE_PASSED);
    assertThat(heard.events()).containsExactly("granted", "jeopardy PT4S", "lost DEADLINE_PASSED");
    assertThat(server.wishes())
        .last()
        .satisfies(wish -> assertThat(wish.getRelease().getRequestId()).isEqualTo(id));
    assertThat(client.leaseTag()).isNotEmpty();
  }

  @Test
  void jeopardyOfALockThatWasReleasedEndsNothing() {
    // Given
    LockHandle held = hold();
    server.send(jeopardy(2, Duration.ofSeconds(4)));
    CompletableFuture<ReleaseResult> released = held.releaseForResult();
    // When
    clock.advance(Duration.ofSeconds(5));
    // Then
    assertThat(released).isNotDone();
    assertThat(held.lost().toCompletableFuture()).isNotDone();
    assertThat(heard.events()).containsExactly("granted", "jeopardy PT4S");
  }
}
