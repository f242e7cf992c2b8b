package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Jeopardy;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.Queued;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequested;
import io.lockkeeper.v1.Safe;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the responses of a server mean to callers and listeners, beyond the conformance kit. */
class ServerResponsesTest {

  private static final String LOCK = "orders/42";
  private static final Duration DELAY = Duration.ofSeconds(3);
  private static final Duration LONG = Duration.ofSeconds(20);

  private final Recording heard = new Recording();
  @AutoClose private final ScriptedClient scripted = new ScriptedClient();
  private final ManualClock clock = scripted.clock;
  private final ScriptedServer server = scripted.server;
  private final LockkeeperClient client = scripted.client;
  private String id = "";

  private CompletableFuture<LockHandle> ask() {
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of(LOCK).listener(heard));
    clock.settle();
    return asked;
  }

  private CompletableFuture<LockHandle> askAndStay() {
    server.script(ScriptedServer::keepAlive);
    CompletableFuture<LockHandle> asked = ask();
    id = server.wishes().get(0).getAcquire().getRequestId();
    return asked;
  }

  private LockHandle hold() {
    CompletableFuture<LockHandle> asked = askAndStay();
    server.send(ScriptedServer.granted(id, 1, LOCK, 5));
    return asked.join();
  }

  private void resume() {
    server.end(Status.UNAVAILABLE);
    clock.advance(Duration.ofSeconds(1));
  }

  private static BiConsumer<SessionRequest, StreamObserver<SessionResponse>> answering(
      Function<String, SessionResponse> answer) {
    return (request, stream) -> {
      ScriptedServer.keepAlive(request, stream);
      if (request.hasAcquire()) {
        stream.onNext(answer.apply(request.getAcquire().getRequestId()));
      }
    };
  }

  private static BiConsumer<SessionRequest, StreamObserver<SessionResponse>> refusing(
      Status.Code code) {
    return answering(id -> ScriptedServer.after(DELAY, ScriptedServer.refused(id, code)));
  }

  // Rejections

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void requestThatWasNeverQueuedFailsAtOnceBeyondALimit(boolean wasRefusedForNow) {
    // Given
    CompletableFuture<LockHandle> asked = new CompletableFuture<>();
    if (wasRefusedForNow) {
      server.script(refusing(Status.Code.UNAVAILABLE));
      asked = ask();
    }
    server.script(refusing(Status.Code.RESOURCE_EXHAUSTED));
    // When
    if (wasRefusedForNow) {
      resume();
    } else {
      asked = ask();
    }
    // Then
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

  @Test
  void fullQueueIsAReasonNotToAcquire() {
    // Given
    server.script(
        answering(
            id -> {
              SessionResponse.Builder refused =
                  ScriptedServer.refused(id, Status.Code.RESOURCE_EXHAUSTED).toBuilder();
              refused
                  .getRefusedBuilder()
                  .setReason(io.lockkeeper.v1.ErrorReason.ERROR_REASON_QUEUE_FULL)
                  .setMessage("10 entries");
              return refused.build();
            }));
    // When
    CompletableFuture<LockHandle> asked = ask();
    // Then
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
  void grantAfterARefusalForNowIsTaken() {
    // Given
    CompletableFuture<LockHandle> asked = askAndStay();
    server.send(ScriptedServer.after(DELAY, ScriptedServer.refused(id, Status.Code.UNAVAILABLE)));
    // When
    server.send(ScriptedServer.granted(id, 1, LOCK, 7));
    // Then
    assertThat(asked.join().fencingToken()).isEqualTo(7);
  }

  @Test
  void candidateBeyondALimitRetriesAfterTheDelay() throws InterruptedException {
    // Given
    AtomicInteger asked = new AtomicInteger();
    BiConsumer<SessionRequest, StreamObserver<SessionResponse>> first =
        answering(
            id ->
                asked.incrementAndGet() == 1
                    ? ScriptedServer.after(
                        Duration.ofMillis(1),
                        ScriptedServer.refused(id, Status.Code.RESOURCE_EXHAUSTED))
                    : ScriptedServer.granted(id, 1, "leader", 7));
    server.script(
        (request, stream) -> {
          first.accept(request, stream);
          confirmRelease(request, stream);
        });
    List<Long> terms = new ArrayList<>();
    // When
    client.asElection("leader").run("", leadership -> terms.add(leadership.fencingToken()));
    // Then
    assertThat(terms).containsExactly(7L);
    assertThat(asked).hasValue(2);
  }

  @Test
  void holderCallRefusedForNowIsRepeatedAfterTheDelay() {
    // Given
    LockHandle held = hold();
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

  // Releases

  private static void confirmRelease(
      SessionRequest request, StreamObserver<SessionResponse> stream) {
    if (request.hasRelease()) {
      stream.onNext(
          ScriptedServer.released(
              request.getRelease().getRequestId(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED));
    }
  }

  private List<String> releases() {
    return server.wishes().stream()
        .filter(SessionRequest::hasRelease)
        .map(wish -> wish.getRelease().getRequestId())
        .toList();
  }

  @Test
  void releaseRefusedByABusyServerIsRepeatedUntilItIsConfirmed() {
    // Given: a release of the caller's, and those of two requests that the client does not know
    LockHandle held = hold();
    server.script(
        (request, stream) -> {
          ScriptedServer.keepAlive(request, stream);
          if (request.hasRelease()) {
            String released = request.getRelease().getRequestId();
            stream.onNext(ScriptedServer.releaseRefused(released, Status.Code.RESOURCE_EXHAUSTED));
          }
        });
    CompletableFuture<Void> released = held.releaseAsync();
    server.send(ScriptedServer.granted("unknown", 1, "orders/43", 6));
    server.send(queued("waiting", 1, 1));
    clock.advance(LONG);
    List<String> refused = releases();
    boolean doneBefore = released.isDone();
    // When
    server.script(
        (request, stream) -> {
          ScriptedServer.keepAlive(request, stream);
          confirmRelease(request, stream);
        });
    clock.advance(LONG);
    List<String> confirmed = releases();
    clock.advance(LONG);
    // Then
    assertThat(refused).hasSizeGreaterThan(3).contains(id, "unknown", "waiting");
    assertThat(doneBefore).isFalse();
    assertThat(released).isCompleted();
    assertThat(confirmed).hasSize(refused.size() + 3);
    assertThat(releases()).isEqualTo(confirmed);
  }

  @Test
  void refusalsOfOneReleaseInARowLeaveOneRetry() {
    // Given
    CompletableFuture<Void> released = hold().releaseAsync();
    clock.settle();
    // When
    for (int i = 0; i < 5; i++) {
      server.send(
          ScriptedServer.after(DELAY, ScriptedServer.releaseRefused(id, Status.Code.UNAVAILABLE)));
    }
    clock.advance(DELAY.multipliedBy(3));
    // Then
    assertThat(released).isNotDone();
    assertThat(releases()).containsExactly(id, id);
  }

  @Test
  void grantThatCrossesACancellationIsReleasedAndNotReported() throws InterruptedException {
    // Given: a listener blocks the client's loop
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    LockListener blocking =
        new LockListener() {
          @Override
          public void onGranted(LockHandle handle) {
            blocked.countDown();
            awaitQuietly(goOn);
          }
        };
    CompletableFuture<LockHandle> asked = askAndStay();
    CompletableFuture<LockHandle> other =
        client.acquire(LockRequest.of("orders/43").listener(blocking));
    clock.settle();
    server.deliver(
        ScriptedServer.granted(
            server.wishes().get(1).getAcquire().getRequestId(), 1, "orders/43", 6));
    blocked.await();
    // When
    server.deliver(ScriptedServer.granted(id, 1, LOCK, 5));
    boolean cancelled = asked.cancel(true);
    goOn.countDown();
    clock.settle();
    // Then
    assertThat(cancelled).isTrue();
    assertThat(heard.events()).isEmpty();
    assertThat(releases()).containsExactly(id);
    assertThat(other).isCompleted();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  // Events

  private static SessionResponse queued(String id, long sequence, int ahead) {
    return ScriptedServer.event(
        AcquireResponse.newBuilder()
            .setQueued(
                Queued.newBuilder()
                    .addPositions(QueuePosition.newBuilder().setName(LOCK).setAhead(ahead))),
        id,
        sequence);
  }

  private SessionResponse jeopardy(long sequence, long seconds) {
    Jeopardy.Builder jeopardy =
        Jeopardy.newBuilder().setValidFor(Protos.toProto(Duration.ofSeconds(seconds)));
    return ScriptedServer.event(AcquireResponse.newBuilder().setJeopardy(jeopardy), id, sequence);
  }

  private SessionResponse releaseRequested(long sequence, long seconds) {
    ReleaseRequested.Builder requested =
        ReleaseRequested.newBuilder()
            .setName(LOCK)
            .setRequester("carol")
            .setReason("deploy")
            .setDeadline(Protos.toProto(Duration.ofSeconds(seconds)));
    return ScriptedServer.event(
        AcquireResponse.newBuilder().setReleaseRequested(requested), id, sequence);
  }

  @Test
  void samePlaceInTheQueueIsReportedOnce() {
    // Given
    CompletableFuture<LockHandle> asked = askAndStay();
    server.send(queued(id, 1, 2));
    server.takeOver();
    resume();
    // When
    server.send(queued(id, 1, 2));
    server.send(queued(id, 2, 1));
    // Then
    assertThat(asked).isNotDone();
    assertThat(heard.events()).containsExactly("queued 2 behind ", "queued 1 behind ");
  }

  @Test
  void placeInTheQueueTakesNoHoldAwayAndARefusalDoes() {
    // Given
    LockHandle held = hold();
    server.takeOver();
    resume();
    // When
    server.send(queued(id, 1, 1));
    boolean validInTheQueue = held.isValid();
    server.send(
        ScriptedServer.event(
            AcquireResponse.newBuilder().setNotAcquired(NotAcquired.getDefaultInstance()), id, 2));
    // Then
    assertThat(validInTheQueue).isTrue();
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events()).containsExactly("granted", "lost REMOVED");
  }

  @Test
  void eachJeopardySetsItsOwnDeadlineAndTheFirstIsReported() {
    // Given
    LockHandle held = hold();
    server.send(
        ScriptedServer.event(
            AcquireResponse.newBuilder().setSafe(Safe.getDefaultInstance()), id, 2));
    // When
    server.send(jeopardy(3, 8));
    server.send(jeopardy(4, 4));
    Duration shorter = held.remaining();
    server.send(jeopardy(5, 6));
    Duration longer = held.remaining();
    // Then
    assertThat(shorter).isEqualTo(Duration.ofSeconds(4));
    assertThat(longer).isEqualTo(Duration.ofSeconds(6));
    assertThat(heard.events()).containsExactly("granted", "jeopardy PT8S");
  }

  @Test
  void jeopardyOfAReleasedLockEndsNothing() {
    // Given
    LockHandle held = hold();
    server.send(jeopardy(2, 4));
    CompletableFuture<ReleaseResult> released = held.releaseForResult();
    // When
    clock.advance(Duration.ofSeconds(5));
    // Then
    assertThat(released).isNotDone();
    assertThat(held.lost().toCompletableFuture()).isNotDone();
    assertThat(heard.events()).containsExactly("granted", "jeopardy PT4S");
  }

  @Test
  void releaseRequestRepeatedAfterAResumeOrATakeoverIsReportedOnce() {
    // Given
    hold();
    // When
    server.send(releaseRequested(2, 60));
    server.send(releaseRequested(3, 60)); // Requested twice.
    int twice = requestsHeard();
    resume();
    server.send(releaseRequested(4, 59)); // Repeated, one second later.
    server.send(releaseRequested(5, 59));
    int afterTheResume = requestsHeard();
    resume();
    server.send(releaseRequested(6, 10)); // Another deadline.
    int withAnotherDeadline = requestsHeard();
    server.takeOver();
    server.send(releaseRequested(1, 10));
    // Then
    assertThat(twice).isEqualTo(2);
    assertThat(afterTheResume).isEqualTo(3);
    assertThat(withAnotherDeadline).isEqualTo(4);
    assertThat(requestsHeard()).isEqualTo(4);
  }

  private int requestsHeard() {
    return (int) heard.events().stream().filter("asked by carol: deploy"::equals).count();
  }
}
