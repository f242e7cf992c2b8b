package io.lockkeeper.client.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.PositionQuery;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.UpdateMetadataRequest;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionRequestsTest extends OnInMemoryServer {

  private final Heard<SessionResponse> heard = new Heard<>();

  private StreamObserver<SessionRequest> session(
      Heard<SessionResponse> to, OpenSession.Builder open) {
    StreamObserver<SessionRequest> session = LockServiceGrpc.newStub(channel).session(to);
    session.onNext(SessionRequest.newBuilder().setOpen(open.setTtl(span(3600))).build());
    clock.settle();
    return session;
  }

  private void send(StreamObserver<SessionRequest> session, SessionRequest.Builder request) {
    session.onNext(request.build());
    clock.settle();
  }

  private static SessionRequest.Builder acquisition(String owner, String id) {
    return SessionRequest.newBuilder().setAcquire(request("", owner, id, exclusive(LOCK)));
  }

  private static List<String> responses(Heard<SessionResponse> heard) {
    return heard.messages.stream()
        .map(m -> m.hasEvent() ? m.getEvent().getEventCase().name() : m.getResponseCase().name())
        .toList();
  }

  @Test
  void holderAnswersARequestForReleaseOnItsSession() {
    // Given
    StreamObserver<SessionRequest> session = session(heard, OpenSession.newBuilder());
    send(session, acquisition("", "mine"));
    // When
    send(
        session,
        SessionRequest.newBuilder()
            .setAnswerRelease(
                AnswerReleaseRequest.newBuilder().setRequestId("mine").setNeeds(span(7))));
    // Then
    assertThat(heard.last().getReleaseAnswered().getRequestId()).isEqualTo("mine");
    assertThat(state(LOCK).getHolders(0).getReleaseIn()).isEqualTo(span(7));
  }

  @Test
  void metadataIsReplacedOnTheSession() {
    // Given
    StreamObserver<SessionRequest> session = session(heard, OpenSession.newBuilder());
    send(session, acquisition("", "mine"));
    // When
    send(
        session,
        SessionRequest.newBuilder()
            .setUpdateMetadata(
                UpdateMetadataRequest.newBuilder().setRequestId("mine").putMetadata("step", "2")));
    // Then
    assertThat(heard.last().getMetadataUpdated().getRequestId()).isEqualTo("mine");
    assertThat(state(LOCK).getHolders(0).getMetadataMap()).containsEntry("step", "2");
  }

  @Test
  void answerForAnUnknownAcquisitionIsRefusedAndTheStreamGoesOn() {
    // Given
    StreamObserver<SessionRequest> session = session(heard, OpenSession.newBuilder());
    // When
    send(
        session,
        SessionRequest.newBuilder()
            .setAnswerRelease(AnswerReleaseRequest.newBuilder().setRequestId("unknown")));
    // Then
    assertThat(heard.last().getRefused().getId()).isEqualTo("unknown");
    assertThat(heard.last().getRefused().getCode()).isEqualTo(Status.Code.NOT_FOUND.value());
    assertThat(heard.ends).isEmpty();
  }

  @Test
  void releaseOfOneLevelSaysHowManyAreLeft() {
    // Given
    StreamObserver<SessionRequest> session = session(heard, OpenSession.newBuilder());
    send(session, acquisition("me", "1"));
    send(session, acquisition("me", "2"));
    // When
    send(
        session,
        SessionRequest.newBuilder().setRelease(ReleaseRequest.newBuilder().setRequestId("1")));
    // Then
    ReleaseResponse result = heard.last().getReleased().getResult();
    assertThat(result.getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED);
    assertThat(result.getRemainingHolds()).isEqualTo(1);
  }

  @Test
  void positionAnswersAQueryWithoutANumber() {
    // Given
    acquire(request(exclusive(LOCK)));
    StreamObserver<SessionRequest> session = session(heard, OpenSession.newBuilder());
    send(session, acquisition("", "mine"));
    // When
    send(
        session,
        SessionRequest.newBuilder().setPosition(PositionQuery.newBuilder().setRequestId("mine")));
    // Then
    assertThat(heard.last().getEvent().getPosition().getPositions(0).getAhead()).isEqualTo(1);
    assertThat(heard.last().getEvent().getSequence()).isZero();
  }

  @Test
  void resumedSessionHearsItsGrantAndThatSomebodyAsks() {
    // Given
    StreamObserver<SessionRequest> session = session(heard, OpenSession.newBuilder());
    send(session, acquisition("", "mine"));
    SessionOpened opened = heard.messages.get(0).getOpened();
    session.onCompleted();
    clock.settle();
    var asked =
        locks.requestRelease(
            RequestReleaseRequest.newBuilder().setName(LOCK).setDeadline(span(30)).build());
    pass(10_000);
    // When
    Heard<SessionResponse> resumed = new Heard<>();
    session(
        resumed,
        OpenSession.newBuilder()
            .setLeaseId(opened.getLeaseId())
            .setLeaseSecret(opened.getLeaseSecret()));
    // Then
    assertThat(asked.getHoldersCount()).isEqualTo(1);
    assertThat(responses(resumed)).containsExactly("OPENED", "GRANTED", "RELEASE_REQUESTED");
    assertThat(resumed.last().getEvent().getReleaseRequested().getDeadline()).isEqualTo(span(20));
  }
}
