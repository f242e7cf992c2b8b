package io.lockkeeper.conformance;

import io.grpc.Status.Code;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.DeadlockCheck;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.ReleaseOutcome;
import java.util.List;
import java.util.Map;

/** Locks that stay with a client while nobody else wants them. */
final class KeptScenarios {

  private static final long LONG = 60_000;

  private KeptScenarios() {}

  private static Held unused(Stage stage) {
    Held held = stage.heldKept(Terms.CALM, LONG);
    held.stream().answersKeepAlives(Terms.CALM);
    stage.release("a");
    stage.expect("a", "released");
    stage.settle();
    mustHaveSentNothing(held.stream());
    return held;
  }

  private static Held used(Stage stage) {
    Held held = stage.heldKept(Terms.CALM, LONG);
    held.stream().answersKeepAlives(Terms.CALM);
    return held;
  }

  /** Another server takes the lease over, and the client has come there. */
  private static ServedStream takenOver(Held held) {
    held.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    return next;
  }

  private static void mustHaveSentNothing(ServedStream stream) {
    Unmet.unless(!stream.hasAnyWish(), "the client asks, or releases, and need not");
  }

  @Sentence(
      "On the wire such a request has `notify_contention`, no owner, and `deadlock_check` OFF")
  static void requestWantsToBeTold(Stage stage) {
    Held held = used(stage);
    AcquireRequest request = held.request();
    Unmet.unless(
        request.getNotifyContention()
            && request.getOwner().isEmpty()
            && request.getDeadlockCheck() == DeadlockCheck.DEADLOCK_CHECK_OFF,
        "no notify_contention, an owner, or a deadlock_check: " + request);
  }

  @Sentence("The next alike request is granted what is kept unused, with the tokens that it has")
  static void nextRequestIsGrantedWithoutAMessage(Stage stage) {
    Held held = unused(stage);
    stage.mustNotHold("a");
    stage.acquireKept("b", LONG);
    stage.expectGranted("b", 7);
    stage.mustHold("b");
    stage.mustNotHold("a");
    mustHaveSentNothing(held.stream());
  }

  @Sentence("Unused, it is released at once.")
  static void wantedWhileUnusedIsReleased(Stage stage) {
    Held held = unused(stage);
    held.stream().contended(held.request(), 1);
    held.stream().awaitRelease(held.request());
    stage.acquireKept("b", LONG);
    held.stream().awaitAcquire("a");
    stage.mustNotHaveReported("granted", "b");
  }

  @Sentence("with `contended`, `release_requested` and `jeopardy`")
  static void jeopardyIsTheEndOfKeeping(Stage stage) {
    Held held = unused(stage);
    held.stream().jeopardy(held.request(), 20_000);
    held.stream().awaitRelease(held.request());
  }

  @Sentence("It is wanted back when a grant says that there are `waiters`")
  static void grantThatTellsOfWaitersIsNotKept(Stage stage) {
    Held held = unused(stage);
    held.stream().contended(held.request(), 1);
    held.stream().awaitRelease(held.request());
    held.stream().released(held.request(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    stage.acquireKept("b", LONG);
    AcquireRequest next = held.stream().awaitAcquire("a");
    held.stream().grantedContended(next, 9, 1);
    stage.expectGranted("b", 9);
    stage.release("b");
    held.stream().awaitRelease(next);
  }

  @Sentence(
      "it is given to those who waited in the client before that was heard, for one second at most, and then released; who comes later asks the server")
  static void whoWaitedBeforeGoesFirstAndWhoComesLaterAsks(Stage stage) {
    Held held = used(stage);
    stage.acquireKept("b", LONG);
    stage.settle();
    mustHaveSentNothing(held.stream());
    stage.mustNotHaveReported("granted", "b");
    stage.release("a");
    stage.expectGranted("b", 7);
    stage.mustNotHold("a");
    held.stream().contended(held.request(), 1);
    stage.settle();
    stage.mustHold("b");
    stage.acquireKept("c", LONG);
    held.stream().awaitAcquire("a");
    stage.release("b");
    held.stream().awaitRelease(held.request());
    stage.mustNotHaveReported("granted", "c");
  }

  @Sentence("One at a time is at the servers.")
  static void onlyOneAsksAndTheNextWhenThatOneEnds(Stage stage) {
    Held held = used(stage);
    held.stream().contended(held.request(), 1);
    stage.settle();
    stage.acquireKept("b", LONG);
    AcquireRequest first = held.stream().awaitAcquire("a");
    stage.acquireKept("c", LONG);
    stage.settle(); // A client may run each request in a task of its own: "c" comes first.
    stage.acquireKept("d", LONG);
    stage.settle();
    mustHaveSentNothing(held.stream());
    held.stream().notAcquired(first, NotAcquiredReason.NOT_ACQUIRED_REASON_QUEUE_FULL);
    stage.expect("b", "not_acquired");
    AcquireRequest second = held.stream().awaitAcquire("a");
    stage.release("a");
    held.stream().awaitRelease(held.request());
    held.stream().granted(second, 9);
    stage.expectGranted("c", 9);
    stage.release("c");
    stage.expectGranted("d", 9);
    mustHaveSentNothing(held.stream());
  }

  @Sentence("It is wanted back when a grant says that there are `waiters`")
  static void waitersOfARepeatedGrantAreHeard(Stage stage) {
    Held held = unused(stage);
    ServedStream next = takenOver(held);
    AcquireRequest again = next.awaitAcquire("a");
    next.grantedContended(again, 7, 1);
    next.awaitRelease(again);
  }

  @Sentence("So do those who wait still when the second is over, before the others.")
  static void whoWaitsForTooLongAsks(Stage stage) {
    Held held = used(stage);
    stage.acquireKept("b", LONG);
    stage.settle();
    mustHaveSentNothing(held.stream());
    held.stream().contended(held.request(), 1);
    held.stream().awaitAcquire("a");
    stage.mustHold("a");
    Unmet.unless(!held.stream().hasRelease(held.request()), "what is in use is released");
  }

  @Sentence("When its time is over unused, it is released.")
  static void unusedForTooLongIsReleased(Stage stage) {
    Held held = stage.heldKept(Terms.CALM, 500);
    held.stream().answersKeepAlives(Terms.CALM);
    stage.release("a");
    stage.expect("a", "released");
    held.stream().awaitRelease(held.request());
  }

  @Sentence("and one that may not wait ends at once (TIMED_OUT)")
  static void whoDoesNotWaitFindsItInUse(Stage stage) {
    Held held = used(stage);
    stage
        .client()
        .send("acquire", Map.of("id", "b", "locks", List.of("a"), "keep_ms", LONG, "wait_ms", 0));
    String reason = stage.expect("b", "not_acquired").line().path("reason").asString("");
    Unmet.unless(reason.equals("TIMED_OUT"), "not acquired for " + reason);
    mustHaveSentNothing(held.stream());
    stage.mustHold("a");
  }

  @Sentence("Lost while unused, nobody is told; the next request asks the server.")
  static void lossWhileUnusedIsToldNobody(Stage stage) {
    Held held = unused(stage);
    held.stream().lost(held.request(), LossReason.LOSS_REASON_REMOVED);
    stage.settle();
    stage.mustNotHaveReported("lost", "a");
    stage.acquireKept("b", LONG);
    held.stream().granted(held.stream().awaitAcquire("a"), 9);
    stage.expectGranted("b", 9);
  }

  @Sentence(
      "Lost while in use, its user is told, and the first of those who wait in the client asks the server.")
  static void lossWhileInUseIsToldItsUser(Stage stage) {
    Held held = unused(stage);
    stage.acquireKept("b", LONG);
    stage.expectGranted("b", 7);
    stage.acquireKept("c", LONG);
    stage.settle();
    held.stream().lost(held.request(), LossReason.LOSS_REASON_FORCED);
    stage.expect("b", "lost");
    held.stream().granted(held.stream().awaitAcquire("a"), 9);
    stage.expectGranted("c", 9);
    stage.mustNotHaveReported("lost", "a");
  }

  @Sentence("if the client's own deadline has not passed: the look at the clock comes first")
  static void nothingIsUsedPastTheDeadline(Stage stage) {
    Held held = stage.heldKept(Terms.SHORT, LONG);
    stage.release("a");
    stage.expect("a", "released");
    stage.client().pause();
    stage.pauseUntil(held.open().plusMillis(Terms.SHORT.validForMillis()));
    stage.acquireKept("b", LONG); // It reads this before any of its timers has run, perhaps.
    stage.pause(200);
    stage.client().resume();
    stage.settle();
    stage.mustNotHaveReported("granted", "b");
    stage.mustNotHold("b");
  }

  @Sentence("A resume repeats what is kept, used or not, like any hold")
  static void whatIsKeptIsRepeated(Stage stage) {
    Held held = unused(stage);
    ServedStream next = takenOver(held);
    AcquireRequest again = next.awaitAcquire("a");
    Unmet.unless(
        again.getHeldTokensList().equals(List.of(7L)) && again.getNotifyContention(),
        "it is not repeated with its token and notify_contention: " + again);
    next.granted(again, 7);
    stage.acquireKept("b", LONG);
    stage.expectGranted("b", 7);
    stage.release("b");
    next.contended(again, 1);
    next.awaitRelease(again);
  }
}
