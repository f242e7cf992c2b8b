package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.GoingAwayReason;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.Safe;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How a lease is opened, resumed, renewed and lost, beyond what the conformance kit checks. */
class ResumeTest {

  private static final String LOCK = "orders/42";
  private static final Duration MOMENT = Duration.ofSeconds(1);

  private final Recording heard = new Recording();
  @AutoClose private final ScriptedClient scripted = new ScriptedClient();
  private final ManualClock clock = scripted.clock;
  private final ScriptedServer server = scripted.server;
  private final LockkeeperClient client = scripted.client;

  @BeforeEach
  void serve() {
    server.script(ScriptedServer::keepAlive);
  }

  private CompletableFuture<LockHandle> ask(String lock) {
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of(lock).listener(heard));
    clock.settle();
    return asked;
  }

  private String lastId() {
    List<SessionRequest> wishes = server.wishes();
    return wishes.get(wishes.size() - 1).getAcquire().getRequestId();
  }

  private LockHandle hold() {
    return hold(LOCK);
  }

  private LockHandle hold(String lock) {
    CompletableFuture<LockHandle> asked = ask(lock);
    server.send(ScriptedServer.granted(lastId(), 1, lock, 5));
    return asked.join();
  }

  private long keepAlives() {
    return server.requests().stream().filter(SessionRequest::hasKeepAlive).count();
  }

  /** One attempt to resume gets no answer in time, the next one does. */
  private void abandonOneAttempt() {
    server.script((request, stream) -> {});
    server.end(Status.UNAVAILABLE);
    clock.advance(MOMENT);
    server.script(ScriptedServer::keepAlive);
    clock.advance(Duration.ofSeconds(5));
  }

  private void supersede() {
    server.send(ScriptedServer.goingAway(GoingAwayReason.GOING_AWAY_REASON_SUPERSEDED));
  }

  @Test
  void abandonedAttemptThatArrivesLateExplainsOneSupersededStream() {
    // Given
    LockHandle held = hold();
    abandonOneAttempt();
    int streams = server.streamCount();
    supersede();
    clock.advance(Duration.ofSeconds(3));
    boolean validAfterTheFirst = held.isValid();
    boolean resumed = server.streamCount() > streams;
    // When
    supersede();
    // Then
    assertThat(validAfterTheFirst).isTrue();
    assertThat(resumed).isTrue();
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events()).endsWith("lost SUPERSEDED");
  }

  @Test
  void attemptAbandonedLongAgoExplainsNoSupersededStream() {
    // Given
    LockHandle held = hold();
    abandonOneAttempt();
    clock.advance(Duration.ofSeconds(30));
    boolean validBefore = held.isValid();
    // When
    supersede();
    // Then
    assertThat(validBefore).isTrue();
    assertThat(held.isValid()).isFalse();
  }

  @Test
  void attemptForAnEndedLeaseExplainsNoSupersededStreamOfTheNext() {
    // Given
    hold();
    abandonOneAttempt();
    server.send(
        SessionResponse.newBuilder().setLeaseEnded(LeaseEnded.getDefaultInstance()).build());
    CompletableFuture<LockHandle> asked = ask(LOCK);
    clock.advance(MOMENT);
    server.send(ScriptedServer.granted(lastId(), 1, LOCK, 6));
    // When
    supersede();
    // Then
    assertThat(asked.join().isValid()).isFalse();
    assertThat(heard.events()).endsWith("lost SUPERSEDED");
  }

  @ParameterizedTest
  @EnumSource(names = {"NOT_FOUND", "FAILED_PRECONDITION"})
  void leaseThatIsUnknownToAServerIsLostAtOnce(Status.Code code) {
    // Given
    LockHandle held = hold();
    server.script((request, stream) -> stream.onError(code.toStatus().asRuntimeException()));
    // When
    server.end(Status.UNAVAILABLE);
    clock.advance(MOMENT);
    // Then
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events()).containsExactly("granted", "lost LEASE_UNKNOWN");
    assertThat(client.leaseTag()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(
      names = {"NOT_FOUND", "FAILED_PRECONDITION", "OK"},
      mode = EnumSource.Mode.EXCLUDE)
  void leaseSurvivesAnyOtherErrorUntilItsDeadline(Status.Code code) {
    // Given
    LockHandle held = hold();
    server.script((request, stream) -> stream.onError(code.toStatus().asRuntimeException()));
    server.end(Status.UNAVAILABLE);
    // When
    clock.advance(held.remaining().minusMillis(1));
    boolean validJustBefore = held.isValid();
    clock.advance(Duration.ofMillis(1));
    // Then
    assertThat(validJustBefore).isTrue();
    assertThat(heard.events())
        .containsExactly("granted", "about to expire", "lost DEADLINE_PASSED");
  }

  @Test
  void secretIsReplacedWithItsEpochWhenTheErrorHasNoDetails() {
    // Given: something was sent about a lease that an unanswered open request created
    List<OpenSession> opens = new ArrayList<>();
    server.script(
        (request, stream) -> {
          if (request.hasOpen()) {
            opens.add(request.getOpen());
          }
          switch (opens.size()) {
            case 1 -> stream.onNext(ScriptedServer.keptAlive(1).toBuilder().setEpoch(9).build());
            case 2 -> stream.onError(Status.FAILED_PRECONDITION.asRuntimeException());
            default -> ScriptedServer.keepAlive(request, stream);
          }
        });
    // When
    CompletableFuture<LockHandle> asked = ask(LOCK);
    clock.advance(MOMENT);
    // Then
    assertThat(opens).hasSize(3);
    assertThat(opens.get(1)).isEqualTo(opens.get(0));
    assertThat(opens.get(2).getLeaseSecret()).isNotEqualTo(opens.get(0).getLeaseSecret());
    assertThat(server.wishes()).singleElement().matches(SessionRequest::hasAcquire);
    assertThat(asked).isNotDone();
  }

  @Test
  void requestMadeWithoutAStreamIsSentAfterTheResume() {
    // Given
    LockHandle held = hold();
    server.script((request, stream) -> stream.onError(Status.UNAVAILABLE.asRuntimeException()));
    server.end(Status.UNAVAILABLE);
    CompletableFuture<LockHandle> asked = ask("orders/43");
    // When
    server.script(ScriptedServer::keepAlive);
    clock.advance(Duration.ofSeconds(3));
    server.send(ScriptedServer.granted(lastId(), 1, "orders/43", 6));
    // Then
    assertThat(asked).isCompleted();
    assertThat(held.isValid()).isTrue();
  }

  @Test
  void holdsAreRepeatedBeforeReleasesAndReleasesBeforeRequests() {
    // Given
    CompletableFuture<LockHandle> waiting = ask("b");
    CompletableFuture<Void> released = hold("a").releaseAsync();
    LockHandle held = hold("c");
    // When
    server.end(Status.UNAVAILABLE);
    clock.advance(MOMENT);
    // Then
    assertThat(server.wishes())
        .extracting(wish -> wish.hasRelease() ? "release" : wish.getAcquire().getLocks(0).getName())
        .containsExactly("c", "release", "b");
    assertThat(held.isValid()).isTrue();
    assertThat(List.of(waiting, released)).noneMatch(CompletableFuture::isDone);
  }

  @Test
  void leaseIsRenewedAtOnceWhenTheServerIsSafeAgain() {
    // Given: the next keep-alive is due in four seconds
    LockHandle held = hold();
    clock.advance(MOMENT);
    // When
    server.send(
        ScriptedServer.event(
            AcquireResponse.newBuilder().setSafe(Safe.getDefaultInstance()), lastId(), 2));
    clock.advance(Duration.ofMillis(250));
    // Then
    assertThat(keepAlives()).isEqualTo(1);
    assertThat(held.isValid()).isTrue();
  }

  private static BiConsumer<SessionRequest, StreamObserver<SessionResponse>> refusingKeepAlives(
      Status.Code code, Duration retryAfter) {
    return (request, stream) -> {
      ScriptedServer.answerOpen(request, stream);
      if (request.hasKeepAlive()) {
        long nonce = request.getKeepAlive().getNonce();
        SessionResponse refused = ScriptedServer.keepAliveRefused(nonce, code);
        stream.onNext(retryAfter.isZero() ? refused : ScriptedServer.after(retryAfter, refused));
      }
    };
  }

  @Test
  void busyServerIsAskedAgainOnTheSameStreamWhileTheLeaseIsValid() {
    // Given
    LockHandle held = hold();
    server.script(refusingKeepAlives(Status.Code.RESOURCE_EXHAUSTED, Duration.ZERO));
    // When
    clock.advance(Duration.ofSeconds(14));
    boolean valid = held.isValid();
    long tried = keepAlives();
    server.script(ScriptedServer::keepAlive);
    clock.advance(Duration.ofSeconds(15));
    // Then
    assertThat(valid).isTrue();
    assertThat(tried).isBetween(4L, 15L);
    assertThat(server.streamCount()).isEqualTo(1);
    assertThat(held.isValid()).isTrue();
  }

  @Test
  void serverThatRefusesKeepAlivesForAnotherReasonIsLeftLikeASilentOne() {
    // Given
    LockHandle held = hold();
    server.script(refusingKeepAlives(Status.Code.UNAVAILABLE, Duration.ofMillis(500)));
    // When
    clock.advance(Duration.ofMillis(7_499)); // A keep-alive after 5 s, and 2.5 s for its answer.
    int before = server.streamCount();
    clock.advance(Duration.ofMillis(2));
    // Then
    assertThat(before).isEqualTo(1);
    assertThat(server.streamCount()).isEqualTo(2);
    assertThat(held.isValid()).isTrue();
  }
}
