package io.lockkeeper.conformance;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.lockkeeper.conformance.ServedStream.Received;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.Lost;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.SessionReleased;
import io.lockkeeper.v1.SessionResponse;
import java.util.List;

/** What a newer server may say, and what a client must take in any form. */
final class ToleranceScenarios {

  private static final int UNKNOWN = 4_711;

  private static final String UNKNOWN_COMES =
      "Clients must ignore unknown fields, unknown events and unknown responses.";

  private static final String WHATEVER_ITS_REASON =
      "An unknown enum value does not change the meaning of its message: lost, not_acquired, released and lease_ended are final whatever their reason or outcome";

  private ToleranceScenarios() {}

  @Sentence(UNKNOWN_COMES)
  static void responseOfAnUnknownKindHarmsNothing(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().respond(SessionResponse.newBuilder().setUnknownFields(unknown()));
    held.stream().respond(SessionResponse.newBuilder());
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence(UNKNOWN_COMES)
  static void eventOfAnUnknownKindHarmsNothing(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().event(held.request(), AcquireResponse.newBuilder().setUnknownFields(unknown()));
    stage.settle();
    stage.mustHold("a");
    stage.release("a");
    held.stream().awaitRelease(held.request());
  }

  @Sentence(UNKNOWN_COMES)
  static void unknownFieldsHarmNothing(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    ServedStream stream = server.stream().answersKeepAlives(Terms.CALM);
    Received open = stream.awaitOpen();
    stream.respond(
        SessionResponse.newBuilder()
            .setUnknownFields(unknown())
            .setOpened(ServedStream.newLease(open, Terms.CALM).setUnknownFields(unknown())));
    AcquireRequest request = stream.awaitAcquire("a");
    stream.event(request, ServedStream.grantedEvent(request, 7).setUnknownFields(unknown()));
    stage.expectGranted("a", 7);
    stage.mustHold("a");
  }

  @Sentence(WHATEVER_ITS_REASON)
  static void lossForAnUnknownReasonIsALoss(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream()
        .event(
            held.request(),
            AcquireResponse.newBuilder().setLost(Lost.newBuilder().setReasonValue(UNKNOWN)));
    stage.expect("a", "lost");
    stage.mustNotHold("a");
  }

  @Sentence(WHATEVER_ITS_REASON)
  static void notAcquiredForAnUnknownReasonIsOver(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    held.stream()
        .event(
            held.stream().awaitAcquire("b"),
            AcquireResponse.newBuilder()
                .setNotAcquired(NotAcquired.newBuilder().setReasonValue(UNKNOWN)));
    stage.expect("b", "not_acquired");
    stage.mustHold("a");
  }

  @Sentence(WHATEVER_ITS_REASON)
  static void endOfTheLeaseForAnUnknownReasonIsItsEnd(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream()
        .respond(
            SessionResponse.newBuilder()
                .setLeaseEnded(LeaseEnded.newBuilder().setReasonValue(UNKNOWN)));
    held.stream().end();
    stage.expect("a", "lost");
    stage.mustNotHold("a");
  }

  @Sentence(WHATEVER_ITS_REASON)
  static void releaseWithAnUnknownOutcomeIsDone(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.release("a");
    held.stream().awaitRelease(held.request());
    held.stream()
        .respond(
            SessionResponse.newBuilder()
                .setReleased(
                    SessionReleased.newBuilder()
                        .setRequestId(held.request().getRequestId())
                        .setResult(ReleaseResponse.newBuilder().setOutcomeValue(UNKNOWN))));
    stage.expect("a", "released");
  }

  @Sentence("Several responses in one message, in order. Only for clients that requested batches.")
  static void batchIsTakenInItsOrder(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    stage.acquire("b");
    ServedStream stream = server.stream().answersKeepAlives(Terms.CALM);
    Received open = stream.awaitOpen();
    boolean batches = open.request().getOpen().getBatches();
    stream.respond(
        SessionResponse.newBuilder()
            .setOpened(ServedStream.newLease(open, Terms.CALM).setBatches(batches)));
    AcquireRequest a = stream.awaitAcquire("a");
    AcquireRequest b = stream.awaitAcquire("b");
    List<AcquireResponse.Builder> events =
        List.of(
            stream.numbered(a, ServedStream.grantedEvent(a, 7)),
            stream.numbered(b, ServedStream.grantedEvent(b, 8)),
            stream.numbered(a, AcquireResponse.newBuilder().setLost(Lost.getDefaultInstance())));
    if (batches) {
      stream.batch(
          events.stream().map(event -> SessionResponse.newBuilder().setEvent(event)).toList());
    } else {
      events.forEach(event -> stream.respond(SessionResponse.newBuilder().setEvent(event)));
    }
    stage.expectGranted("a", 7);
    stage.expectGranted("b", 8);
    stage.expect("a", "lost");
    stage.mustHold("b");
  }

  @Sentence("At least two responses of any kind except opened and batch.")
  static void endOfTheLeaseInABatchIsItsEnd(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().end();
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM);
    Received resume = next.awaitResume(held.open());
    boolean batches = resume.request().getOpen().getBatches();
    next.resumed(resume, Terms.CALM, batches);
    AcquireRequest again = next.awaitAcquire("a");
    SessionResponse.Builder granted =
        SessionResponse.newBuilder()
            .setEvent(next.numbered(again, ServedStream.grantedEvent(again, 7)));
    SessionResponse.Builder ended =
        SessionResponse.newBuilder()
            .setLeaseEnded(
                LeaseEnded.newBuilder().setReason(LeaseEndReason.LEASE_END_REASON_FORCED));
    if (batches) {
      next.batch(List.of(granted, ended));
    } else {
      next.respond(granted);
      next.respond(ended);
    }
    stage.expect("a", "lost");
    stage.mustNotHold("a");
  }

  @Sentence(
      "True if the client requested batches and this server supports them: both sides can send them now.")
  static void noBatchIsSentToAServerThatDoesNotKnowThem(Stage stage) {
    Held held = stage.held(Terms.CALM); // Its opened says nothing of batches.
    for (String lock : List.of("b", "c", "d", "e")) {
      stage.acquire(lock);
    }
    for (String lock : List.of("b", "c", "d", "e")) {
      held.stream().awaitAcquire(lock);
    }
    Unmet.unless(held.stream().batches() == 0, "a batch was sent");
  }

  private static UnknownFieldSet unknown() {
    UnknownFieldSet.Field text =
        UnknownFieldSet.Field.newBuilder()
            .addLengthDelimited(ByteString.copyFromUtf8("of a later version"))
            .build();
    return UnknownFieldSet.newBuilder().addField(999, text).build();
  }
}
