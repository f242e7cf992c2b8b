package io.lockkeeper.conformance;

import io.lockkeeper.conformance.ServedStream.Received;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.GoingAway;
import io.lockkeeper.v1.GoingAwayReason;
import io.lockkeeper.v1.SessionResponse;

/** The server ends the stream: whether, when and how to resume. */
final class GoingAwayScenarios {

  private GoingAwayScenarios() {}

  @Sentence("The coordinator is stopping: resume at another one, after the delay.")
  static void drainingIsResumedAtAnotherAfterTheDelay(Stage stage) {
    resumedAtAnother(stage, GoingAwayReason.GOING_AWAY_REASON_DRAINING);
  }

  @Sentence(
      "The coordinator lost ZooKeeper and does not know the state of the lease: resume at another one, after the delay.")
  static void lossOfZooKeeperIsResumedAtAnotherAfterTheDelay(Stage stage) {
    resumedAtAnother(stage, GoingAwayReason.GOING_AWAY_REASON_NO_ZOOKEEPER);
  }

  private static void resumedAtAnother(Stage stage, GoingAwayReason reason) {
    ScriptedServer second = stage.server();
    Held held = stage.heldAtFirst(Terms.CALM, stage.server(), second);
    held.stream().goingAway(reason, 1_000);
    long toldNanos = System.nanoTime();
    held.stream().end();
    ServedStream next = second.stream().answersKeepAlives(Terms.CALM).epoch(2);
    Received resume = next.awaitResume(held.open());
    long afterMillis = (resume.atNanos() - toldNanos) / 1_000_000;
    Unmet.unless(
        afterMillis >= 900, "told to wait a second, it resumed after " + afterMillis + " ms");
    next.resumed(resume, Terms.CALM);
    next.granted(next.awaitAcquire("a"), 7);
    stage.settle();
    stage.mustHold("a");
    Unmet.unless(
        held.server().furtherStreams().isEmpty(), "the server that leaves is asked once more");
  }

  @Sentence("Another coordinator now serves the lease: resume at any server.")
  static void leaseThatMovedIsResumed(Stage stage) {
    resumed(stage, GoingAwayReason.GOING_AWAY_REASON_LEASE_MOVED_VALUE);
  }

  @Sentence("Clients handle an unknown reason like DRAINING.")
  static void unknownReasonIsTakenForDraining(Stage stage) {
    resumed(stage, 4_711);
  }

  @Sentence("Clients handle an unknown reason like DRAINING.")
  static void missingReasonIsTakenForDraining(Stage stage) {
    resumed(stage, 0);
  }

  private static void resumed(Stage stage, int reason) {
    Held held = stage.held(Terms.CALM);
    held.stream()
        .respond(
            SessionResponse.newBuilder()
                .setGoingAway(GoingAway.newBuilder().setReasonValue(reason)));
    held.stream().end();
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.granted(next.awaitAcquire("a"), 7);
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence("resume over a new connection, immediately.")
  static void connectionThatIsTooOldIsLeft(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().goingAway(GoingAwayReason.GOING_AWAY_REASON_CONNECTION_TOO_OLD, 0);
    held.stream().end();
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    Unmet.unless(
        !next.peer().equals(held.stream().peer()), "the lease is resumed over the same connection");
  }

  @Sentence("Do not resume: two clients with one lease would take it from each other forever.")
  static void supersededIsNeverResumed(Stage stage) {
    ScriptedServer second = stage.server();
    Held held = stage.heldAtFirst(Terms.CALM, stage.server(), second);
    held.stream().goingAway(GoingAwayReason.GOING_AWAY_REASON_SUPERSEDED, 0);
    held.stream().end();
    ResumeScenarios.mustNotBeOpenedAgain(stage, second, held.open());
    ResumeScenarios.mustNotBeOpenedAgain(stage, held.server(), held.open());
    Unmet.unless(
        !held.server().hasClosing() && !second.hasClosing(), "somebody else's lease is closed");
  }

  @Sentence(
      "going_away applies whatever its epoch: it is about the stream, and can come from a server that forwards the stream.")
  static void goingAwayOfALowerEpochIsTaken(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().epoch(5).jeopardy(held.request(), 20_000);
    held.stream().safe(held.request(), 20_000);
    stage.settle();
    held.stream().epoch(1).goingAway(GoingAwayReason.GOING_AWAY_REASON_DRAINING, 0);
    ServedStream next = held.server().stream().epoch(5).answersKeepAlives(Terms.CALM);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.granted(next.awaitAcquire("a"), 7);
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence(
      "A client that did not open the other stream has lost its lease to somebody else, and treats its locks as lost.")
  static void supersededIsTheLossOfEverything(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("w");
    held.stream().queued(held.stream().awaitAcquire("w"));
    held.stream().goingAway(GoingAwayReason.GOING_AWAY_REASON_SUPERSEDED, 0);
    held.stream().end();
    stage.expect("a", "lost");
    stage.mustNotHold("a");
    stage.expect("w", "not_acquired");
  }

  @Sentence("The minimum time to wait before the resume. Zero: none.")
  static void waitForTheResumeMovesNoDeadline(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    held.stream().goingAway(GoingAwayReason.GOING_AWAY_REASON_NO_ZOOKEEPER, 30_000);
    held.stream().end();
    stage.mustLoseAt("a", held.open().plusMillis(Terms.SHORT.validForMillis()));
  }
}
