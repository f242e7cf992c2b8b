package io.lockkeeper.conformance;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.conformance.ServedStream.Received;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.GoingAwayReason;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.Position;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.SessionRequest;
import java.util.List;
import java.util.Optional;

/** A stream breaks, or a server is gone: what a client does to keep its lease. */
final class ResumeScenarios {

  private ResumeScenarios() {}

  @Sentence("An error other than those below says nothing about the lease")
  static void brokenStreamCostsNoLock(Stage stage) {
    for (Code code : List.of(Code.UNAVAILABLE, Code.INTERNAL, Code.UNKNOWN)) {
      costsNoLock(
          stage, code.toStatus().withDescription("as the script says").asRuntimeException());
    }
  }

  @Sentence("An error other than those below says nothing about the lease")
  static void refusedStreamCostsNoLock(Stage stage) {
    costsNoLock(stage, Statuses.of(Code.RESOURCE_EXHAUSTED, "SLOW_CONSUMER", 300));
    costsNoLock(stage, Statuses.of(Code.ABORTED, "SUPERSEDED"));
    costsNoLock(stage, Code.UNIMPLEMENTED.toStatus().asRuntimeException());
  }

  private static void costsNoLock(Stage stage, StatusRuntimeException end) {
    try (Stage own = stage.another()) {
      Held held = own.held(Terms.CALM);
      held.stream().fail(end);
      own.settle();
      own.mustHold("a");
      ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM);
      next.resumed(next.awaitResume(held.open()), Terms.CALM);
      next.granted(next.awaitAcquire("a"), 7);
      own.settle();
      own.mustHold("a");
    }
  }

  @Sentence("Half-closing or losing the stream keeps the lease until its TTL has passed")
  static void streamThatEndsWithOkIsResumed(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().end();
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.awaitAcquire("a");
  }

  @Sentence(
      "the fencing tokens of this request's grant, one per lock, in the order of locks; empty if it was still waiting.")
  static void tokensOfAHoldAreRepeatedInTheOrderOfItsLocks(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("x", "y", "z");
    held.stream().granted(held.stream().awaitAcquire("x"), 40);
    stage.expectGranted("x", 40, 41, 42);
    stage.acquire("w");
    held.stream().queued(held.stream().awaitAcquire("w"));
    stage.settle();
    held.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    mustRepeat(next.awaitAcquire("a"), held.request(), List.of(7L));
    AcquireRequest several = next.awaitAcquire("x");
    Unmet.unless(
        several.getHeldTokensList().equals(List.of(40L, 41L, 42L)),
        "held_tokens of x, y, z are " + several.getHeldTokensList());
    AcquireRequest waiting = next.awaitAcquire("w");
    Unmet.unless(waiting.getHeldTokensCount() == 0, "a request that waits repeats tokens");
  }

  @Sentence(
      "A request with tokens is never queued again: it is granted with exactly these tokens, or lost.")
  static void tokensBeyondADoubleAreRepeatedBitByBit(Stage stage) {
    long token = (1L << 53) + 1;
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    held.stream().granted(held.stream().awaitAcquire("b"), token);
    stage.expectGranted("b", token);
    held.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    List<Long> repeated = next.awaitAcquire("b").getHeldTokensList();
    Unmet.unless(repeated.equals(List.of(token)), "held_tokens of " + token + ": " + repeated);
  }

  @Sentence("it is granted with exactly these tokens, or lost.")
  static void grantWithOtherTokensIsNotTheHold(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.granted(next.awaitAcquire("a"), 9);
    stage.expect("a", "lost");
    stage.mustNotHold("a");
    next.awaitRelease(held.request()); // Nobody would, else.
    next.released(held.request(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    stage.settle();
    stage.mustNotHold("a");
  }

  @Sentence(
      "Sending the same request again (same lease and request_id) resumes its events, at its place in the queue or with its grant.")
  static void waitingRequestIsRepeatedAndGranted(Stage stage) {
    Held asks = stage.asks(Terms.CALM, 0, stage.server());
    asks.stream().queued(asks.request());
    stage.settle();
    asks.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = asks.server().stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(asks.open()), Terms.CALM);
    AcquireRequest again = next.awaitAcquire("a");
    mustRepeat(again, asks.request(), List.of());
    next.granted(again, 9);
    stage.expectGranted("a", 9);
    stage.mustHold("a");
  }

  @Sentence(
      "In a repeated request: the time that is left, because after a takeover the coordinator does not know it.")
  static void repeatedRequestWaitsForWhatIsLeft(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquireWithin("a", 60_000);
    ServedStream stream = server.stream().answersKeepAlives(Terms.CALM);
    Received open = stream.awaitOpen();
    stream.opened(open, Terms.CALM);
    stream.queued(stream.awaitAcquire("a"));
    stage.pause(1_500);
    stream.fail(Code.UNAVAILABLE, "gone");
    ServedStream next = server.stream().answersKeepAlives(Terms.CALM);
    next.resumed(next.awaitResume(open), Terms.CALM);
    long left = Terms.toMillis(next.awaitAcquire("a").getWaitTimeout());
    Unmet.unless(
        left > 0 && left <= 58_600, "of 60 s, more than 1.5 s ago, it says are left: " + left);
  }

  @Sentence(
      "A request with tokens is never queued again: it is granted with exactly these tokens, or lost.")
  static void lossThatIsToldAfterTheResumeIsTaken(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    held.stream().granted(held.stream().awaitAcquire("b"), 8);
    stage.expectGranted("b", 8);
    held.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.lost(held.request(), LossReason.LOSS_REASON_SESSION_LOST);
    next.granted(next.awaitAcquire("b"), 8);
    stage.expect("a", "lost");
    stage.mustNotHold("a");
    stage.mustHold("b");
  }

  @Sentence("NOT_FOUND (the lease to resume is unknown or has ended, and its locks are lost)")
  static void unknownLeaseIsTheLossOfEverything(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("w");
    held.stream().queued(held.stream().awaitAcquire("w"));
    held.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = held.server().stream();
    next.awaitResume(held.open());
    next.fail(Statuses.of(Code.NOT_FOUND, "UNKNOWN_LEASE"));
    stage.expect("a", "lost");
    stage.mustNotHold("a");
    stage.expect("w", "not_acquired");
  }

  @Sentence("FAILED_PRECONDITION: the secret does not match the lease. Do not resume again.")
  static void wrongSecretIsNotTriedAgain(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = held.server().stream();
    Received resume = next.awaitResume(held.open());
    next.fail(Statuses.of(Code.FAILED_PRECONDITION, "WRONG_SECRET"));
    stage.expect("a", "lost");
    stage.mustNotHold("a");
    mustNotBeOpenedAgain(stage, held.server(), resume);
  }

  @Sentence("The lease has ended; the stream ends after this.")
  static void endOfTheLeaseIsTheLossOfEverything(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("w");
    held.stream().queued(held.stream().awaitAcquire("w"));
    held.stream().leaseEnded(LeaseEndReason.LEASE_END_REASON_EXPIRED);
    held.stream().end();
    stage.expect("a", "lost");
    stage.mustNotHold("a");
    stage.expect("w", "not_acquired");
    mustNotBeOpenedAgain(stage, held.server(), held.open());
  }

  @Sentence("the lease that was opened with this secret has ended: choose another secret.")
  static void secretOfALeaseThatHasEndedIsNotUsedAgain(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    ServedStream stream = server.stream();
    String used = stream.awaitOpen().request().getOpen().getLeaseSecret();
    stream.fail(Statuses.of(Code.FAILED_PRECONDITION, "SECRET_USED"));
    // The request may go on under another lease, or be over: then the next one opens that lease.
    ServedStream next =
        stage
            .streamOr("not_acquired", "a", server)
            .orElseGet(
                () -> {
                  stage.acquire("b");
                  return server.stream();
                });
    OpenSession open = next.awaitOpen().request().getOpen();
    Unmet.unless(open.getLeaseId().isEmpty(), "it resumes what was never opened: " + open);
    Unmet.unless(
        !open.getLeaseSecret().equals(used), "the secret of a lease that has ended is used again");
  }

  @Sentence(
      "The secret that resumes a session of the lease, chosen by the client: 32 to 256 printable ASCII characters from a cryptographic random source, for one lease only.")
  static void nextLockIsTakenUnderAnotherLease(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().leaseEnded(LeaseEndReason.LEASE_END_REASON_FORCED);
    held.stream().end();
    stage.expect("a", "lost");
    stage.acquire("b");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM);
    Received open = next.awaitOpen();
    OpenSession asked = open.request().getOpen();
    OpenSession ended = held.open().request().getOpen();
    Unmet.unless(asked.getLeaseId().isEmpty(), "the client resumes a lease: " + asked);
    Unmet.unless(
        !asked.getLeaseSecret().equals(ended.getLeaseSecret()),
        "the client opens the lease that has ended once more");
    // A new lease has an epoch of its own, which may be lower than the other one's.
    next.opened(open, Terms.CALM);
    next.granted(next.awaitAcquire("b"), 3);
    stage.expectGranted("b", 3);
  }

  @Sentence(
      "so that a client whose response was lost can repeat the request without leaking a lease.")
  static void openWhoseAnswerWasLostIsRepeated(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    ServedStream stream = server.stream();
    OpenSession first = stream.awaitOpen().request().getOpen();
    stream.fail(Code.UNAVAILABLE, "gone before it answered");
    ServedStream next = server.stream().answersKeepAlives(Terms.CALM);
    Received open = next.awaitOpen();
    OpenSession second = open.request().getOpen();
    Unmet.unless(second.getLeaseId().isEmpty(), "it resumes what was never opened: " + second);
    String secret = first.getLeaseSecret();
    Unmet.unless(
        second.getLeaseSecret().equals(secret),
        "the repeated open has another secret: a lease that nobody knows may be left");
    Unmet.unless(
        secret.matches("[\\x20-\\x7e]{32,256}"),
        "the client chooses no secret that will do, but sends \"" + secret + "\"");
    next.opened(open, Terms.CALM);
    next.granted(next.awaitAcquire("a"), 7);
    stage.expectGranted("a", 7);
  }

  @Sentence("open a new stream at any server and resume with the lease_id and lease_secret.")
  static void leaseIsResumedAtAnotherServer(Stage stage) {
    ScriptedServer second = stage.server();
    Held held = stage.heldAtFirst(Terms.CALM, stage.server(), second);
    held.server().close();
    ServedStream next = second.stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    AcquireRequest again = next.awaitAcquire("a");
    mustRepeat(again, held.request(), List.of(7L));
    next.granted(again, 7);
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence("Opens a lease or resumes one, at any server.")
  static void serverThatRefusesConnectionsIsPassedOver(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(List.of(stage.deadAddress(), server.address()));
    grantAt(server, stage);
  }

  @Sentence("The same request with the same secret, at any server, returns the same lease.")
  static void serverThatIsSilentIsPassedOver(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(List.of(stage.silentAddress(), server.address()));
    grantAt(server, stage);
  }

  @Sentence(
      "If the stream breaks, or a keep-alive has no answer for two intervals, open a new stream at any server and resume with the lease_id and lease_secret.")
  static void streamThatFallsSilentIsLeftInTime(Stage stage) {
    ScriptedServer second = stage.server();
    Held held = stage.heldAtFirst(Terms.QUARTER, stage.server(), second);
    held.stream().isSilent();
    mustComeInTime(stage, held, second.stream());
  }

  @Sentence(
      "If the stream breaks, or a keep-alive has no answer for two intervals, open a new stream at any server and resume with the lease_id and lease_secret.")
  static void streamThatOnlyAnswersNoKeepAliveIsLeftInTime(Stage stage) {
    ScriptedServer second = stage.server();
    Held held = stage.heldAtFirst(Terms.QUARTER, stage.server(), second);
    held.stream().isSilent();
    AcquireResponse.Builder position =
        AcquireResponse.newBuilder().setPosition(Position.getDefaultInstance());
    Optional<ServedStream> next = Optional.empty();
    while (next.isEmpty()) {
      Unmet.unless(
          held.open().plusMillis(Terms.QUARTER.validForMillis()) - System.nanoTime() > 0,
          "the client stays with a server that answers no keep-alive, until its lease is over");
      held.stream().event(held.request(), position.clone());
      stage.pause(300);
      next = second.streamIfThere();
    }
    mustComeInTime(stage, held, next.get());
  }

  /** The lease is resumed there before its deadline, and outlives that. */
  private static void mustComeInTime(Stage stage, Held held, ServedStream next) {
    long deadlineNanos = held.open().plusMillis(Terms.QUARTER.validForMillis());
    Received resume = next.awaitResume(held.open());
    Unmet.unless(deadlineNanos - resume.atNanos() > 0, "it resumes when its lease is over");
    next.answersKeepAlives(Terms.CALM).resumed(resume, Terms.CALM);
    next.granted(next.awaitAcquire("a"), 7);
    stage.pauseUntil(deadlineNanos + 1_000_000_000L);
    stage.mustHold("a");
  }

  @Sentence(
      "reads only the stream that it opened last, and ignores every epoch below the highest that it has seen")
  static void streamThatWasLeftIsNotHeard(Stage stage) {
    ScriptedServer second = stage.server();
    Held held = stage.heldAtFirst(Terms.CALM, stage.server(), second);
    held.stream().goingAway(GoingAwayReason.GOING_AWAY_REASON_DRAINING, 0);
    ServedStream next = second.stream().answersKeepAlives(Terms.CALM);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.granted(next.awaitAcquire("a"), 7);
    held.stream().epoch(9).lost(held.request(), LossReason.LOSS_REASON_REMOVED);
    stage.settle();
    stage.mustHold("a");
    held.stream().awaitEndByClient();
  }

  @Sentence(
      "Cancel the old stream before the new one is opened, or half-close it, and hear and send no more on it.")
  static void nothingIsSentOnTheStreamThatWasLeft(Stage stage) {
    ScriptedServer second = stage.server();
    Held held = stage.heldAtFirst(Terms.CALM, stage.server(), second);
    held.stream().goingAway(GoingAwayReason.GOING_AWAY_REASON_DRAINING, 0);
    ServedStream next = second.stream().answersKeepAlives(Terms.CALM);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.granted(next.awaitAcquire("a"), 7);
    stage.settle(); // What was on its way has arrived.
    int before = held.stream().requests();
    stage.acquire("b");
    next.granted(next.awaitAcquire("b"), 8);
    stage.expectGranted("b", 8);
    stage.pause(2 * Terms.CALM.intervalMillis() + 1_000); // Two keep-alives are due.
    int more = held.stream().requests() - before;
    Unmet.unless(more == 0, more + " requests on a stream that has been left");
    Unmet.unless(
        second.furtherStreams().isEmpty() && held.server().furtherStreams().isEmpty(),
        "the client has more than one stream open");
    stage.mustHold("a");
  }

  @Sentence("repeats all its holds before releasing one of them")
  static void holdsAreRepeatedBeforeOneIsReleased(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    held.stream().granted(held.stream().awaitAcquire("b"), 8);
    stage.expectGranted("b", 8);
    held.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM);
    Received resume = next.awaitResume(held.open());
    stage.release("a");
    stage.settle();
    next.resumed(resume, Terms.CALM);
    SessionRequest first =
        next.await("the hold b or the release of a", ResumeScenarios::isBOrRelease).request();
    Unmet.unless(first.hasAcquire(), "a is released before b has been repeated");
    next.awaitRelease(held.request());
  }

  private static boolean isBOrRelease(SessionRequest request) {
    return request.hasRelease()
        || (request.hasAcquire() && request.getAcquire().getLocks(0).getName().equals("b"));
  }

  private static void grantAt(ScriptedServer server, Stage stage) {
    stage.acquire("a");
    ServedStream stream = server.stream().answersKeepAlives(Terms.CALM);
    stream.opened(stream.awaitOpen(), Terms.CALM);
    stream.granted(stream.awaitAcquire("a"), 7);
    stage.expectGranted("a", 7);
  }

  static void mustRepeat(AcquireRequest again, AcquireRequest first, List<Long> tokens) {
    Unmet.unless(
        again.getRequestId().equals(first.getRequestId()),
        "request " + first.getRequestId() + " is repeated as " + again.getRequestId());
    Unmet.unless(
        again.getHeldTokensList().equals(tokens),
        "held_tokens are " + again.getHeldTokensList() + ", not " + tokens);
  }

  /** For three seconds, the client opens that lease no more. */
  static void mustNotBeOpenedAgain(Stage stage, ScriptedServer server, Received lease) {
    stage.pause(3_000);
    String id = ServedStream.leaseId(lease.request().getOpen());
    for (ServedStream stream : server.furtherStreams()) {
      OpenSession open = stream.awaitOpen().request().getOpen();
      boolean isNew = open.getLeaseId().isEmpty() && open.getLeaseSecret().isEmpty();
      Unmet.unless(
          isNew || !ServedStream.leaseId(open).equals(id),
          "the client opens the lease again: " + open);
    }
  }
}
