package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.GoingAwayReason;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which server's word counts, how a lease is opened, and how often it is renewed. */
@Timeout(60)
class EpochTest {

  private static final String LOCK = "orders/42";
  private static final Duration MOMENT = Duration.ofSeconds(1);

  private final Recording heard = new Recording();
  @AutoClose private final ScriptedClient scripted = new ScriptedClient();
  private final ManualClock clock = scripted.clock;
  private final ScriptedServer server = scripted.server;
  private final LockkeeperClient client = scripted.client;

  private LockHandle hold() {
    server.script(ScriptedServer::keepAlive);
    CompletableFuture<LockHandle> asked = ask();
    server.send(ScriptedServer.granted(id(), 3, LOCK, 5));
    return asked.join();
  }

  private CompletableFuture<LockHandle> ask() {
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of(LOCK).listener(heard));
    clock.settle();
    return asked;
  }

  private String id() {
    return server.wishes().get(0).getAcquire().getRequestId();
  }

  private void takeOver() {
    server.takeOver();
    server.end(Status.UNAVAILABLE);
    clock.advance(MOMENT);
  }

  private static SessionResponse ofEpoch(long epoch, SessionResponse response) {
    SessionResponse.Builder stamped = response.toBuilder().setEpoch(epoch);
    if (response.hasEvent()) {
      stamped.getEventBuilder().setEpoch(epoch);
    }
    return stamped.build();
  }

  @Test
  void whateverAServerSaysThatWasReplacedIsVoid() {
    // Given
    LockHandle held = hold();
    String id = id();
    takeOver();
    server.script(ScriptedServer::answerOpen);
    clock.advance(Duration.ofSeconds(5));
    long until = held.validUntilNanos();
    SessionRequest unanswered = server.requests().get(server.requests().size() - 1);
    assertThat(unanswered.hasKeepAlive()).isTrue();
    long nonce = unanswered.getKeepAlive().getNonce();
    SessionResponse.Builder ended = SessionResponse.newBuilder();
    ended.setLeaseEnded(LeaseEnded.getDefaultInstance());
    // When
    server.send(ofEpoch(1, ScriptedServer.lost(id, 99)));
    server.send(ofEpoch(1, ended.build()));
    server.send(ofEpoch(1, ScriptedServer.keptAlive(nonce)));
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(held.validUntilNanos()).isEqualTo(until);
    assertThat(heard.events()).containsExactly("granted");
  }

  @Test
  void openingByAServerThatWasReplacedDoesNotCount() {
    // Given
    LockHandle held = hold();
    takeOver();
    List<OpenSession> opens = new ArrayList<>();
    server.script(
        (request, stream) -> {
          if (request.hasOpen()) {
            opens.add(request.getOpen());
          }
          ScriptedServer.keepAlive(
              request,
              new Relay(stream, response -> opens.size() == 1 ? ofEpoch(1, response) : response));
        });
    // When
    server.end(Status.UNAVAILABLE);
    clock.advance(Duration.ofSeconds(3));
    // Then
    assertThat(opens).hasSizeGreaterThan(1);
    assertThat(server.wishes()).singleElement().matches(SessionRequest::hasAcquire);
    assertThat(held.isValid()).isTrue();
  }

  @Test
  void numbersBeginAnewInAHigherEpochOnly() {
    // Given
    LockHandle held = hold();
    String id = id();
    server.end(Status.UNAVAILABLE);
    clock.advance(MOMENT);
    // When
    server.send(ScriptedServer.lost(id, 2));
    boolean afterARepetition = held.isValid();
    server.takeOver();
    server.send(ScriptedServer.lost(id, 1));
    // Then
    assertThat(afterARepetition).isTrue();
    assertThat(held.isValid()).isFalse();
  }

  @Test
  void grantThatTheSameServerTellsOnceMoreConfirmsTheHold() {
    // Given
    LockHandle held = hold();
    String id = id();
    server.end(Status.UNAVAILABLE);
    clock.advance(MOMENT);
    // When
    server.send(ScriptedServer.granted(id, 3, LOCK, 5));
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(heard.events()).containsExactly("granted", "resumed");
  }

  @Test
  void whoeverIsSupersededHasLostTheLeaseAndOpensAnother() {
    // Given
    LockHandle held = hold();
    String secret = server.requests().get(0).getOpen().getLeaseSecret();
    // When
    server.send(ScriptedServer.goingAway(GoingAwayReason.GOING_AWAY_REASON_SUPERSEDED));
    boolean valid = held.isValid();
    CompletableFuture<LockHandle> again = ask();
    clock.advance(MOMENT);
    // Then
    assertThat(valid).isFalse();
    assertThat(heard.events()).containsExactly("granted", "lost SUPERSEDED");
    assertThat(server.requests().get(0).getOpen().getLeaseId()).isEmpty();
    assertThat(server.requests().get(0).getOpen().getLeaseSecret()).isNotEqualTo(secret);
    assertThat(again).isNotDone();
  }

  @Test
  void attemptOfItsOwnThatCameLateDoesNotCostTheLease() {
    // Given
    LockHandle held = hold();
    server.script((request, stream) -> {});
    server.end(Status.UNAVAILABLE);
    clock.advance(MOMENT);
    server.script(ScriptedServer::keepAlive);
    clock.advance(Duration.ofSeconds(5));
    int streams = server.streamCount();
    // When
    server.send(ScriptedServer.goingAway(GoingAwayReason.GOING_AWAY_REASON_SUPERSEDED));
    clock.advance(Duration.ofSeconds(3));
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(server.streamCount()).isGreaterThan(streams);
    assertThat(server.requests().get(0).getOpen().getLeaseId()).isNotEmpty();
  }

  /** An attempt to resume is given up, and the next one is answered. */
  private void giveOneAttemptUp() {
    server.script((request, stream) -> {});
    server.end(Status.UNAVAILABLE);
    clock.advance(MOMENT);
    server.script(ScriptedServer::keepAlive);
    clock.advance(Duration.ofSeconds(5));
  }

  @Test
  void attemptThatCameLateExplainsOneTakeoverAndNoMore() {
    // Given
    LockHandle held = hold();
    giveOneAttemptUp();
    server.send(ScriptedServer.goingAway(GoingAwayReason.GOING_AWAY_REASON_SUPERSEDED));
    clock.advance(Duration.ofSeconds(3));
    boolean afterTheFirst = held.isValid();
    // When
    server.send(ScriptedServer.goingAway(GoingAwayReason.GOING_AWAY_REASON_SUPERSEDED));
    // Then
    assertThat(afterTheFirst).isTrue();
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events()).endsWith("lost SUPERSEDED");
  }

  @Test
  void attemptOfLongAgoExplainsNoTakeover() {
    // Given
    LockHandle held = hold();
    giveOneAttemptUp();
    clock.advance(Duration.ofSeconds(30));
    boolean before = held.isValid();
    // When
    server.send(ScriptedServer.goingAway(GoingAwayReason.GOING_AWAY_REASON_SUPERSEDED));
    // Then
    assertThat(before).isTrue();
    assertThat(held.isValid()).isFalse();
    assertThat(heard.events()).endsWith("lost SUPERSEDED");
  }

  @Test
  void attemptOfALeaseThatIsOverExplainsNoTakeoverOfTheNext() {
    // Given
    LockHandle before = hold();
    giveOneAttemptUp();
    SessionResponse.Builder ended = SessionResponse.newBuilder();
    ended.setLeaseEnded(LeaseEnded.getDefaultInstance());
    server.send(ended.build());
    CompletableFuture<LockHandle> asked = ask();
    clock.advance(MOMENT);
    server.send(ScriptedServer.granted(id(), 1, LOCK, 6));
    // When
    server.send(ScriptedServer.goingAway(GoingAwayReason.GOING_AWAY_REASON_SUPERSEDED));
    // Then
    assertThat(before.isValid()).isFalse();
    assertThat(asked.join().isValid()).isFalse();
    assertThat(heard.events()).endsWith("lost SUPERSEDED");
  }

  @Test
  void streamIsLeftAfterTwoIntervalsOfThePromiseThoughTheLeaseLivesMuchLonger() {
    // Given: an interval of a second; a sixth of the time to live would be 2.5 s
    LockHandle held = hold();
    server.script(
        (request, stream) ->
            ScriptedServer.keepAlive(
                request, new Relay(stream, response -> withInterval(response, 1))));
    clock.advance(Duration.ofSeconds(6));
    server.script(ScriptedServer::answerOpen);
    // When
    clock.advance(Duration.ofMillis(2_999));
    int before = server.streamCount();
    clock.advance(Duration.ofMillis(2));
    // Then
    assertThat(before).isEqualTo(1);
    assertThat(server.streamCount()).isEqualTo(2);
    assertThat(held.isValid()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(
      names = {"GOING_AWAY_REASON_SUPERSEDED", "UNRECOGNIZED"},
      mode = EnumSource.Mode.EXCLUDE)
  void afterAnyOtherGoodbyeTheLeaseIsResumed(GoingAwayReason reason) {
    // Given
    LockHandle held = hold();
    OpenSession opened = server.requests().get(0).getOpen();
    // When
    server.send(ScriptedServer.goingAway(reason));
    clock.advance(MOMENT);
    // Then
    OpenSession resumed = server.requests().get(0).getOpen();
    assertThat(held.isValid()).isTrue();
    assertThat(server.streamCount()).isEqualTo(2);
    assertThat(opened.getLeaseId()).isEmpty();
    assertThat(resumed.getLeaseSecret()).isEqualTo(opened.getLeaseSecret());
    assertThat(resumed.getLeaseId()).isEqualTo(ScriptedServer.LEASE);
  }

  @Test
  void openingWhoseAnswerWasLostIsRepeatedAsItWas() {
    // Given
    List<OpenSession> opens = new ArrayList<>();
    server.script(
        (request, stream) -> {
          opens.add(request.getOpen());
          stream.onError(Status.UNAVAILABLE.asRuntimeException());
        });
    CompletableFuture<LockHandle> asked = ask();
    clock.advance(MOMENT);
    // When
    server.script(ScriptedServer::keepAlive);
    clock.advance(Duration.ofSeconds(3));
    // Then
    opens.add(server.requests().get(0).getOpen());
    assertThat(opens).hasSizeGreaterThan(2).containsOnly(opens.get(0));
    assertThat(opens.get(0).getLeaseId()).isEmpty();
    assertThat(opens.get(0).getLeaseSecret()).matches("[0-9a-f]{32}");
    assertThat(asked).isNotDone();
  }

  @Test
  void secretThatIsUsedUpIsReplaced() {
    // Given
    List<String> secrets = new ArrayList<>();
    server.script(
        (request, stream) -> {
          secrets.add(request.getOpen().getLeaseSecret());
          stream.onError(
              StatusProto.toStatusRuntimeException(
                  com.google.rpc.Status.newBuilder()
                      .setCode(Status.Code.FAILED_PRECONDITION.value())
                      .addDetails(
                          Any.pack(
                              ErrorInfo.newBuilder()
                                  .setDomain("lockkeeper.io")
                                  .setReason("SECRET_USED")
                                  .build()))
                      .build()));
        });
    CompletableFuture<LockHandle> asked = ask();
    // When
    server.script(ScriptedServer::keepAlive);
    clock.advance(Duration.ofSeconds(3));
    // Then
    secrets.add(server.requests().get(0).getOpen().getLeaseSecret());
    assertThat(secrets).hasSize(2).doesNotHaveDuplicates();
    assertThat(asked).isNotDone();
  }

  @Test
  void secretThatIsRefusedIsReplacedThoughTheDetailsWereLostAndNotForEver() {
    // Given: whatever stands between has stripped the details
    List<String> secrets = new ArrayList<>();
    server.script(
        (request, stream) -> {
          secrets.add(request.getOpen().getLeaseSecret());
          stream.onError(Status.FAILED_PRECONDITION.asRuntimeException());
        });
    CompletableFuture<LockHandle> asked = ask();
    // When
    clock.advance(Duration.ofSeconds(14));
    boolean early = asked.isDone();
    clock.advance(Duration.ofSeconds(2));
    // Then
    assertThat(secrets).hasSizeBetween(5, 30).doesNotHaveDuplicates();
    assertThat(early).isFalse();
    assertThat(asked)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(ServerUnavailableException.class);
  }

  @Test
  void epochThatWasSeenOfASecretIsForgottenWithIt() {
    // Given: what may have been said of a lease that an opening without an answer has made
    List<OpenSession> opens = new ArrayList<>();
    server.script(
        (request, stream) -> {
          if (request.hasOpen()) {
            opens.add(request.getOpen());
          }
          switch (opens.size()) {
            case 1 -> stream.onNext(ofEpoch(9, ScriptedServer.keptAlive(1)));
            case 2 -> stream.onError(Status.FAILED_PRECONDITION.asRuntimeException());
            default -> ScriptedServer.keepAlive(request, stream);
          }
        });
    CompletableFuture<LockHandle> asked = ask();
    // When
    clock.advance(MOMENT);
    // Then
    assertThat(opens).hasSize(3);
    assertThat(server.wishes()).singleElement().matches(SessionRequest::hasAcquire);
    assertThat(asked).isNotDone();
  }

  @Test
  void serverThatWantsToBeLeftAloneIsLeftAloneAsLongAsTheLeaseAllows() {
    // Given
    LockHandle held = hold();
    server.script(ScriptedServer::keepAlive);
    // When
    server.end(ScriptedServer.busyFor(Duration.ofSeconds(4)));
    clock.advance(Duration.ofMillis(3_999));
    int early = server.streamCount();
    clock.advance(Duration.ofMillis(1_002));
    // Then
    assertThat(early).isEqualTo(1);
    assertThat(server.streamCount()).isEqualTo(2);
    assertThat(held.isValid()).isTrue();
  }

  @Test
  void keepAlivesAreSentAsOftenAsTheServerAsksCountedFromTheSending() {
    // Given
    server.script(
        (request, stream) ->
            ScriptedServer.keepAlive(
                request, new Relay(stream, response -> withInterval(response, 2))));
    CompletableFuture<LockHandle> asked = ask();
    // When
    clock.advance(Duration.ofMillis(1_999));
    long early = keepAlives();
    clock.advance(Duration.ofMillis(1));
    long due = keepAlives();
    clock.advance(Duration.ofSeconds(6));
    // Then
    assertThat(asked).isNotDone();
    assertThat(early).isZero();
    assertThat(due).isEqualTo(1);
    assertThat(keepAlives()).isEqualTo(4);
  }

  private long keepAlives() {
    return server.requests().stream().filter(SessionRequest::hasKeepAlive).count();
  }

  private static SessionResponse withInterval(SessionResponse response, long seconds) {
    SessionResponse.Builder changed = response.toBuilder();
    if (response.hasOpened()) {
      changed.getOpenedBuilder().getKeepAliveIntervalBuilder().setSeconds(seconds);
    } else if (response.hasKeptAlive()) {
      changed.getKeptAliveBuilder().getKeepAliveIntervalBuilder().setSeconds(seconds);
    }
    return changed.build();
  }
}
