package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.Status.Code;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.Coordinator.OpenedLease;
import io.lockkeeper.server.core.Answer;
import io.lockkeeper.server.core.Failure.Kind;
import io.lockkeeper.server.core.LeaseEnd;
import io.lockkeeper.server.core.Notice;
import io.lockkeeper.server.testing.FakeCoordinator.Attached;
import io.lockkeeper.server.testing.Views;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.CloseSession;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.PositionQuery;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionKeepAlive;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.WatchRequest;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SessionStreamTest {

  private final InProcess server = new InProcess();
  private final Received<SessionRequest, SessionResponse> client = Received.all();
  private final StreamObserver<SessionRequest> requests = server.locks().session(client);

  @AfterEach
  void stop() {
    server.close();
  }

  /** Opens a new lease, whatever is on the stream yet. */
  private Attached open() {
    requests.onNext(opening());
    var lease = server.coordinator.openLeases.next();
    lease.answer().complete(new OpenedLease(Views.opened(), "s3cret"));
    Attached attached = server.coordinator.attaches.next();
    attached.attached().complete(Views.attached());
    assertThat(client.next().hasOpened()).isTrue();
    return attached;
  }

  private static SessionRequest opening() {
    return SessionRequest.newBuilder()
        .setOpen(
            OpenSession.newBuilder().setHolder("shop-1").setTtl(Durations.ofNanos(5_000_000_000L)))
        .build();
  }

  private static SessionRequest resuming() {
    return SessionRequest.newBuilder()
        .setOpen(
            OpenSession.newBuilder().setLeaseId(Views.LEASE.toString()).setLeaseSecret("s3cret"))
        .build();
  }

  private static SessionRequest acquiring(String requestId) {
    return SessionRequest.newBuilder()
        .setAcquire(
            AcquireRequest.newBuilder()
                .setRequestId(requestId)
                .addLocks(LockRequest.newBuilder().setName("orders/42")))
        .build();
  }

  private static SessionRequest keepAlive(long nonce) {
    return SessionRequest.newBuilder()
        .setKeepAlive(SessionKeepAlive.newBuilder().setNonce(nonce))
        .build();
  }

  private static SessionRequest closing() {
    return SessionRequest.newBuilder().setClose(CloseSession.getDefaultInstance()).build();
  }

  @Test
  void newLeaseIsOpenedAndItsSecretToldOnce() {
    // When
    requests.onNext(opening());
    var lease = server.coordinator.openLeases.next();
    lease.answer().complete(new OpenedLease(Views.opened(), "s3cret"));
    Attached attached = server.coordinator.attaches.next();
    attached.attached().complete(Views.attached());
    // Then
    SessionOpened opened = client.next().getOpened();
    assertThat(lease.what().ttl()).isEqualTo(Duration.ofSeconds(5));
    assertThat(lease.what().holder()).isEqualTo("shop-1");
    assertThat(attached.secret()).isEqualTo("s3cret");
    assertThat(opened.getLeaseId()).isEqualTo(Views.LEASE.toString());
    assertThat(opened.getLeaseSecret()).isEqualTo("s3cret");
    assertThat(opened.getLeaseTag()).isEqualTo(Views.LEASE.tag());
    assertThat(opened.getTtl().getSeconds()).isEqualTo(15);
    assertThat(opened.getValidFor().getSeconds()).isEqualTo(14);
    assertThat(opened.getResumed()).isFalse();
  }

  @Test
  void leaseIsResumedAndItsSecretNotToldAgain() {
    // When
    requests.onNext(resuming());
    Attached attached = server.coordinator.attaches.next();
    attached.attached().complete(Views.attached());
    // Then
    SessionOpened opened = client.next().getOpened();
    assertThat(attached.lease()).isEqualTo(Views.LEASE);
    assertThat(opened.getResumed()).isTrue();
    assertThat(opened.getLeaseSecret()).isEmpty();
    assertThat(server.coordinator.openLeases.isEmpty()).isTrue();
  }

  @Test
  void nothingOvertakesOpened() {
    // Given
    requests.onNext(resuming());
    Attached attached = server.coordinator.attaches.next();
    // When
    attached.listener().onNotice("req-1", 3, Views.granted());
    attached.attached().complete(Views.attached());
    // Then
    assertThat(client.next().hasOpened()).isTrue();
    assertThat(client.next().getEvent().getSequence()).isEqualTo(3);
  }

  @Test
  void requestsSentBehindOpenWaitForIt() {
    // Given
    requests.onNext(resuming());
    requests.onNext(acquiring("req-1"));
    Attached attached = server.coordinator.attaches.next();
    assertThat(attached.acquires().isEmpty()).isTrue();
    // When
    attached.attached().complete(Views.attached());
    // Then
    assertThat(attached.acquires().next().requestId()).isEqualTo("req-1");
  }

  @Test
  void firstRequestMustBeOpen() {
    // When
    requests.onNext(keepAlive(1));
    // Then
    var end = client.end();
    assertThat(end.getCode()).isEqualTo(Code.INVALID_ARGUMENT);
    assertThat(end.getDescription()).startsWith("open: must be the first");
  }

  @Test
  void streamClosedBeforeOpenIsMisuse() {
    // When
    requests.onCompleted();
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.INVALID_ARGUMENT);
  }

  @Test
  void malformedOpenNamesItsField() {
    // When
    requests.onNext(
        SessionRequest.newBuilder()
            .setOpen(OpenSession.newBuilder().setTtl(Durations.ofNanos(1)))
            .build());
    // Then
    var end = client.end();
    assertThat(end.getCode()).isEqualTo(Code.INVALID_ARGUMENT);
    assertThat(end.getDescription()).startsWith("open.ttl: must be 2 s to 3600 s");
  }

  @Test
  void resumeNeedsTheSecret() {
    // When
    requests.onNext(
        SessionRequest.newBuilder()
            .setOpen(OpenSession.newBuilder().setLeaseId(Views.LEASE.toString()))
            .build());
    // Then
    assertThat(client.end().getDescription()).startsWith("open.lease_secret: must not be empty");
  }

  @Test
  void resumeThatIsRefusedEndsTheStream() {
    // Given
    requests.onNext(resuming());
    Attached attached = server.coordinator.attaches.next();
    // When
    attached.attached().completeExceptionally(Views.refused(Kind.WRONG_SECRET));
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.FAILED_PRECONDITION);
    await().until(() -> server.services.openStreams() == 0);
  }

  @Test
  void leaseWhoseOpenerLeftUntoldIsClosed() {
    // Given
    requests.onNext(opening());
    var lease = server.coordinator.openLeases.next();
    client.cancel();
    await().until(() -> server.services.openStreams() == 0);
    // When
    lease.answer().complete(new OpenedLease(Views.opened(), "s3cret"));
    // Then
    assertThat(server.coordinator.closeLeases.next().what()).isEqualTo(Views.LEASE);
    assertThat(server.coordinator.attaches.isEmpty()).isTrue();
  }

  @Test
  void keepAliveIsAcknowledgedWithItsNonce() {
    // Given
    open();
    // When
    requests.onNext(keepAlive(7));
    server.coordinator.keepAlives.next().answer().complete(new Answer.LeaseRenewed(9_000_000_000L));
    // Then
    var kept = client.next().getKeptAlive();
    assertThat(kept.getNonce()).isEqualTo(7);
    assertThat(kept.getValidFor().getSeconds()).isEqualTo(9);
  }

  @Test
  void keepAliveOfALeaseThatEndedTellsTheEnd() {
    // Given
    open();
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
    Attached attached = open();
    // When
    requests.onNext(acquiring("req-1"));
    var command = attached.acquires().next();
    attached.listener().onNotice("req-1", 1, Views.queued());
    // Then
    assertThat(command.requestId()).isEqualTo("req-1");
    var event = client.next().getEvent();
    assertThat(event.getRequestId()).isEqualTo("req-1");
    assertThat(event.hasQueued()).isTrue();
  }

  @Test
  void finalEventOfAnAcquisitionDoesNotEndTheStream() {
    // Given
    Attached attached = open();
    // When
    attached.listener().onNotice("req-1", 2, new Notice.Lost(Notice.LossReason.REMOVED));
    attached.listener().onNotice("req-2", 1, Views.granted());
    // Then
    assertThat(client.next().getEvent().hasLost()).isTrue();
    assertThat(client.next().getEvent().hasGranted()).isTrue();
  }

  @Test
  void acquireWithoutRequestIdIsRefusedAndTheStreamGoesOn() {
    // Given
    open();
    // When
    requests.onNext(acquiring(""));
    requests.onNext(keepAlive(1));
    // Then
    Refused refused = client.next().getRefused();
    assertThat(refused.getCode()).isEqualTo(Code.INVALID_ARGUMENT.value());
    assertThat(refused.getField()).isEqualTo("acquire.request_id");
    assertThat(refused.getMessage()).isNotEmpty();
    assertThat(server.coordinator.keepAlives.next().what()).isEqualTo(Views.LEASE);
  }

  @Test
  void acquireThatTheCoordinatorRefusesNamesItsRequest() {
    // Given
    Attached attached = open();
    requests.onNext(acquiring("req-1"));
    attached.acquires().next();
    // When
    attached.listener().onRefused("req-1", Views.refused(Kind.QUEUE_FULL));
    // Then
    Refused refused = client.next().getRefused();
    assertThat(refused.getId()).isEqualTo("req-1");
    assertThat(refused.getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED.value());
  }

  @Test
  void requestOfNoKnownKindIsRefused() {
    // Given
    open();
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
    open();
    // When
    requests.onNext(
        SessionRequest.newBuilder()
            .setRelease(ReleaseRequest.newBuilder().setRequestId("req-1").setFencingToken(77))
            .build());
    var release = server.coordinator.releases.next();
    release.answer().complete(new Answer.ReleaseDone(Answer.ReleaseOutcome.WITHDRAWN));
    // Then
    assertThat(release.what().lease()).isEqualTo(Views.LEASE);
    assertThat(release.what().token()).isEqualTo(77);
    var released = client.next().getReleased();
    assertThat(released.getRequestId()).isEqualTo("req-1");
    assertThat(released.getResult().getOutcome())
        .isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_WITHDRAWN);
  }

  @Test
  void releaseThatFailsIsRefused() {
    // Given
    open();
    // When
    requests.onNext(
        SessionRequest.newBuilder()
            .setRelease(ReleaseRequest.newBuilder().setRequestId("req-1"))
            .build());
    server
        .coordinator
        .releases
        .next()
        .answer()
        .completeExceptionally(Views.refused(Kind.UNKNOWN_ACQUISITION));
    // Then
    Refused refused = client.next().getRefused();
    assertThat(refused.getId()).isEqualTo("req-1");
    assertThat(refused.getCode()).isEqualTo(Code.NOT_FOUND.value());
  }

  @Test
  void positionIsToldWithoutANumber() {
    // Given
    open();
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
        .complete(new Notice.Position(Views.queued().places()));
    // Then
    var event = client.next().getEvent();
    assertThat(event.hasPosition()).isTrue();
    assertThat(event.getSequence()).isZero();
  }

  @Test
  void closeEndsTheLeaseAndThenTheStream() {
    // Given
    Attached attached = open();
    // When
    requests.onNext(closing());
    var close = server.coordinator.closeLeases.next();
    attached.listener().onLeaseEnded(LeaseEnd.CLOSED);
    assertThat(client.messages.isEmpty()).isTrue();
    close.answer().complete(new Answer.LeaseClosed(false));
    // Then
    assertThat(client.next().getLeaseEnded().getReason().name())
        .isEqualTo("LEASE_END_REASON_CLOSED");
    assertThat(client.end().isOk()).isTrue();
  }

  @Test
  void closeThatIsNotCertainSaysSo() {
    // Given
    open();
    requests.onNext(closing());
    // When
    server
        .coordinator
        .closeLeases
        .next()
        .answer()
        .completeExceptionally(Views.refused(Kind.UNAVAILABLE));
    // Then
    assertThat(client.next().getRefused().getCode()).isEqualTo(Code.UNAVAILABLE.value());
    assertThat(client.end().getCode()).isEqualTo(Code.UNAVAILABLE);
  }

  @Test
  void leaseThatEndsEndsTheStream() {
    // Given
    Attached attached = open();
    // When
    attached.listener().onLeaseEnded(LeaseEnd.SESSION_LOST);
    // Then
    assertThat(client.next().getLeaseEnded().getReason().name())
        .isEqualTo("LEASE_END_REASON_SESSION_LOST");
    assertThat(client.end().isOk()).isTrue();
  }

  @Test
  void streamThatAnotherTookOverIsToldAndEnded() {
    // Given
    Attached attached = open();
    // When
    attached.listener().onSuperseded();
    // Then
    assertThat(client.next().getGoingAway().getReason()).isEqualTo("resumed on another stream");
    assertThat(client.end().isOk()).isTrue();
  }

  @Test
  void halfCloseWaitsForAnswersAndKeepsTheLease() {
    // Given
    Attached attached = open();
    requests.onNext(keepAlive(1));
    var pending = server.coordinator.keepAlives.next();
    // When
    requests.onCompleted();
    pending.answer().complete(new Answer.LeaseRenewed(1));
    // Then
    assertThat(client.next().hasKeptAlive()).isTrue();
    assertThat(client.end().isOk()).isTrue();
    assertThat(attached.detached().next()).isEqualTo("detached");
    assertThat(server.coordinator.closeLeases.isEmpty()).isTrue();
  }

  @Test
  void cancelDetachesAndEndsTheWatches() {
    // Given
    Attached attached = open();
    requests.onNext(watching("w-1"));
    var watch = server.coordinator.watches.next();
    // When
    client.cancel();
    // Then
    assertThat(attached.detached().next()).isEqualTo("detached");
    assertThat(watch.closed().next()).isEqualTo("closed");
    attached.listener().onNotice("req-1", 1, Views.granted());
    await().until(() -> server.services.openStreams() == 0);
  }

  @Test
  void endpointThatStopsSaysWhenToResume() {
    // Given
    Attached attached = open();
    // When
    server.services.goAway("coordinator c-1 is stopping");
    // Then
    var goingAway = client.next().getGoingAway();
    assertThat(goingAway.getReason()).isEqualTo("coordinator c-1 is stopping");
    assertThat(goingAway.getResumeAfter()).isEqualTo(Durations.ofNanos(1_500_000_000L));
    assertThat(client.end().isOk()).isTrue();
    assertThat(attached.detached().next()).isEqualTo("detached");
  }

  @Test
  void clientWithTooManyUnansweredRequestsIsNotReadFrom() {
    // Given: the limit is 4
    Attached attached = open();
    for (int i = 1; i <= 20; i++) {
      requests.onNext(acquiring("req-" + i));
    }
    for (int i = 1; i <= 4; i++) {
      attached.acquires().next();
    }
    assertThat(attached.acquires().isEmpty()).isTrue();
    // When
    attached.listener().onNotice("req-2", 1, Views.queued());
    // Then
    assertThat(attached.acquires().next().requestId()).isEqualTo("req-5");
    assertThat(attached.acquires().isEmpty()).isTrue();
  }

  @Test
  void repeatedRequestThatIsUnansweredTakesNoFurtherPlaceInTheWindow() {
    // Given
    Attached attached = open();
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
    open();
    requests.onNext(watching("w-1"));
    var watch = server.coordinator.watches.next();
    // When
    watch.listener().onSnapshotEnd(5);
    // Then
    var watched = client.next().getWatched();
    assertThat(watched.getWatchId()).isEqualTo("w-1");
    assertThat(watched.getEvent().hasSnapshotEnd()).isTrue();
    requests.onNext(
        SessionRequest.newBuilder()
            .setUnwatch(io.lockkeeper.v1.Unwatch.newBuilder().setWatchId("w-1"))
            .build());
    assertThat(watch.closed().next()).isEqualTo("closed");
  }

  @Test
  void watchesAreCappedAndTheirIdsAreUnique() {
    // Given: the limit is 2
    open();
    requests.onNext(watching("w-1"));
    requests.onNext(watching("w-1"));
    requests.onNext(watching(""));
    requests.onNext(watching("w-2"));
    requests.onNext(watching("w-3"));
    // Then
    assertThat(client.next().getRefused().getField()).isEqualTo("watch.watch_id");
    assertThat(client.next().getRefused().getField()).isEqualTo("watch.watch_id");
    Refused third = client.next().getRefused();
    assertThat(third.getId()).isEqualTo("w-3");
    assertThat(third.getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED.value());
  }

  @Test
  void watchThatTheCoordinatorRefusesFreesItsId() {
    // Given
    open();
    requests.onNext(watching("w-1"));
    // When
    server.coordinator.watches.next().listener().onRefused(Views.refused(Kind.TOO_MANY));
    // Then
    assertThat(client.next().getRefused().getId()).isEqualTo("w-1");
    requests.onNext(watching("w-1"));
    assertThat(server.coordinator.watches.next().startRevision()).isZero();
  }

  @Test
  void unwatchOfNothingIsRefused() {
    // Given
    open();
    // When
    requests.onNext(
        SessionRequest.newBuilder()
            .setUnwatch(io.lockkeeper.v1.Unwatch.newBuilder().setWatchId("w-9"))
            .build());
    // Then
    Refused refused = client.next().getRefused();
    assertThat(refused.getCode()).isEqualTo(Code.NOT_FOUND.value());
    assertThat(refused.getField()).isEqualTo("unwatch.watch_id");
  }

  @Test
  void clientThatNeverOpensIsNotWaitedForLong() {
    try (InProcess hasty = new InProcess(InProcess.limits(Duration.ofMillis(30)))) {
      // Given
      Received<SessionRequest, SessionResponse> silent = Received.all();
      // When
      hasty.locks().session(silent);
      // Then
      var end = silent.end();
      assertThat(end.getCode()).isEqualTo(Code.INVALID_ARGUMENT);
      assertThat(end.getDescription()).startsWith("open: must be sent within");
    }
  }

  @Test
  void clientThatDoesNotReadIsCutOffAndTheLeaseLivesOn() {
    // Given
    Received<SessionRequest, SessionResponse> deaf = Received.nothing();
    server.locks().session(deaf).onNext(resuming());
    Attached attached = server.coordinator.attaches.next();
    attached.attached().complete(Views.attached());
    // When
    for (int i = 1; i <= 1_000; i++) {
      attached.listener().onNotice("req-" + i, 1, Views.queued());
    }
    // Then
    assertThat(attached.detached().next()).isEqualTo("detached");
    deaf.read(2_000);
    assertThat(deaf.end().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
    assertThat(server.coordinator.closeLeases.isEmpty()).isTrue();
  }

  private static SessionRequest watching(String id) {
    return SessionRequest.newBuilder()
        .setWatch(WatchRequest.newBuilder().setWatchId(id).setPrefix("orders"))
        .build();
  }
}
