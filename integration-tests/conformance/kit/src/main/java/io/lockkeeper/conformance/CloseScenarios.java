package io.lockkeeper.conformance;

import io.grpc.Status.Code;
import io.lockkeeper.conformance.ServedStream.Received;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.CloseSession;
import io.lockkeeper.v1.ErrorReason;
import io.lockkeeper.v1.LeaseEndReason;
import java.util.List;
import java.util.Map;

/** How a client leaves. */
final class CloseScenarios {

  private CloseScenarios() {}

  @Sentence("Ends the lease with everything that it holds, then the stream.")
  static void closeEndsTheLease(Stage stage) {
    Held held = stage.held(Terms.CALM);
    close(stage);
    held.stream().awaitClose();
    held.stream().leaseEnded(LeaseEndReason.LEASE_END_REASON_CLOSED);
    held.stream().end();
    stage.expect("", "closed");
    stage.mustNotHold("a");
  }

  @Sentence(
      "Half-closing or losing the stream keeps the lease until its TTL has passed; close ends it immediately.")
  static void clientThatClosesHoldsNothing(Stage stage) {
    Held held = stage.held(Terms.CALM);
    close(stage);
    held.stream().awaitClose(); // The server is silent: the close may be on its way still.
    stage.mustNotHold("a");
  }

  @Sentence(
      "A close. The stream ends. Whether the lease has ended is unknown; resume it to find out.")
  static void closeThatIsRefusedHoldsNobodyUp(Stage stage) {
    Held held = stage.held(Terms.CALM);
    close(stage);
    held.stream().awaitClose();
    held.stream()
        .refused(
            ServedStream.refusal(ErrorReason.ERROR_REASON_NO_ZOOKEEPER, Code.UNAVAILABLE, 500)
                .setClose(CloseSession.getDefaultInstance()));
    held.stream().end();
    stage.expect("", "closed");
    stage.mustNotHold("a");
  }

  @Sentence("close ends it immediately.")
  static void closeThatFindsNoStreamIsSentAfterTheResume(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = held.server().stream();
    Received resume = next.awaitResume(held.open());
    close(stage);
    stage.settle();
    stage.mustNotHold("a");
    next.resumed(resume, Terms.CALM);
    next.awaitClose();
    next.leaseEnded(LeaseEndReason.LEASE_END_REASON_CLOSED);
    next.end();
    stage.expect("", "closed");
  }

  @Sentence(
      "A lease that the client gives up is closed by `CloseLease` with its id, at any server.")
  static void leaseThatIsGivenUpIsClosed(Stage stage) {
    Held held = stage.heldOfSilentServer(Terms.SHORT);
    ScriptedServer server = held.server();
    server.refusesNextClosing();
    stage.mustLoseAt("a", held.open().plusMillis(Terms.SHORT.validForMillis()));
    List<ServedStream> unused = server.furtherStreams(); // What it has tried meanwhile.
    stage.acquire("b");
    ServedStream next = server.stream().answersKeepAlives(Terms.CALM);
    next.opened(next.awaitOpen(), Terms.CALM);
    next.granted(next.awaitAcquire("b"), 8);
    stage.expectGranted("b", 8);
    String lease = ServedStream.leaseId(held.open().request().getOpen());
    server.awaitClosing(lease); // UNAVAILABLE
    server.awaitClosing(lease);
    stage.settle();
    Unmet.unless(!server.hasClosing(), "a lease is closed that is in use, or was closed before");
    stage.mustHold("b");
  }

  private static void close(Stage stage) {
    stage.client().send("close", Map.of());
  }
}
