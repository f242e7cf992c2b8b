package io.lockkeeper.conformance;

import io.grpc.Status.Code;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.ErrorReason;
import io.lockkeeper.v1.Refused;
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
      "INVALID_ARGUMENT: a field is malformed or out of its range; google.rpc.BadRequest and Refused.field name it.")
  static void malformedAcquireIsOver(Stage stage) {
    refusedForGood(
        stage,
        ServedStream.refusal(ErrorReason.ERROR_REASON_INVALID_FIELD, Code.INVALID_ARGUMENT, -1)
            .setField("locks[0].name"));
  }

  @Sentence("UNIMPLEMENTED: this server does not offer the call or the option.")
  static void acquireWithAnOptionThatIsNotOfferedIsOver(Stage stage) {
    refusedForGood(
        stage, ServedStream.refusal(ErrorReason.ERROR_REASON_NOT_OFFERED, Code.UNIMPLEMENTED, -1));
  }

  @Sentence("RESOURCE_EXHAUSTED: the lock's queue is full.")
  static void fullQueueWithoutADelayIsOver(Stage stage) {
    refusedForGood(
        stage,
        ServedStream.refusal(ErrorReason.ERROR_REASON_QUEUE_FULL, Code.RESOURCE_EXHAUSTED, -1));
  }

  @Sentence("A client takes one that it does not know by its status code.")
  static void unknownReasonIsTakenByItsCode(Stage stage) {
    refusedForGood(
        stage,
        ServedStream.refusal(ErrorReason.ERROR_REASON_UNSPECIFIED, Code.FAILED_PRECONDITION, -1)
            .setReasonValue(4_711));
  }

  @Sentence("When to try again. Unset: the same request would be refused again.")
  static void acquireIsSentAgainAfterTheDelay(Stage stage) {
    refusedForNow(
        stage, ServedStream.refusal(ErrorReason.ERROR_REASON_NO_ZOOKEEPER, Code.UNAVAILABLE, 800));
  }

  @Sentence("When to try again. Unset: the same request would be refused again.")
  static void unknownReasonWithADelayIsSentAgain(Stage stage) {
    refusedForNow(
        stage,
        ServedStream.refusal(ErrorReason.ERROR_REASON_UNSPECIFIED, Code.UNAVAILABLE, 800)
            .setReasonValue(4_711));
  }

  @Sentence(
      "UNAVAILABLE: another coordinator serves the lease from now on, and it is not certain whether the request was carried out.")
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

  @Sentence("Errors of one request come as refused and leave the stream open.")
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
      "Unset: one that this server does not know, an open that was not the first request, or a batch that is malformed as a whole, of which nothing was done.")
  static void refusalOfNothingThatWasSentHarmsNothing(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream()
        .refused(
            ServedStream.refusal(ErrorReason.ERROR_REASON_NOT_OFFERED, Code.UNIMPLEMENTED, -1));
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
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence(
      "INVALID_ARGUMENT (first request is not open), NOT_FOUND (lease to resume unknown or ended: what it held is lost), FAILED_PRECONDITION (wrong secret).")
  static void openThatIsRefusedForGoodEndsTheRequest(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    ServedStream stream = server.stream();
    stream.awaitOpen();
    stream.fail(ResumeScenarios.status(Code.INVALID_ARGUMENT, "INVALID_FIELD"));
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
