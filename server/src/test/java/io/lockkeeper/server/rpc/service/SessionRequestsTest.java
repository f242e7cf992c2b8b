package io.lockkeeper.server.rpc.service;

import static io.lockkeeper.server.rpc.SessionMessages.acquiring;
import static io.lockkeeper.server.rpc.SessionMessages.answering;
import static io.lockkeeper.server.rpc.SessionMessages.describing;
import static io.lockkeeper.server.rpc.SessionMessages.keepAlive;
import static io.lockkeeper.server.rpc.SessionMessages.opening;
import static io.lockkeeper.server.rpc.SessionMessages.releasing;
import static io.lockkeeper.server.rpc.SessionMessages.unwatching;
import static io.lockkeeper.server.rpc.SessionMessages.watching;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.rpc.InProcess;
import io.lockkeeper.server.rpc.Received;
import io.lockkeeper.server.rpc.SessionClient;
import io.lockkeeper.server.testing.FakeCoordinator.Attached;
import io.lockkeeper.server.testing.FakeCoordinator.MetadataToUpdate;
import io.lockkeeper.server.testing.FakeCoordinator.ReleaseToAnswer;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.ErrorReason;
import io.lockkeeper.v1.PositionQuery;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class SessionRequestsTest {

  @AutoClose private final SessionClient session = new SessionClient();
  private final InProcess server = session.server;
  private final Received<SessionRequest, SessionResponse> client = session.received;
  private final StreamObserver<SessionRequest> requests = session.requests;

  @Test
  void keepAliveIsAcknowledgedWithItsNonce() {
    // Given
    session.open();
    // When
    requests.onNext(keepAlive(7));
    server
        .coordinator
        .keepAlives
        .next()
        .answer()
        .complete(new Answer.LeaseRenewed(9_000_000_000L, 1));
    // Then
    var kept = client.next().getKeptAlive();
    assertThat(kept.getNonce()).isEqualTo(7);
    assertThat(kept.getValidFor().getSeconds()).isEqualTo(9);
  }

  @Test
  void keepAliveThatIsOneTooManyIsRefusedByItsNonceAndTheStreamGoesOn() {
    // Given
    session.open();
    // When
    requests.onNext(keepAlive(7));
    server
        .coordinator
        .keepAlives
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.TOO_MANY));
    requests.onNext(keepAlive(8));
    // Then
    Refused refused = client.next().getRefused();
    assertThat(refused.getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED.value());
    assertThat(refused.hasKeepAlive()).isTrue();
    assertThat(refused.getKeepAlive()).isEqualTo(7);
    server.coordinator.keepAlives.next();
  }

  @Test
  void onlyKeepAlivesAreRefusedByANonce() {
    // Given
    session.open();
    // When
    requests.onNext(acquiring(""));
    // Then
    assertThat(client.next().getRefused().hasKeepAlive()).isFalse();
  }

  @Test
  void keepAliveOfALeaseThatEndedTellsTheEnd() {
    // Given
    session.open();
    // When
    requests.onNext(keepAlive(7));
    server.coordinator.keepAlives.next().answer().complete(new Answer.LeaseGone(LeaseEnd.EXPIRED));
    // Then
    assertThat(client.next().getLeaseEnded().getReason().name())
        .isEqualTo("LEASE_END_REASON_EXPIRED");
    assertThat(client.end().isOk()).isTrue();
  }

  @Test
  void acquisitionIsToldOnTheStream() {
    // Given
    Attached attached = session.open();
    // When
    requests.onNext(acquiring("req-1"));
    var command = attached.acquires().next();
    attached.listener().onNotice("req-1", 1, 1, ViewSamples.queued());
    // Then
    assertThat(command.requestId()).isEqualTo("req-1");
    var event = client.next().getEvent();
    assertThat(event.getRequestId()).isEqualTo("req-1");
    assertThat(event.hasQueued()).isTrue();
  }

  @Test
  void finalEventOfAnAcquisitionDoesNotEndTheStream() {
    // Given
    Attached attached = session.open();
    // When
    attached.listener().onNotice("req-1", 1, 2, new Notice.Lost(Notice.LossReason.REMOVED, ""));
    attached.listener().onNotice("req-2", 1, 1, ViewSamples.granted());
    // Then
    assertThat(client.next().getEvent().hasLost()).isTrue();
    assertThat(client.next().getEvent().hasGranted()).isTrue();
  }

  @Test
  void acquireWithoutRequestIdIsRefusedAndTheStreamGoesOn() {
    // Given
    session.open();
    // When
    requests.onNext(acquiring(""));
    requests.onNext(keepAlive(1));
    // Then
    Refused refused = client.next().getRefused();
    assertThat(refused.getCode()).isEqualTo(Code.INVALID_ARGUMENT.value());
    assertThat(refused.getField()).isEqualTo("acquire.request_id");
    assertThat(refused.getMessage()).isNotEmpty();
    assertThat(server.coordinator.keepAlives.next().what()).isEqualTo(ViewSamples.LEASE);
  }

  @Test
  void acquireThatTheCoordinatorRefusesNamesItsRequest() {
    // Given
    Attached attached = session.open();
    requests.onNext(acquiring("req-1"));
    attached.acquires().next();
    // When
    attached.listener().onRefused("req-1", ViewSamples.refused(Reason.QUEUE_FULL));
    // Then
    Refused refused = client.next().getRefused();
    assertThat(refused.getAcquire()).isEqualTo("req-1");
    assertThat(refused.getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED.value());
  }

  @Test
  void fullQueueIsToldFromOtherThingsThatAreTooMany() {
    // Given
    Attached attached = session.open();
    // When
    attached.listener().onRefused("req-1", ViewSamples.refused(Reason.QUEUE_FULL));
    attached.listener().onRefused("req-2", ViewSamples.refused(Reason.TOO_MANY));
    // Then
    assertThat(client.next().getRefused().getReason())
        .isEqualTo(ErrorReason.ERROR_REASON_QUEUE_FULL);
    assertThat(client.next().getRefused().getReason())
        .isEqualTo(ErrorReason.ERROR_REASON_LIMIT_REACHED);
  }

  @Test
  void requestOfNoKnownKindIsRefused() {
    // Given
    session.open();
    // When
    requests.onNext(SessionRequest.getDefaultInstance());
    requests.onNext(opening());
    // Then
    assertThat(client.next().getRefused().getField()).isEqualTo("request");
    assertThat(client.next().getRefused().getField()).isEqualTo("open");
  }

  @Test
  void releaseIsAnsweredWithItsOutcome() {
    // Given
    session.open();
    // When
    requests.onNext(
        SessionRequest.newBuilder()
            .setRelease(ReleaseRequest.newBuilder().setRequestId("req-1").setFencingToken(77))
            .build());
    var release = server.coordinator.releases.next();
    release.answer().complete(new Answer.ReleaseDone(Answer.ReleaseOutcome.WITHDRAWN, 0));
    // Then
    assertThat(release.what().lease()).isEqualTo(ViewSamples.LEASE);
    assertThat(release.what().token()).isEqualTo(77);
    var released = client.next().getReleased();
    assertThat(released.getRequestId()).isEqualTo("req-1");
    assertThat(released.getResult().getOutcome())
        .isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_WITHDRAWN);
  }

  @Test
  void releaseThatFailsIsRefused() {
    // Given
    session.open();
    // When
    requests.onNext(releasing("req-1"));
    server
        .coordinator
        .releases
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.UNKNOWN_ACQUISITION));
    // Then
    Refused refused = client.next().getRefused();
    assertThat(refused.getRelease()).isEqualTo("req-1");
    assertThat(refused.getCode()).isEqualTo(Code.NOT_FOUND.value());
  }

  @Test
  void oneLevelOfAReentrantHoldIsGivenBack() {
    // Given
    session.open();
    // When
    requests.onNext(releasing("req-2"));
    server
        .coordinator
        .releases
        .next()
        .answer()
        .complete(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 1));
    // Then
    var result = client.next().getReleased().getResult();
    assertThat(result.getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED);
    assertThat(result.getRemainingHolds()).isEqualTo(1);
  }

  @Test
  void answerToAWishIsTakenForTheSessionsLease() {
    // Given
    session.open();
    // When
    requests.onNext(answering("req-1", 5_000_000_000L));
    var asked = server.coordinator.releaseAnswers.next();
    asked.answer().complete(new Answer.Described());
    // Then
    assertThat(asked.what())
        .isEqualTo(new ReleaseToAnswer(ViewSamples.LEASE, "req-1", Duration.ofSeconds(5)));
    assertThat(client.next().getReleaseAnswered().getRequestId()).isEqualTo("req-1");
  }

  @Test
  void answerOfAnAcquisitionThatHoldsNothingIsRefused() {
    // Given
    session.open();
    requests.onNext(answering("req-1", 5_000_000_000L));
    // When
    server
        .coordinator
        .releaseAnswers
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.NOT_HELD));
    // Then
    Refused refused = client.next().getRefused();
    assertThat(refused.getAnswerRelease()).isEqualTo("req-1");
    assertThat(refused.getCode()).isEqualTo(Code.FAILED_PRECONDITION.value());
  }

  @Test
  void metadataIsReplacedForTheSessionsLease() {
    // Given
    session.open();
    // When
    requests.onNext(describing("req-1", "pod", "b"));
    var asked = server.coordinator.metadataUpdates.next();
    asked.answer().complete(new Answer.Described());
    // Then
    assertThat(asked.what())
        .isEqualTo(new MetadataToUpdate(ViewSamples.LEASE, "req-1", Map.of("pod", "b")));
    assertThat(client.next().getMetadataUpdated().getRequestId()).isEqualTo("req-1");
  }

  @Test
  void malformedMetadataIsRefusedByFieldAndTheStreamGoesOn() {
    // Given
    session.open();
    // When
    requests.onNext(describing("req-1", "", "b"));
    requests.onNext(keepAlive(1));
    // Then
    Refused refused = client.next().getRefused();
    assertThat(refused.getUpdateMetadata()).isEqualTo("req-1");
    assertThat(refused.getField()).isEqualTo("update_metadata.metadata");
    assertThat(server.coordinator.keepAlives.next().what()).isEqualTo(ViewSamples.LEASE);
  }

  @Test
  void positionIsToldWithoutANumber() {
    // Given
    session.open();
    // When
    requests.onNext(
        SessionRequest.newBuilder()
            .setPosition(PositionQuery.newBuilder().setRequestId("req-1"))
            .build());
    server
        .coordinator
        .positions
        .next()
        .answer()
        .complete(new Notice.Position(ViewSamples.queued().places()));
    // Then
    var event = client.next().getEvent();
    assertThat(event.hasPosition()).isTrue();
    assertThat(event.getSequence()).isZero();
  }

  @Test
  void clientWithTooManyUnansweredRequestsIsNotReadFrom() {
    // Given: the limit is 4
    Attached attached = session.open();
    for (int i = 1; i <= 20; i++) {
      requests.onNext(acquiring("req-" + i));
    }
    for (int i = 1; i <= 4; i++) {
      attached.acquires().next();
    }
    assertThat(attached.acquires().isEmpty()).isTrue();
    // When
    attached.listener().onNotice("req-2", 1, 1, ViewSamples.queued());
    // Then
    assertThat(attached.acquires().next().requestId()).isEqualTo("req-5");
    assertThat(attached.acquires().isEmpty()).isTrue();
  }

  @Test
  void repeatedRequestThatIsUnansweredTakesNoFurtherPlaceInTheWindow() {
    // Given
    Attached attached = session.open();
    // When
    for (int i = 0; i < 20; i++) {
      requests.onNext(acquiring("req-1"));
    }
    requests.onNext(keepAlive(1));
    // Then
    server.coordinator.keepAlives.next();
    assertThat(attached.acquires().size()).isEqualTo(20);
  }

  @Test
  void watchIsToldWithItsIdUntilItEnds() {
    // Given
    session.open();
    requests.onNext(watching("w-1"));
    var watch = server.coordinator.watches.next();
    // When
    watch.listener().onSnapshotEnd(5);
    // Then
    var watched = client.next().getWatched();
    assertThat(watched.getWatchId()).isEqualTo("w-1");
    assertThat(watched.getEvent().hasSnapshotEnd()).isTrue();
    requests.onNext(unwatching("w-1"));
    assertThat(watch.closed().next()).isEqualTo("closed");
  }

  @Test
  void watchesAreCappedAndTheirIdsAreUnique() {
    // Given: the limit is 2
    session.open();
    requests.onNext(watching("w-1"));
    requests.onNext(watching("w-1"));
    requests.onNext(watching(""));
    requests.onNext(watching("w-2"));
    requests.onNext(watching("w-3"));
    // Then
    assertThat(client.next().getRefused().getField()).isEqualTo("watch.watch_id");
    assertThat(client.next().getRefused().getField()).isEqualTo("watch.watch_id");
    Refused third = client.next().getRefused();
    assertThat(third.getWatch()).isEqualTo("w-3");
    assertThat(third.getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED.value());
  }

  @Test
  void watchThatTheCoordinatorRefusesFreesItsId() {
    // Given
    session.open();
    requests.onNext(watching("w-1"));
    // When
    server.coordinator.watches.next().listener().onRefused(ViewSamples.refused(Reason.TOO_MANY));
    // Then
    assertThat(client.next().getRefused().getWatch()).isEqualTo("w-1");
    requests.onNext(watching("w-1"));
    assertThat(server.coordinator.watches.next().startRevision()).isZero();
  }

  @Test
  void unwatchOfNothingIsRefused() {
    // Given
    session.open();
    // When
    requests.onNext(unwatching("w-9"));
    // Then
    Refused refused = client.next().getRefused();
    assertThat(refused.getCode()).isEqualTo(Code.NOT_FOUND.value());
    assertThat(refused.getField()).isEqualTo("unwatch.watch_id");
  }
}
