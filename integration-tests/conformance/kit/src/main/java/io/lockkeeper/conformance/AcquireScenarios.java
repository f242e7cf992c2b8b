package io.lockkeeper.conformance;

import io.lockkeeper.conformance.ClientProcess.Report;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.Position;
import io.lockkeeper.v1.QueuePosition;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Requests for locks, and how they end. */
final class AcquireScenarios {

  private AcquireScenarios() {}

  @Sentence("Must be the first request: opens a lease, or resumes one.")
  static void leaseHasTheTtlThatWasAskedFor(Stage stage) {
    Held held = stage.held(Terms.CALM);
    OpenSession open = held.open().request().getOpen();
    Unmet.unless(
        open.hasTtl() && Terms.toMillis(open.getTtl()) == 60_000, "the ttl is " + open.getTtl());
    Unmet.unless(open.getLeaseId().isEmpty(), "a new client resumes a lease: " + open);
  }

  @Sentence(
      "The secret that resumes a session of the lease, chosen by the client: 32 to 256 printable ASCII characters from a cryptographic random source, for one lease only.")
  static void secretsOfTwoClientsDiffer(Stage stage) {
    String first = secret(stage);
    try (Stage own = stage.another()) {
      Unmet.unless(!secret(own).equals(first), "two clients have chosen the same secret");
    }
  }

  private static String secret(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    return server.stream().awaitOpen().request().getOpen().getLeaseSecret();
  }

  @Sentence("Its lease_id is ignored, its request_id is required.")
  static void eachRequestHasANameOfItsOwn(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    AcquireRequest second = held.stream().awaitAcquire("b");
    Unmet.unless(!second.getRequestId().isEmpty(), "the request has no request_id");
    Unmet.unless(
        !second.getRequestId().equals(held.request().getRequestId()), "two have one request_id");
  }

  @Sentence("The client's name for this acquisition, unique within the lease")
  static void nameOfARequestThatHasEndedIsNotUsedAgain(Stage stage) {
    Held held = stage.held(Terms.CALM);
    Set<String> used = new HashSet<>(Set.of(held.request().getRequestId()));
    held.stream().lost(held.request(), LossReason.LOSS_REASON_FORCED);
    stage.expect("a", "lost");
    for (String lock : List.of("b", "c", "d")) {
      stage.acquire(lock);
      AcquireRequest request = held.stream().awaitAcquire(lock);
      Unmet.unless(
          used.add(request.getRequestId()),
          "the request_id of one that has ended comes again: " + request.getRequestId());
      held.stream().notAcquired(request, NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
      stage.expect(lock, "not_acquired");
    }
  }

  @Sentence("One grant per lock, in the order of the request.")
  static void severalLocksAreOneRequest(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("x", "y", "z");
    AcquireRequest request = held.stream().awaitAcquire("x");
    Unmet.unless(request.getLocksCount() == 3, "the request names " + request.getLocksList());
    held.stream().granted(request, 40);
    stage.expectGranted("x", 40, 41, 42);
    stage.mustHold("x");
  }

  @Sentence("Rises with every grant of the lock, never zero.")
  static void tokenKeepsAllItsBits(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    held.stream().granted(held.stream().awaitAcquire("b"), 9_007_199_254_740_993L);
    stage.expectGranted("b", 9_007_199_254_740_993L);
  }

  @Sentence(
      "How long to wait for the grant, at most 7 days. Unset: as long as the stream or lease lives. Zero: only if the lock is free.")
  static void waitLimitIsSentAsItWasGiven(Stage stage) {
    Held held = stage.held(Terms.CALM);
    Unmet.unless(!held.request().hasWaitTimeout(), "nobody asked for a wait_timeout");
    stage.acquireWithin("b", 0);
    AcquireRequest request = held.stream().awaitAcquire("b");
    Unmet.unless(
        request.hasWaitTimeout() && Terms.toMillis(request.getWaitTimeout()) == 0,
        "wait_timeout is " + request.getWaitTimeout());
    held.stream().notAcquired(request, NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT);
    Report report = stage.expect("b", "not_acquired");
    String reason = report.line().path("reason").asString("");
    Unmet.unless(reason.equals("TIMED_OUT"), "the reason is " + reason);
  }

  @Sentence(
      "An outcome that a caller must expect (timed out, lost, released) is an event or a field, never an error status.")
  static void endingOfOneRequestCostsNoOther(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    held.stream()
        .notAcquired(
            held.stream().awaitAcquire("b"), NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
    stage.expect("b", "not_acquired");
    stage.acquire("c");
    held.stream().granted(held.stream().awaitAcquire("c"), 8);
    stage.expectGranted("c", 8);
    held.stream().lost(held.request(), LossReason.LOSS_REASON_FORCED);
    stage.expect("a", "lost");
    stage.mustNotHold("a");
    stage.mustHold("c");
  }

  @Sentence("The request has its place in the queue and waits.")
  static void whoeverWaitsDoesNotHold(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    AcquireRequest request = held.stream().awaitAcquire("b");
    held.stream().queued(request);
    stage.settle();
    stage.mustNotHold("b");
    held.stream().granted(request, 8);
    stage.expectGranted("b", 8);
    stage.mustHold("b");
  }

  @Sentence("Zero: the answer to a position query, which has no number.")
  static void unnumberedPositionChangesNothing(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    AcquireRequest request = held.stream().awaitAcquire("b");
    AcquireResponse.Builder position =
        AcquireResponse.newBuilder()
            .setPosition(
                Position.newBuilder()
                    .addPositions(QueuePosition.newBuilder().setName("b").setAhead(1)));
    held.stream().queued(request);
    held.stream().event(request, position.clone());
    held.stream().granted(request, 8);
    held.stream().event(request, position.clone());
    stage.expectGranted("b", 8);
    stage.settle();
    stage.mustHold("b");
  }
}
