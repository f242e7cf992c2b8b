package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Lost;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.Queued;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.SessionReleased;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a server that has taken a lease over may say, and what the client makes of it. */
@Timeout(60)
class TakenOverTest {

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

  private LockHandle hold(String lock, long token) {
    CompletableFuture<LockHandle> asked = ask(lock);
    server.send(ScriptedServer.granted(lastId(), 7, lock, token));
    return asked.join();
  }

  private void takeOver() {
    server.takeOver();
    server.end(Status.UNAVAILABLE);
    clock.advance(MOMENT);
  }

  private static SessionResponse queued(String id, long sequence, int ahead) {
    return ScriptedServer.event(
        AcquireResponse.newBuilder()
            .setQueued(
                Queued.newBuilder()
                    .addPositions(
                        QueuePosition.newBuilder()
                            .setName(LOCK)
                            .setAhead(ahead)
                            .addHolders(io.lockkeeper.v1.Contender.newBuilder().setHolder("x")))),
        id,
        sequence);
  }

  @Test
  void holdsAreToldWithTheirTokensBeforeReleasesAndReleasesBeforeRequests() {
    // Given
    LockHandle released = hold("a", 1);
    CompletableFuture<LockHandle> waiting = ask("b");
    LockHandle held = hold("c", 3);
    CompletableFuture<Void> release = released.releaseAsync();
    CompletableFuture<LockHandle> asked = ask("d");
    // When
    takeOver();
    // Then
    assertThat(server.wishes())
        .extracting(TakenOverTest::inWords)
        .containsExactly("acquire c [3]", "release 0", "acquire b []", "acquire d []");
    assertThat(held.isValid()).isTrue();
    assertThat(List.of(waiting, release, asked)).noneMatch(CompletableFuture::isDone);
  }

  private static String inWords(SessionRequest request) {
    return request.hasAcquire()
        ? "acquire "
            + request.getAcquire().getLocks(0).getName()
            + " "
            + request.getAcquire().getHeldTokensList()
        : "release " + request.getRelease().getFencingToken();
  }

  @Test
  void tokensOfSeveralLocksAreToldInTheOrderOfTheRequest() {
    // Given
    CompletableFuture<LockHandle> asked =
        client.acquire(LockRequest.of(LockSpec.exclusive("b"), LockSpec.exclusive("a")));
    clock.settle();
    SessionResponse.Builder granted = ScriptedServer.granted(lastId(), 1, "a", 11).toBuilder();
    granted
        .getEventBuilder()
        .getGrantedBuilder()
        .addGrantsBuilder()
        .setName("b")
        .setFencingToken(12);
    server.send(granted.build());
    // When
    takeOver();
    // Then
    assertThat(asked).isCompleted();
    assertThat(server.wishes())
        .singleElement()
        .satisfies(r -> assertThat(r.getAcquire().getHeldTokensList()).containsExactly(12L, 11L));
  }

  @Test
  void timeThatWasWaitedIsNotWaitedAgain() {
    // Given
    CompletableFuture<LockHandle> asked =
        client.acquire(LockRequest.of(LOCK).waitAtMost(Duration.ofSeconds(60)));
    clock.settle();
    server.send(queued(lastId(), 1, 1));
    clock.advance(Duration.ofSeconds(20));
    // When
    takeOver();
    // Then
    assertThat(asked).isNotDone();
    assertThat(server.wishes().get(0).getAcquire().getWaitTimeout().getSeconds())
        .isBetween(39L, 40L);
  }

  @Test
  void sameGrantAgainChangesNothingAndIsToldAsResumedOnce() {
    // Given
    LockHandle held = hold(LOCK, 5);
    String id = lastId();
    takeOver();
    // When
    server.send(ScriptedServer.granted(id, 1, LOCK, 5));
    server.send(ScriptedServer.granted(id, 1, LOCK, 5));
    server.send(ScriptedServer.granted(id, 2, LOCK, 5));
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(heard.events()).containsExactly("granted", "resumed");
  }

  @Test
  void anotherGrantMeansThatTheFirstWasLostAndIsReleased() {
    // Given
    LockHandle held = hold(LOCK, 5);
    String id = lastId();
    takeOver();
    // When
    server.send(ScriptedServer.granted(id, 1, LOCK, 6));
    // Then
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events()).containsExactly("granted", "lost REMOVED");
    assertThat(server.wishes().get(1).getRelease().getRequestId()).isEqualTo(id);
    assertThat(server.wishes().get(1).getRelease().getFencingToken()).isZero();
  }

  @Test
  void placeInTheQueueDoesNotTakeAHoldAway() {
    // Given
    LockHandle held = hold(LOCK, 5);
    String id = lastId();
    takeOver();
    // When
    server.send(queued(id, 1, 1));
    boolean valid = held.isValid();
    server.send(ScriptedServer.granted(id, 2, LOCK, 5));
    // Then
    assertThat(valid).isTrue();
    assertThat(held.isValid()).isTrue();
    assertThat(heard.events()).containsExactly("granted", "resumed");
  }

  @Test
  void refusalOfWhatIsHeldMeansThatItWasLost() {
    // Given
    LockHandle held = hold(LOCK, 5);
    String id = lastId();
    takeOver();
    // When
    server.send(
        ScriptedServer.event(
            AcquireResponse.newBuilder().setNotAcquired(NotAcquired.getDefaultInstance()), id, 1));
    // Then
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events()).containsExactly("granted", "lost REMOVED");
  }

  @Test
  void lossIsToldWhateverItsNumber() {
    // Given
    LockHandle held = hold(LOCK, 5);
    String id = lastId();
    takeOver();
    // When
    server.send(
        ScriptedServer.event(
            AcquireResponse.newBuilder()
                .setLost(
                    Lost.newBuilder().setReason(io.lockkeeper.v1.LossReason.LOSS_REASON_REMOVED)),
            id,
            1));
    // Then
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events()).containsExactly("granted", "lost REMOVED");
  }

  @ParameterizedTest
  @EnumSource(names = {"UNAVAILABLE", "RESOURCE_EXHAUSTED"})
  void holdThatCannotBeConfirmedNowIsToldAgainLater(Status.Code code) {
    // Given
    LockHandle held = hold(LOCK, 5);
    String id = lastId();
    takeOver();
    // When
    server.send(ScriptedServer.after(MOMENT, ScriptedServer.refused(id, code)));
    clock.advance(MOMENT.minusMillis(1));
    int early = server.wishes().size();
    clock.advance(MOMENT);
    // Then
    assertThat(early).isEqualTo(1);
    assertThat(held.isValid()).isTrue();
    assertThat(server.wishes())
        .extracting(TakenOverTest::inWords)
        .containsExactly("acquire orders/42 [5]", "acquire orders/42 [5]");
    assertThat(heard.events()).containsExactly("granted");
  }

  @ParameterizedTest
  @EnumSource(names = {"FAILED_PRECONDITION", "INVALID_ARGUMENT", "UNAVAILABLE", "INTERNAL"})
  void holdThatIsRefusedWithoutADelayIsLostAndReleased(Status.Code code) {
    // Given
    LockHandle held = hold(LOCK, 5);
    String id = lastId();
    takeOver();
    // When
    server.send(ScriptedServer.refused(id, code));
    // Then
    assertThat(held.isValid()).isFalse();
    assertThat(server.wishes())
        .extracting(TakenOverTest::inWords)
        .containsExactly("acquire orders/42 [5]", "release 0");
  }

  @Test
  void releaseOfWhatTheServerDoesNotKnowIsDone() {
    // Given
    LockHandle held = hold(LOCK, 5);
    CompletableFuture<ReleaseResult> released = held.releaseForResult();
    clock.settle();
    String id = server.wishes().get(1).getRelease().getRequestId();
    takeOver();
    // When
    server.send(ScriptedServer.releaseRefused(id, Status.Code.NOT_FOUND));
    // Then
    assertThat(released)
        .isCompletedWithValue(new ReleaseResult(ReleaseResult.Outcome.ALREADY_RELEASED, 0));
  }

  @Test
  void releaseIsRepeatedUntilItIsAnswered() {
    // Given
    LockHandle held = hold(LOCK, 5);
    CompletableFuture<ReleaseResult> released = held.releaseForResult();
    clock.settle();
    String id = server.wishes().get(1).getRelease().getRequestId();
    takeOver();
    server.send(ScriptedServer.releaseRefused(id, Status.Code.UNAVAILABLE));
    clock.advance(MOMENT);
    boolean early = released.isDone();
    // When
    server.send(
        SessionResponse.newBuilder()
            .setReleased(
                SessionReleased.newBuilder()
                    .setRequestId(id)
                    .setResult(
                        ReleaseResponse.newBuilder()
                            .setOutcome(ReleaseOutcome.RELEASE_OUTCOME_RELEASED)))
            .build());
    // Then
    assertThat(early).isFalse();
    assertThat(server.wishes()).hasSize(2).allMatch(SessionRequest::hasRelease);
    assertThat(released).isCompletedWithValue(new ReleaseResult(ReleaseResult.Outcome.RELEASED, 0));
  }

  @Test
  void whatTheClientDoesNotKnowIsReleased() {
    // Given
    LockHandle held = hold(LOCK, 5);
    takeOver();
    // When
    server.send(queued("of another life", 1, 1));
    server.send(ScriptedServer.granted("of yet another", 1, "a", 9));
    server.send(
        ScriptedServer.event(
            AcquireResponse.newBuilder().setLost(Lost.getDefaultInstance()), "of a third", 1));
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(server.wishes().stream().filter(SessionRequest::hasRelease))
        .extracting(r -> r.getRelease().getRequestId())
        .containsExactly("of another life", "of yet another");
  }

  @Test
  void samePlaceIsNotToldAgainAndAnotherIs() {
    // Given
    CompletableFuture<LockHandle> asked = ask(LOCK);
    String id = lastId();
    server.send(queued(id, 1, 2));
    takeOver();
    // When
    server.send(queued(id, 1, 2));
    server.send(queued(id, 2, 1));
    // Then
    assertThat(asked).isNotDone();
    assertThat(heard.events()).containsExactly("queued 2 behind x", "queued 1 behind x");
  }

  @Test
  void grantIsTakenThoughTheNumbersBeganAnew() {
    // Given
    CompletableFuture<LockHandle> asked = ask(LOCK);
    String id = lastId();
    server.send(queued(id, 9, 2));
    takeOver();
    // When
    server.send(ScriptedServer.granted(id, 2, LOCK, 5));
    // Then
    assertThat(asked.join().fencingToken()).isEqualTo(5);
  }

  @Test
  void reorderedAndRepeatedEventsOfOneStreamAreIgnored() {
    // Given
    CompletableFuture<LockHandle> asked = ask(LOCK);
    String id = lastId();
    // When
    server.send(queued(id, 2, 1));
    server.send(queued(id, 1, 3));
    server.send(queued(id, 2, 2));
    // Then
    assertThat(asked).isNotDone();
    assertThat(heard.events()).containsExactly("queued 1 behind x");
  }

  @Test
  void acknowledgmentsOfKeepAlivesThatWentOverAnotherStreamCountForNothing() {
    // Given
    server.script(ScriptedServer::answerOpen);
    LockHandle held = hold(LOCK, 5);
    clock.advance(Duration.ofSeconds(6));
    long nonce =
        server.requests().stream()
            .filter(SessionRequest::hasKeepAlive)
            .findFirst()
            .orElseThrow()
            .getKeepAlive()
            .getNonce();
    server.end(Status.UNAVAILABLE);
    clock.settle();
    long until = held.validUntilNanos();
    clock.advance(Duration.ofMillis(100));
    // When
    server.send(ScriptedServer.keptAlive(nonce));
    // Then
    assertThat(held.validUntilNanos()).isEqualTo(until);
  }

  @Test
  void serverThatDoesNotKnowTheLeaseEndsIt() {
    // Given
    LockHandle held = hold(LOCK, 5);
    server.script((request, stream) -> stream.onError(Status.NOT_FOUND.asRuntimeException()));
    // When
    takeOver();
    // Then
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events()).containsExactly("granted", "lost LEASE_UNKNOWN");
  }

  @ParameterizedTest
  @EnumSource(
      names = {"NOT_FOUND", "FAILED_PRECONDITION", "OK"},
      mode = EnumSource.Mode.EXCLUDE)
  void whateverElseAServerSaysTheLeaseLivesUntilItsDeadline(Status.Code code) {
    // Given
    LockHandle held = hold(LOCK, 5);
    server.script((request, stream) -> stream.onError(code.toStatus().asRuntimeException()));
    takeOver();
    Duration left = held.remaining();
    // When
    clock.advance(left.minusMillis(1));
    boolean justBefore = held.isValid();
    clock.advance(Duration.ofMillis(1));
    // Then
    assertThat(justBefore).isTrue();
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events())
        .containsExactly("granted", "about to expire", "lost DEADLINE_PASSED");
  }
}
