package io.lockkeeper.conformance;

import io.lockkeeper.conformance.ServedStream.Received;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Position;

/** Until when a client may believe that it holds. */
final class DeadlineScenarios {

  private static final long SHORT = Terms.SHORT.validForMillis();

  /** Leaves a client that resumes the time to wait for an answer. */
  private static final Terms LONGER = new Terms(60_000, 10_000, 2_500);

  private DeadlineScenarios() {}

  @Sentence("How long the lease is valid, counted from when the open request was sent.")
  static void silenceEndsTheLeaseAtItsDeadline(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    stage.mustLoseAt("a", held.open().plusMillis(SHORT));
  }

  @Sentence(
      "valid_for in a response counts from when its request was sent, not from when the response was received.")
  static void validForOfOpenedCountsFromTheSending(Stage stage) {
    Held asks = stage.asks(Terms.SHORT, 1_500, stage.server());
    asks.stream().granted(asks.request(), 7);
    stage.expectGranted("a", 7);
    stage.mustLoseAt("a", asks.open().plusMillis(SHORT));
  }

  @Sentence("How long the lease is valid, counted from when that keep-alive was sent.")
  static void validForOfKeptAliveCountsFromTheSending(Stage stage) {
    Held held = stage.heldOfSilentServer(new Terms(60_000, 6_000, 1_500));
    Received keepAlive = held.stream().awaitKeepAlive();
    stage.pause(1_400);
    held.stream().keptAlive(keepAlive, new Terms(60_000, 6_000, 1_500));
    stage.mustLoseAt("a", keepAlive.plusMillis(6_000));
  }

  @Sentence(
      "Chosen by the client and returned in the response, so that the client knows which keep-alive was acknowledged.")
  static void answerCountsForTheKeepAliveOfItsNonce(Stage stage) {
    Held held = stage.heldOfSilentServer(new Terms(60_000, 5_000, 1_500));
    Received first = held.stream().awaitKeepAlive();
    held.stream().awaitKeepAlive();
    held.stream().keptAlive(first, new Terms(60_000, 4_500, 1_500));
    stage.mustLoseAt("a", Math.max(held.open().plusMillis(5_000), first.plusMillis(4_500)));
  }

  @Sentence(
      "Chosen by the client and returned in the response, so that the client knows which keep-alive was acknowledged.")
  static void answersOutOfOrderCountEachFromItsOwnSending(Stage stage) {
    Held held = stage.heldOfSilentServer(new Terms(60_000, 5_000, 700));
    Received first = held.stream().awaitKeepAlive();
    Received second = held.stream().awaitKeepAlive();
    held.stream().keptAlive(second, new Terms(60_000, 4_000, 700));
    stage.pause(700);
    held.stream().keptAlive(first, new Terms(60_000, 4_000, 700));
    stage.mustLoseAt("a", Math.max(held.open().plusMillis(5_000), second.plusMillis(4_000)));
  }

  @Sentence(
      "Chosen by the client and returned in the response, so that the client knows which keep-alive was acknowledged.")
  static void nonceThatWasNeverSentRenewsNothing(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    held.stream().awaitKeepAlive();
    held.stream().keptAlive(987_654_321, Terms.CALM);
    stage.mustLoseAt("a", held.open().plusMillis(SHORT));
  }

  @Sentence(
      "Under a lease this extends nothing: the holder can rely on the locks until the lease's own deadline")
  static void grantExtendsNothing(Stage stage) {
    Held asks = stage.asks(Terms.SHORT, 0, stage.server());
    stage.pause(500);
    asks.stream().granted(asks.request(), 7); // Its valid_for is 30 s.
    stage.expectGranted("a", 7);
    stage.mustLoseAt("a", asks.open().plusMillis(SHORT));
  }

  @Sentence("How long the coordinator guarantees the locks, as in granted.")
  static void safeExtendsNothing(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    held.stream().jeopardy(held.request(), 2_500);
    held.stream().safe(held.request(), 30_000);
    stage.mustLoseAt("a", held.open().plusMillis(SHORT));
  }

  @Sentence(
      "Under a lease this extends nothing: the lease's own deadline, which keep-alives move, still applies.")
  static void jeopardyExtendsNothing(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    held.stream().jeopardy(held.request(), 30_000);
    stage.mustLoseAt("a", held.open().plusMillis(SHORT));
  }

  @Sentence(
      "the lease's own deadline, which counts from the sending of the last acknowledged keep-alive (or of open).")
  static void trafficIsNoKeepAlive(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    AcquireResponse.Builder position =
        AcquireResponse.newBuilder().setPosition(Position.getDefaultInstance());
    for (int i = 0; i < 4; i++) {
      stage.pause(500);
      held.stream().event(held.request(), position.clone());
    }
    stage.mustLoseAt("a", held.open().plusMillis(SHORT));
  }

  @Sentence(
      "valid_for in a response counts from when its request was sent, not from when the response was received.")
  static void clientThatWasPausedLooksAtItsDeadlineFirst(Stage stage) {
    stage.held(Terms.SHORT);
    stage.client().pause();
    stage.pause(SHORT + 300);
    stage.mustNotHoldWhenItGoesOn("a");
    stage.expect("a", "lost");
  }

  @Sentence(
      "valid_for in a response counts from when its request was sent, not from when the response was received.")
  static void answerThatWaitedOutAPauseIsAsOldAsItsRequest(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    Received keepAlive = held.stream().awaitKeepAlive();
    stage.client().pause();
    held.stream().keptAlive(keepAlive, Terms.SHORT);
    stage.pauseUntil(keepAlive.plusMillis(SHORT + 200));
    stage.mustNotHoldWhenItGoesOn("a");
    stage.expect("a", "lost");
  }

  @Sentence("How long the lease is valid, counted from when the open request was sent.")
  static void validForOfAResumeCountsFromTheSending(Stage stage) {
    Held held = stage.held(LONGER);
    held.stream().end();
    ServedStream next = held.server().stream();
    Received resume = next.awaitResume(held.open());
    stage.pause(1_500);
    next.resumed(resume, LONGER);
    next.granted(next.awaitAcquire("a"), 7);
    stage.mustLoseAt("a", resume.plusMillis(LONGER.validForMillis()));
  }

  @Sentence("How long the lease is valid, counted from when the open request was sent.")
  static void openedThatComesAfterItsOwnDeadlineIsWorthNothing(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    ServedStream stream = server.stream();
    Received open = stream.awaitOpen();
    stage.client().pause();
    stream.answersAcquiresBy(request -> stream.granted(request, 7));
    stream.opened(open, Terms.SHORT);
    stage.pauseUntil(open.plusMillis(SHORT + 200));
    stage.mustNotHoldWhenItGoesOn("a");
    stage.pause(1_000); // Whatever it asks for on that stream, it is granted.
    stage.mustNotHold("a");
  }

  @Sentence("How long the lease is valid, counted from when the open request was sent.")
  static void openedThatComesAfterTheDeadlineRevivesNothing(Stage stage) {
    Held held = stage.held(Terms.SHORT);
    held.stream().end();
    ServedStream next = held.server().stream();
    Received resume = next.awaitResume(held.open());
    stage.client().pause();
    next.resumed(resume, Terms.CALM); // Good for half a minute, had it come in time.
    stage.pauseUntil(resume.plusMillis(SHORT + 200));
    stage.mustNotHoldWhenItGoesOn("a");
    stage.settle();
    stage.mustNotHold("a");
    stage.expect("a", "lost");
  }

  @Sentence("Everything that was acquired under a lease ends with it.")
  static void allLocksOfTheLeaseEndAtItsDeadline(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    stage.acquire("b");
    stage.acquire("c");
    held.stream().granted(held.stream().awaitAcquire("b"), 8);
    held.stream().queued(held.stream().awaitAcquire("c"));
    stage.expectGranted("b", 8);
    stage.mustLoseAt("a", held.open().plusMillis(SHORT));
    stage.expect("b", "lost");
    stage.mustNotHold("b");
    stage.expect("c", "not_acquired");
  }
}
