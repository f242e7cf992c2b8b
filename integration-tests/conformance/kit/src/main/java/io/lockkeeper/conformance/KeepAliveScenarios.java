package io.lockkeeper.conformance;

import io.grpc.Status.Code;
import io.lockkeeper.conformance.ServedStream.Received;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.ErrorReason;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** When a client renews its lease. */
final class KeepAliveScenarios {

  static final String QUARTER =
      "about a quarter of valid_for, at least 500 ms, so that two lost keep-alives cost no lock.";

  /** Rarer than any fixed cadence that a client may have. */
  private static final Terms SLOW = new Terms(60_000, 48_000, 12_000);

  private KeepAliveScenarios() {}

  @Sentence(
      "Can be far below the TTL: a coordinator confirms a lease for no longer than ZooKeeper has confirmed the coordinator's session.")
  static void validForFarBelowTheTtlIsRenewedInTime(Stage stage) {
    stage.held(new Terms(60_000, 6_000, 1_000));
    stage.pause(8_000);
    stage.mustHold("a");
  }

  @Sentence("A third of the TTL is not a safe interval.")
  static void keepAlivesComeAsOftenAsTheServerAsks(Stage stage) {
    Held held = stage.heldOfSilentServer(new Terms(60_000, 30_000, 800));
    for (int i = 0; i < 3; i++) {
      held.stream().keptAlive(held.stream().awaitKeepAlive(), new Terms(60_000, 30_000, 800));
    }
    long sinceOpen = (System.nanoTime() - held.open().atNanos()) / 1_000_000;
    Unmet.unless(sinceOpen < 8_000, "3 keep-alives took " + sinceOpen + " ms, not some 2400");
  }

  @Sentence("When to send the next keep-alive, counted from when that one was sent")
  static void cadenceFollowsTheLatestAnswer(Stage stage) {
    Held held = stage.heldOfSilentServer(new Terms(60_000, 30_000, 3_000));
    Received first = held.stream().awaitKeepAlive();
    held.stream().answersKeepAlives(new Terms(60_000, 30_000, 600));
    held.stream().keptAlive(first, new Terms(60_000, 30_000, 600));
    int before = held.stream().keepAlives();
    stage.pause(6_000);
    int more = held.stream().keepAlives() - before;
    Unmet.unless(more >= 4, "told to renew every 600 ms, it sent " + more + " in 6 s");
  }

  @Sentence(
      "When to send the next keep-alive, counted from when the open request was sent; see SessionKeptAlive.")
  static void keepAlivesComeNoMoreOftenThanTheServerAsks(Stage stage) {
    Held held = stage.held(SLOW);
    int before = held.stream().keepAlives();
    stage.pause(6_000);
    int sent = held.stream().keepAlives() - before;
    Unmet.unless(sent <= 1, "told to renew every 12 s, it sent " + sent + " in 6 s");
  }

  @Sentence(
      "Chosen by the client and returned in the response, so that the client knows which keep-alive was acknowledged.")
  static void noncesAreNotUsedTwice(Stage stage) {
    Held held = stage.heldOfSilentServer(new Terms(60_000, 30_000, 600));
    Set<Long> nonces = new HashSet<>();
    for (int i = 0; i < 4; i++) {
      Received keepAlive = held.stream().awaitKeepAlive();
      long nonce = keepAlive.request().getKeepAlive().getNonce();
      Unmet.unless(nonces.add(nonce), "the nonce " + nonce + " came twice");
      held.stream().keptAlive(keepAlive, new Terms(60_000, 30_000, 600));
    }
  }

  @Sentence("A response is valid only on the stream of its keep-alive.")
  static void answerToAKeepAliveOfTheStreamBeforeRenewsNothing(Stage stage) {
    Terms terms = new Terms(60_000, 8_000, 2_000);
    Held held = stage.heldOfSilentServer(terms);
    Received keepAlive = held.stream().awaitKeepAlive();
    held.stream().end();
    ServedStream next = held.server().stream();
    Received resume = next.awaitResume(held.open());
    next.resumed(resume, terms);
    next.keptAlive(keepAlive, Terms.CALM); // Before the client has sent one here.
    next.granted(next.awaitAcquire("a"), 7);
    stage.mustLoseAt("a", resume.plusMillis(8_000));
  }

  @Sentence(QUARTER)
  static void twoLostAnswersCostNoLock(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.QUARTER);
    AtomicInteger lost = new AtomicInteger();
    held.stream()
        .answersKeepAlivesBy(
            keepAlive -> {
              if (lost.incrementAndGet() > 2) {
                held.stream().keptAlive(keepAlive, Terms.QUARTER);
              }
            });
    // It may be that the third one goes out, or that the stream is left by then and resumed.
    stage.servesResumes(
        held, Terms.QUARTER, held.open().plusMillis(Terms.QUARTER.validForMillis() + 1_000));
    stage.mustHold("a");
  }

  @Sentence("Send another one here after retry_after.")
  static void refusedKeepAliveIsSentAgainAfterTheDelay(Stage stage) {
    refusedAndSentAgain(stage, ErrorReason.ERROR_REASON_LIMIT_REACHED, Code.RESOURCE_EXHAUSTED);
  }

  @Sentence("Send another one here after retry_after.")
  static void keepAliveThatNobodyCanAnswerNowIsSentAgainAfterTheDelay(Stage stage) {
    refusedAndSentAgain(stage, ErrorReason.ERROR_REASON_NO_ZOOKEEPER, Code.UNAVAILABLE);
  }

  private static void refusedAndSentAgain(Stage stage, ErrorReason reason, Code code) {
    Held held = stage.heldOfSilentServer(SLOW);
    Received keepAlive = held.stream().awaitKeepAlive();
    refuse(held.stream(), keepAlive, reason, code);
    long refusedNanos = System.nanoTime();
    Received again = held.stream().awaitKeepAlive();
    long afterMillis = (again.atNanos() - refusedNanos) / 1_000_000;
    Unmet.unless(
        afterMillis >= 600, "told to wait 700 ms, it came back after " + afterMillis + " ms");
    // The usual time, had it not been refused, would be after 12 s.
    Unmet.unless(
        afterMillis < 9_000, "told to wait 700 ms, it came back after " + afterMillis + " ms");
    stage.mustHold("a");
  }

  @Sentence("The lease was not renewed and keeps its deadline.")
  static void refusedKeepAliveRenewsNothing(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    held.stream()
        .answersKeepAlivesBy(
            keepAlive ->
                refuse(
                    held.stream(),
                    keepAlive,
                    ErrorReason.ERROR_REASON_LIMIT_REACHED,
                    Code.RESOURCE_EXHAUSTED));
    stage.mustLoseAt("a", held.open().plusMillis(Terms.SHORT.validForMillis()));
  }

  private static void refuse(
      ServedStream stream, Received keepAlive, ErrorReason reason, Code code) {
    long nonce = keepAlive.request().getKeepAlive().getNonce();
    stream.refused(ServedStream.refusal(reason, code, 700).setKeepAlive(nonce));
  }
}
