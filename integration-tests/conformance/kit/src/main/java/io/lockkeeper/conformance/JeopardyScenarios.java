package io.lockkeeper.conformance;

import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.AcquireResponse;

/**
 * A server loses contact with ZooKeeper, and finds it again. When the time of a jeopardy is over, a
 * client may wait for safe, or give the lock up: it tells lost, then, and releases.
 */
final class JeopardyScenarios {

  private JeopardyScenarios() {}

  @Sentence("Holders keep their locks for at most valid_for.")
  static void jeopardyEndsTheHoldWhenItsTimeIsOver(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().jeopardy(held.request(), 1_500);
    mustNotHoldAfter(stage, 1_500);
  }

  @Sentence("Holders keep their locks for at most valid_for.")
  static void jeopardyThatLastsCostsNothing(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().jeopardy(held.request(), 20_000);
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence("The contact is restored and the locks are still held.")
  static void safeLiftsTheJeopardy(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().jeopardy(held.request(), 2_000);
    held.stream().safe(held.request(), 30_000);
    stage.pause(2_500);
    stage.mustHold("a");
  }

  @Sentence("It ends with safe, or with a grant that is not a duplicate.")
  static void newGrantLiftsTheJeopardy(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().jeopardy(held.request(), 2_000);
    held.stream().granted(held.request(), 7);
    stage.pause(2_500);
    stage.mustHold("a");
    stage.mustNotHaveReported("granted", "a");
  }

  @Sentence("It ends with safe, or with a grant that is not a duplicate.")
  static void repeatedGrantLiftsNoJeopardy(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().jeopardy(held.request(), 2_000);
    held.stream().event(held.request(), grantedBefore(held));
    mustNotHoldAfter(stage, 2_000);
  }

  @Sentence("A later jeopardy event replaces an earlier one, even if it is shorter.")
  static void laterJeopardyThatIsShorterCounts(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().jeopardy(held.request(), 20_000);
    held.stream().jeopardy(held.request(), 1_500);
    mustNotHoldAfter(stage, 1_500);
  }

  @Sentence(
      "After each resume, a holder that received jeopardy receives its current state with a new number: jeopardy or safe.")
  static void jeopardyEndsOnTheNextStream(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().jeopardy(held.request(), 8_000);
    stage.settle();
    long heardNanos = System.nanoTime();
    held.stream().end();
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.event(next.awaitAcquire("a"), grantedBefore(held)); // Of the same epoch: no news.
    next.event(
        held.request(),
        AcquireResponse.newBuilder().setSafe(ServedStream.safeFor(30_000)).setSequence(3));
    stage.pauseUntil(heardNanos + 8_500_000_000L);
    stage.mustHold("a");
  }

  @Sentence("It ends with safe, or with a grant that is not a duplicate.")
  static void jeopardyOutlastsTheResume(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().jeopardy(held.request(), 6_000);
    stage.settle();
    long heardNanos = System.nanoTime();
    held.stream().end();
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.event(next.awaitAcquire("a"), grantedBefore(held));
    stage.pauseUntil(heardNanos + 6_300_000_000L);
    stage.mustNotHold("a");
  }

  /** The grant that made the hold, with its number: a repetition. */
  private static AcquireResponse.Builder grantedBefore(Held held) {
    return ServedStream.grantedEvent(held.request(), 7).setSequence(1);
  }

  /** What was sent has arrived by now; some milliseconds later the client does not hold. */
  private static void mustNotHoldAfter(Stage stage, long millis) {
    stage.settle();
    stage.pause(millis + 200);
    stage.mustNotHold("a");
  }
}
