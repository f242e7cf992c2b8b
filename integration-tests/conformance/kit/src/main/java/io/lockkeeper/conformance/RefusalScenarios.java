package io.lockkeeper.conformance;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.ErrorReason;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseOutcome;
import java.util.List;

/** What a client does when the server refuses a request of its stream. */
final class RefusalScenarios {

  private RefusalScenarios() {}

  @Sentence("An acquire: its request_id. Nothing is queued, and no event follows.")
  static void acquireOfAnotherKindIsOver(Stage stage) {
    refusedForGood(
        stage,
        ServedStream.refusal(ErrorReason.ERROR_REASON_WRONG_KIND, Code.FAILED_PRECONDITION, -1));
  }

  @Sentence(
      "INVALID_ARGUMENT: a field is malformed or out of range; google.rpc.BadRequest and Refused.field name it.")
  static void malformedAcquireIsOver(Stage stage) {
    refusedForGood(
        stage,
        ServedStream.refusal(ErrorReason.ERROR_REASON_INVALID_FIELD, Code.INVALID_ARGUMENT, -1)
            .setField("locks[0].name"));
  }

  @Sentence("RESOURCE_EXHAUSTED: the lock's queue is full.")
  static void fullQueueWithoutADelayIsOver(Stage stage) {
    refusedForGood(
        stage,
        ServedStream.refusal(ErrorReason.ERROR_REASON_QUEUE_FULL, Code.RESOURCE_EXHAUSTED, -1));
  }

  @Sentence("an error is handled by its status code.")
  static void unknownReasonIsTakenByItsCode(Stage stage) {
    refusedForGood(
        stage,
        ServedStream.refusal(ErrorReason.ERROR_REASON_UNSPECIFIED, Code.FAILED_PRECONDITION, -1)
            .setReasonValue(4_711));
  }

  @Sentence("When to retry. Unset: the same request would be rejected again.")
  static void acquireIsSentAgainAfterTheDelay(Stage stage) {
    refusedForNow(
        stage, ServedStream.refusal(ErrorReason.ERROR_REASON_NO_ZOOKEEPER, Code.UNAVAILABLE, 800));
  }

  @Sentence("When to retry. Unset: the same request would be rejected again.")
  static void unknownReasonWithADelayIsSentAgain(Stage stage) {
    refusedForNow(
        stage,
        ServedStream.refusal(ErrorReason.ERROR_REASON_UNSPECIFIED, Code.UNAVAILABLE, 800)
            .setReasonValue(4_711));
  }

  @Sentence("When to retry. Unset: the same request would be rejected again.")
  static void fullQueueIsNotAskedAgainBeforeTheDelay(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    AcquireRequest request = held.stream().awaitAcquire("b");
    long refusedNanos = System.nanoTime();
    held.stream()
        .refused(
            ServedStream.refusal(ErrorReason.ERROR_REASON_QUEUE_FULL, Code.RESOURCE_EXHAUSTED, 800)
                .setAcquire(request.getRequestId()));
    // A queue is mostly full for longer than that: the client may tell its caller instead.
    while (!held.stream().hasAcquire(request)) {
      long waitedMillis = (System.nanoTime() - refusedNanos) / 1_000_000;
      Unmet.unless(waitedMillis < 20_000, "neither another acquire nor not_acquired in 20 s");
      if (stage.client().hasReported("not_acquired", "b")) {
        return;
      }
      stage.pause(20);
    }
    long afterMillis = (System.nanoTime() - refusedNanos) / 1_000_000;
    Unmet.unless(
        afterMillis >= 700, "told to wait 800 ms, it came back after " + afterMillis + " ms");
    held.stream().granted(request, 8);
    stage.expectGranted("b", 8);
  }

  @Sentence("An acquire: its request_id. Nothing is queued, and no event follows.")
  static void requestThatIsRefusedAgainAndAgainEndsAtItsLimit(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().answersAcquiresBy(request -> held.stream().refused(forNow(request, 300)));
    stage.acquireWithin("b", 3_000);
    stage.expect("b", "not_acquired"); // Nobody else counts the limit of what is not queued.
    stage.mustNotHold("b");
    stage.mustHold("a");
  }

  @Sentence("An acquire: its request_id. Nothing is queued, and no event follows.")
  static void acquireRefusedAfterTheWithdrawalIsNotRepeated(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("w");
    AcquireRequest request = held.stream().awaitAcquire("w");
    stage.release("w");
    held.stream().awaitRelease(request);
    held.stream().refused(forNow(request, 500));
    stage.pause(3_000);
    Unmet.unless(!held.stream().hasAcquire(request), "what was withdrawn is asked for again");
    held.stream().released(request, ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED);
    stage.expect("w", "not_acquired", "released");
    stage.mustHold("a");
  }

  @Sentence("Releases an acquisition, or withdraws it if it is still waiting.")
  static void withdrawalStopsTheRetry(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("w");
    AcquireRequest request = held.stream().awaitAcquire("w");
    held.stream().refused(forNow(request, 3_000));
    stage.settle();
    stage.release("w");
    stage.pause(5_000);
    Unmet.unless(!held.stream().hasAcquire(request), "what was withdrawn is asked for again");
    if (held.stream().hasRelease(request)) { // It may know that nothing is queued.
      held.stream().released(request, ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED);
    }
    stage.expect("w", "not_acquired", "released");
    stage.mustHold("a");
  }

  private static Refused.Builder forNow(AcquireRequest request, long retryAfterMillis) {
    return ServedStream.refusal(
            ErrorReason.ERROR_REASON_NO_ZOOKEEPER, Code.UNAVAILABLE, retryAfterMillis)
        .setAcquire(request.getRequestId());
  }

  @Sentence("When to retry. Unset: the same request would be rejected again.")
  static void repeatedHoldThatIsRefusedForGoodIsLost(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    AcquireRequest again = next.awaitAcquire("a");
    next.refused(
        ServedStream.refusal(
                ErrorReason.ERROR_REASON_REQUEST_ID_IN_USE, Code.FAILED_PRECONDITION, -1)
            .setAcquire(again.getRequestId()));
    stage.expect("a", "lost");
    stage.mustNotHold("a");
  }

  @Sentence(
      "UNAVAILABLE: another coordinator now serves the lease, and it is unknown whether the request was carried out.")
  static void repeatedHoldThatIsRefusedForNowIsKept(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    AcquireRequest again = next.awaitAcquire("a");
    next.refused(
        ServedStream.refusal(ErrorReason.ERROR_REASON_LEASE_MOVED, Code.UNAVAILABLE, 500)
            .setAcquire(again.getRequestId()));
    AcquireRequest third = next.awaitAcquire("a");
    ResumeScenarios.mustRepeat(third, held.request(), List.of(7L));
    next.granted(third, 7);
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence("Errors of single requests are sent as refused and leave the stream open.")
  static void refusalOfOneRequestCostsNoOther(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    AcquireRequest refused = held.stream().awaitAcquire("b");
    held.stream()
        .refused(
            ServedStream.refusal(ErrorReason.ERROR_REASON_LEASE_FULL, Code.RESOURCE_EXHAUSTED, -1)
                .setAcquire(refused.getRequestId()));
    stage.expect("b", "not_acquired");
    stage.acquire("c");
    held.stream().granted(held.stream().awaitAcquire("c"), 9);
    stage.expectGranted("c", 9);
    stage.mustHold("a");
  }

  @Sentence(
      "Unset: a request that this server does not know, an open that was not the first request, or a batch that is malformed as a whole, none of which was processed.")
  static void refusalOfNothingThatWasSentHarmsNothing(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream()
        .refused(
            ServedStream.refusal(
                ErrorReason.ERROR_REASON_INVALID_FIELD, Code.INVALID_ARGUMENT, -1));
    held.stream()
        .refused(
            ServedStream.refusal(ErrorReason.ERROR_REASON_UNKNOWN_WATCH, Code.NOT_FOUND, -1)
                .setUnwatch("no-such-watch"));
    held.stream()
        .refused(
            ServedStream.refusal(ErrorReason.ERROR_REASON_NOT_WAITING, Code.FAILED_PRECONDITION, -1)
                .setPosition(held.request().getRequestId()));
    held.stream()
        .refused(
            ServedStream.refusal(ErrorReason.ERROR_REASON_NOT_HELD, Code.FAILED_PRECONDITION, -1)
                .setAnswerRelease("no-such-request"));
    held.stream()
        .refused(
            ServedStream.refusal(ErrorReason.ERROR_REASON_NOT_HELD, Code.FAILED_PRECONDITION, -1)
                .setUpdateMetadata(held.request().getRequestId()));
    held.stream()
        .refused(
            ServedStream.refusal(
                    ErrorReason.ERROR_REASON_LIMIT_REACHED, Code.RESOURCE_EXHAUSTED, 300)
                .setWatch("no-such-watch"));
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence(
      "INVALID_ARGUMENT: a field is malformed or out of range; google.rpc.BadRequest and Refused.field name it.")
  static void openThatIsRefusedForGoodEndsTheRequest(Stage stage) {
    openRefused(stage, Statuses.of(Code.INVALID_ARGUMENT, "INVALID_FIELD"));
  }

  @Sentence(
      "INVALID_ARGUMENT, UNIMPLEMENTED, UNAUTHENTICATED or PERMISSION_DENIED, before the lease is open")
  static void openThatNobodyOffersEndsTheRequest(Stage stage) {
    openRefused(stage, Code.UNIMPLEMENTED.toStatus().asRuntimeException());
  }

  private static void openRefused(Stage stage, StatusRuntimeException why) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    ServedStream stream = server.stream();
    stream.awaitOpen();
    stream.fail(why);
    stage.expect("a", "not_acquired");
  }

  private static void refusedForGood(Stage stage, Refused.Builder refused) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    AcquireRequest request = held.stream().awaitAcquire("b");
    held.stream().refused(refused.setAcquire(request.getRequestId()));
    stage.expect("b", "not_acquired");
    stage.mustNotHold("b");
    stage.pause(1_200);
    Unmet.unless(!held.stream().hasAcquire(request), "what was refused for good came again");
    stage.mustHold("a");
  }

  private static void refusedForNow(Stage stage, Refused.Builder refused) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    AcquireRequest request = held.stream().awaitAcquire("b");
    held.stream().refused(refused.setAcquire(request.getRequestId()));
    long refusedNanos = System.nanoTime();
    AcquireRequest again = held.stream().awaitAcquire("b");
    long afterMillis = (System.nanoTime() - refusedNanos) / 1_000_000;
    Unmet.unless(
        afterMillis >= 700, "told to wait 800 ms, it came back after " + afterMillis + " ms");
    held.stream().granted(again, 8);
    stage.expectGranted("b", 8);
  }
}
