package io.lockkeeper.conformance;

import io.grpc.Status.Code;
import io.lockkeeper.conformance.ServedStream.Received;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ErrorReason;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.Released;

/** How a lock is given back. */
final class ReleaseScenarios {

  private ReleaseScenarios() {}

  @Sentence("The locks were held and are released.")
  static void releaseIsReportedWhenItIsAnswered(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.release("a");
    held.stream().awaitRelease(held.request());
    stage.mustNotHold("a"); // From the call on, whatever becomes of the release.
    stage.settle();
    stage.mustNotHaveReported("released", "a");
    event(held);
    held.stream().released(held.request(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    stage.expect("a", "released");
  }

  @Sentence("any fencing token of the acquisition. If it does not match, nothing is released.")
  static void releaseNamesNoTokenOrTheRightOne(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    held.stream().granted(held.stream().awaitAcquire("b"), 8);
    stage.expectGranted("b", 8);
    stage.release("a");
    ReleaseRequest release = held.stream().awaitRelease(held.request());
    long token = release.getFencingToken();
    Unmet.unless(token == 0 || token == 7, "the release of a names the token " + token);
    held.stream().released(held.request(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    stage.expect("a", "released");
    stage.mustHold("b");
  }

  @Sentence(
      "A client that resumes: repeats each acquisition that it depends on (see held_tokens), and each release without a response; both are idempotent")
  static void releaseInDoubtIsRepeatedAfterTheResume(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.release("a");
    held.stream().awaitRelease(held.request());
    held.stream().fail(Code.UNAVAILABLE, "gone before it answered");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.awaitRelease(held.request());
    stage.mustNotHold("a");
    next.released(held.request(), ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED);
    stage.expect("a", "released");
  }

  @Sentence(
      "A client that resumes: repeats each acquisition that it depends on (see held_tokens), and each release without a response; both are idempotent")
  static void withdrawalInDoubtIsRepeatedAfterTheResume(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("w");
    AcquireRequest waiting = held.stream().awaitAcquire("w");
    held.stream().queued(waiting);
    stage.settle();
    stage.release("w");
    held.stream().awaitRelease(waiting);
    held.stream().fail(Code.UNAVAILABLE, "gone before it answered");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.granted(next.awaitAcquire("a"), 7);
    next.granted(waiting, 8); // It was granted when the withdrawal was on its way.
    next.awaitRelease(waiting);
    stage.settle();
    stage.mustNotHold("w");
    stage.mustNotHaveReported("granted", "w");
    next.released(waiting, ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    stage.expect("w", "not_acquired", "released");
    stage.mustHold("a");
  }

  @Sentence("Also returned after a takeover for an acquisition of which nothing is left.")
  static void alreadyReleasedIsReleased(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.release("a");
    held.stream().awaitRelease(held.request());
    held.stream().released(held.request(), ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED);
    stage.expect("a", "released");
    stage.mustNotHold("a");
  }

  @Sentence("UNAVAILABLE (outcome unknown: send it again).")
  static void refusedReleaseIsSentAgainAfterTheDelay(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.release("a");
    held.stream().awaitRelease(held.request());
    held.stream()
        .refused(
            ServedStream.refusal(ErrorReason.ERROR_REASON_NO_ZOOKEEPER, Code.UNAVAILABLE, 800)
                .setRelease(held.request().getRequestId()));
    long refusedNanos = System.nanoTime();
    stage.mustNotHold("a");
    held.stream().awaitRelease(held.request());
    long afterMillis = (System.nanoTime() - refusedNanos) / 1_000_000;
    Unmet.unless(
        afterMillis >= 700, "told to wait 800 ms, it came back after " + afterMillis + " ms");
    held.stream().released(held.request(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    stage.expect("a", "released");
  }

  @Sentence("Unset: the same request would be rejected again.")
  static void releaseThatIsRefusedForGoodIsNotRepeated(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.release("a");
    held.stream().awaitRelease(held.request());
    held.stream()
        .refused(
            ServedStream.refusal(ErrorReason.ERROR_REASON_UNKNOWN_ACQUISITION, Code.NOT_FOUND, -1)
                .setRelease(held.request().getRequestId()));
    stage.expect("a", "released", "lost");
    stage.pause(1_500);
    Unmet.unless(!held.stream().hasRelease(held.request()), "the release was repeated");
    stage.mustNotHold("a");
  }

  @Sentence("The request was still waiting and has left the queue.")
  static void requestThatWaitsIsWithdrawn(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("w");
    AcquireRequest waiting = held.stream().awaitAcquire("w");
    held.stream().queued(waiting);
    stage.settle();
    stage.release("w");
    held.stream().awaitRelease(waiting);
    held.stream().notAcquired(waiting, NotAcquiredReason.NOT_ACQUIRED_REASON_WITHDRAWN);
    held.stream().released(waiting, ReleaseOutcome.RELEASE_OUTCOME_WITHDRAWN);
    stage.expect("w", "not_acquired", "released");
    stage.mustNotHold("w");
    stage.mustHold("a");
  }

  @Sentence("Releases an acquisition, or withdraws it if it is still waiting.")
  static void grantThatCrossesTheWithdrawalIsNotKept(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("w");
    AcquireRequest waiting = held.stream().awaitAcquire("w");
    held.stream().queued(waiting);
    stage.settle();
    stage.release("w");
    held.stream().awaitRelease(waiting);
    held.stream().granted(waiting, 8);
    stage.settle();
    stage.mustNotHold("w");
    held.stream().released(waiting, ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    stage.expect("w", "not_acquired", "released");
    stage.mustNotHold("w");
  }

  @Sentence("Releases an acquisition, or withdraws it if it is still waiting.")
  static void grantOfTheNextEpochDoesNotUndoARelease(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.release("a");
    held.stream().awaitRelease(held.request());
    held.stream().fail(Code.UNAVAILABLE, "gone before it answered");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.granted(held.request(), 7); // What its coordinator knew is told after the resume.
    next.awaitRelease(held.request());
    stage.settle();
    stage.mustNotHold("a");
    stage.mustNotHaveReported("granted", "a");
    next.released(held.request(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    stage.expect("a", "released");
  }

  @Sentence("The acquisition had already ended: released, lost, or never granted.")
  static void lossThatCrossesTheReleaseEndsIt(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.release("a");
    held.stream().awaitRelease(held.request());
    held.stream().lost(held.request(), LossReason.LOSS_REASON_REMOVED);
    held.stream().released(held.request(), ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED);
    stage.expect("a", "released", "lost");
    stage.settle();
    stage.mustNotHold("a");
    stage.mustNotHaveReported("lost", "a");
    stage.mustNotHaveReported("released", "a");
  }

  @Sentence("Everything that was acquired under a lease ends with it.")
  static void releaseIsOverWhenTheLeaseIsOver(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    stage.release("a");
    Received open = held.open();
    held.stream().awaitRelease(held.request());
    stage.pauseUntil(open.plusMillis(Terms.SHORT.validForMillis() + 200));
    stage.expect("a", "released", "lost");
    stage.mustNotHold("a");
  }

  @Sentence(
      "An event for a request that the client does not have, other than a final one, is answered by a release of that request.")
  static void requestThatTheClientDoesNotHaveIsReleased(Stage stage) {
    Held held = stage.held(Terms.CALM);
    AcquireRequest ended = held.request().toBuilder().setRequestId("has-ended").build();
    AcquireRequest unknown = held.request().toBuilder().setRequestId("nobody-asked").build();
    held.stream().lost(ended, LossReason.LOSS_REASON_FORCED);
    held.stream().jeopardy(unknown, 60_000);
    held.stream().awaitRelease(unknown);
    held.stream().granted(unknown, 99); // Told before the release arrived.
    stage.settle();
    Unmet.unless(!held.stream().hasRelease(unknown), "it is released again");
    Unmet.unless(!held.stream().hasRelease(ended), "what has ended is released");
    held.stream().released(unknown, ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    stage.settle();
    stage.mustNotHaveReported("granted", "a");
    stage.mustHold("a");
  }

  private static void event(Held held) {
    held.stream()
        .event(
            held.request(),
            AcquireResponse.newBuilder().setReleased(Released.getDefaultInstance()));
  }
}
