package io.lockkeeper.conformance;

import io.grpc.Status.Code;
import io.lockkeeper.conformance.ServedStream.Received;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ErrorReason;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.Lost;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.SessionKeptAlive;
import io.lockkeeper.v1.SessionReleased;
import io.lockkeeper.v1.SessionResponse;
import java.util.List;

/** How answers of several servers, and repeated ones, are told apart. */
final class EpochScenarios {

  private static final LossReason REMOVED = LossReason.LOSS_REASON_REMOVED;

  private EpochScenarios() {}

  @Sentence("After a takeover, the numbers restart with a higher epoch.")
  static void lossWithALowNumberOfAHigherEpochIsTaken(Stage stage) {
    Held held = stage.held(Terms.CALM);
    for (int i = 0; i < 3; i++) {
      held.stream().jeopardy(held.request(), 20_000);
      held.stream().safe(held.request(), 20_000);
    }
    ServedStream next = takenOver(stage, held);
    next.lost(next.awaitAcquire("a"), REMOVED); // Number 1 of epoch 2, after number 7 of epoch 1.
    stage.expect("a", "lost");
    stage.mustNotHold("a");
  }

  @Sentence("It rises with every takeover and every restart.")
  static void higherEpochOnTheSameStreamIsTaken(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().jeopardy(held.request(), 20_000);
    held.stream().safe(held.request(), 20_000);
    held.stream().epoch(2).lost(held.request(), REMOVED);
    stage.expect("a", "lost");
  }

  @Sentence(
      "A client keeps the highest epoch that it has seen for its lease and ignores every response and event with a lower one.")
  static void epochOfALeaseThatIsOverIsNotTheNextOnes(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    stage.client().pause();
    held.stream().epoch(9);
    for (int i = 0; i < 5; i++) {
      held.stream().safe(held.request(), 1_000); // Waits for a client whose lease is over by then.
    }
    stage.pauseUntil(held.open().plusMillis(Terms.SHORT.validForMillis() + 200));
    stage.client().resume();
    stage.expect("a", "lost");
    stage.acquire("b");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM);
    next.opened(next.awaitOpen(), Terms.CALM);
    next.granted(next.awaitAcquire("b"), 8);
    stage.expectGranted("b", 8);
  }

  @Sentence("An event that is not above the last (epoch, sequence) is a duplicate.")
  static void repeatedGrantIsToldOnce(Stage stage) {
    Held held = stage.held(Terms.CALM);
    AcquireResponse.Builder again = ServedStream.grantedEvent(held.request(), 7).setSequence(1);
    held.stream().event(held.request(), again.clone());
    held.stream().event(held.request(), again.clone());
    stage.settle();
    stage.mustNotHaveReported("granted", "a");
    stage.mustHold("a");
  }

  @Sentence(
      "An event that is sent again, after a resume or in response to a repeated request, keeps its number")
  static void eventThatIsNotAboveTheLastIsIgnoredAfterAResumeToo(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().jeopardy(held.request(), 20_000);
    held.stream().safe(held.request(), 20_000);
    stage.settle();
    held.stream().end();
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.event(next.awaitAcquire("a"), ServedStream.grantedEvent(held.request(), 7).setSequence(1));
    next.event(held.request(), lost().setSequence(2));
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence("An event that is not above the last (epoch, sequence) is a duplicate.")
  static void eventThatIsNotAboveTheLastIsIgnored(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().jeopardy(held.request(), 20_000);
    held.stream().safe(held.request(), 20_000);
    held.stream().event(held.request(), lost().setSequence(2));
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence("Events of one acquisition are ordered by (epoch, sequence)")
  static void eventsOutOfOrderTakeNothingBack(Stage stage) {
    Held asks = stage.asks(Terms.CALM, 0, stage.server());
    AcquireRequest request = asks.request();
    asks.stream().answersKeepAlives(Terms.CALM);
    asks.stream().event(request, ServedStream.grantedEvent(request, 7).setSequence(2));
    asks.stream().queued(request); // Number 1.
    stage.expectGranted("a", 7);
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence("Events of one acquisition are ordered by (epoch, sequence)")
  static void grantThatComesAfterItsLossIsNoGrant(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    AcquireRequest request = held.stream().awaitAcquire("b");
    held.stream().event(request, lost().setSequence(2));
    held.stream().event(request, ServedStream.grantedEvent(request, 8).setSequence(1));
    stage.expect("b", "lost", "not_acquired");
    stage.settle();
    stage.mustNotHold("b");
    stage.mustNotHaveReported("granted", "b");
    stage.mustHold("a");
  }

  @Sentence("ignores every response and event with a lower one.")
  static void releasedOfALowerEpochIsVoid(Stage stage) {
    Held held = stage.held(Terms.CALM);
    ServedStream next = takenOver(stage, held);
    next.granted(next.awaitAcquire("a"), 7);
    stage.release("a");
    next.awaitRelease(held.request());
    next.respond(
        SessionResponse.newBuilder()
            .setEpoch(1)
            .setReleased(SessionReleased.newBuilder().setRequestId(held.request().getRequestId())));
    stage.settle();
    stage.mustNotHaveReported("released", "a");
    next.released(held.request(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    stage.expect("a", "released");
  }

  @Sentence("ignores every response and event with a lower one.")
  static void refusalOfALowerEpochIsVoid(Stage stage) {
    Held held = stage.held(Terms.CALM);
    ServedStream next = takenOver(stage, held);
    next.granted(next.awaitAcquire("a"), 7);
    stage.acquire("b");
    AcquireRequest request = next.awaitAcquire("b");
    next.respond(
        SessionResponse.newBuilder()
            .setEpoch(1)
            .setRefused(
                ServedStream.refusal(
                        ErrorReason.ERROR_REASON_WRONG_KIND, Code.FAILED_PRECONDITION, -1)
                    .setAcquire(request.getRequestId())));
    stage.settle();
    stage.mustNotHaveReported("not_acquired", "b");
    next.granted(request, 8);
    stage.expectGranted("b", 8);
  }

  @Sentence("In a batch, each response has its own.")
  static void responseOfALowerEpochInABatchIsVoid(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.settle();
    held.stream().end();
    ServedStream next = held.server().stream().epoch(2).answersKeepAlives(Terms.CALM);
    Received resume = next.awaitResume(held.open());
    boolean batches = resume.request().getOpen().getBatches();
    next.resumed(resume, Terms.CALM, batches);
    AcquireRequest again = next.awaitAcquire("a");
    SessionResponse.Builder granted =
        SessionResponse.newBuilder()
            .setEvent(next.numbered(again, ServedStream.grantedEvent(again, 7)));
    if (batches) {
      next.batch(List.of(granted, staleEnd()));
    } else {
      next.respond(granted);
      next.respond(staleEnd());
    }
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence("Final: the locks were held and no longer are.")
  static void nothingFollowsALoss(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().lost(held.request(), REMOVED);
    stage.expect("a", "lost");
    held.stream().granted(held.request(), 7);
    stage.settle();
    stage.mustNotHaveReported("granted", "a");
    stage.mustNotHold("a");
  }

  @Sentence("ignores every response and event with a lower one.")
  static void eventOfALowerEpochIsVoid(Stage stage) {
    Held held = stage.held(Terms.CALM);
    ServedStream next = takenOver(stage, held);
    AcquireRequest again = next.awaitAcquire("a");
    next.granted(again, 7);
    next.event(again, lost().setEpoch(1).setSequence(99));
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence("ignores every response and event with a lower one.")
  static void keptAliveOfALowerEpochIsVoid(Stage stage) {
    Terms terms = new Terms(60_000, 8_000, 2_000);
    Held held = stage.held(terms);
    ServedStream next = resumedIn(2, stage, held, terms);
    next.granted(next.awaitAcquire("a"), 7);
    Received keepAlive = next.awaitKeepAlive();
    next.keptAlive(keepAlive, terms);
    Received later = next.awaitKeepAlive();
    next.respond(
        SessionResponse.newBuilder()
            .setEpoch(1)
            .setKeptAlive(
                SessionKeptAlive.newBuilder()
                    .setNonce(later.request().getKeepAlive().getNonce())
                    .setValidFor(Terms.CALM.validFor())
                    .setKeepAliveInterval(terms.interval())));
    // The one that was answered before a resume may have raised the deadline as well.
    stage.mustLoseAt("a", later.plusMillis(terms.validForMillis()));
  }

  @Sentence("ignores every response and event with a lower one.")
  static void openedOfALowerEpochIsVoid(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    held.stream().epoch(5).jeopardy(held.request(), 3_000);
    held.stream().safe(held.request(), 3_000);
    stage.settle();
    held.stream().end();
    ServedStream stale = held.server().stream();
    stale.epoch(4).resumed(stale.awaitResume(held.open()), Terms.CALM);
    stage.mustLoseAt("a", held.open().plusMillis(Terms.SHORT.validForMillis()));
  }

  @Sentence("ignores every response and event with a lower one.")
  static void endOfTheLeaseInALowerEpochIsVoid(Stage stage) {
    Held held = stage.held(Terms.CALM);
    ServedStream next = takenOver(stage, held);
    next.granted(next.awaitAcquire("a"), 7);
    next.respond(staleEnd());
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence(
      "A request with tokens is never queued again: it is granted with exactly these tokens, or lost.")
  static void grantOfTheNextEpochWithTheSameTokensIsTheSameHold(Stage stage) {
    Held held = stage.held(Terms.CALM);
    ServedStream next = takenOver(stage, held);
    next.granted(next.awaitAcquire("a"), 7);
    stage.settle();
    stage.mustNotHaveReported("granted", "a");
    stage.mustHold("a");
  }

  private static SessionResponse.Builder staleEnd() {
    return SessionResponse.newBuilder()
        .setEpoch(1)
        .setLeaseEnded(LeaseEnded.newBuilder().setReason(LeaseEndReason.LEASE_END_REASON_EXPIRED));
  }

  private static AcquireResponse.Builder lost() {
    return AcquireResponse.newBuilder().setLost(Lost.newBuilder().setReason(REMOVED));
  }

  /** The stream ends, and the lease is resumed at a server that has taken it over. */
  private static ServedStream takenOver(Stage stage, Held held) {
    ServedStream next = resumedIn(2, stage, held, Terms.CALM);
    return next.answersKeepAlives(Terms.CALM);
  }

  private static ServedStream resumedIn(long epoch, Stage stage, Held held, Terms terms) {
    stage.settle();
    held.stream().end();
    ServedStream next = held.server().stream().epoch(epoch);
    next.resumed(next.awaitResume(held.open()), terms);
    return next;
  }
}
