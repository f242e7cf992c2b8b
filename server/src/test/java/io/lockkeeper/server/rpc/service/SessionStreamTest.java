package io.lockkeeper.server.rpc.service;

import static io.lockkeeper.server.rpc.SessionMessages.acquiring;
import static io.lockkeeper.server.rpc.SessionMessages.closing;
import static io.lockkeeper.server.rpc.SessionMessages.keepAlive;
import static io.lockkeeper.server.rpc.SessionMessages.opening;
import static io.lockkeeper.server.rpc.SessionMessages.resuming;
import static io.lockkeeper.server.rpc.SessionMessages.watching;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.Status.Code;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator.OpenedLease;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.rpc.InProcess;
import io.lockkeeper.server.rpc.Received;
import io.lockkeeper.server.rpc.SessionClient;
import io.lockkeeper.server.rpc.wire.ProtoDurations;
import io.lockkeeper.server.testing.FakeCoordinator.Attached;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.GoingAwayReason;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class SessionStreamTest {

  @AutoClose private final SessionClient session = new SessionClient();
  private final InProcess server = session.server;
  private final Received<SessionRequest, SessionResponse> client = session.received;
  private final StreamObserver<SessionRequest> requests = session.requests;

  @Test
  void newLeaseIsOpenedAndItsSecretToldOnce() {
    // When
    requests.onNext(opening());
    var lease = server.coordinator.openLeases.next();
    lease.answer().complete(new OpenedLease(ViewSamples.opened(), "s3cret"));
    Attached attached = server.coordinator.attaches.next();
    attached.attached().complete(ViewSamples.attached());
    // Then
    SessionOpened opened = client.next().getOpened();
    assertThat(lease.what().ttl()).isEqualTo(Duration.ofSeconds(5));
    assertThat(lease.what().holder()).isEqualTo("shop-1");
    assertThat(attached.secret()).isEqualTo("s3cret");
    assertThat(opened.getLeaseId()).isEqualTo(ViewSamples.LEASE.toString());
    assertThat(opened.getLeaseSecret()).isEqualTo("s3cret");
    assertThat(opened.getLeaseTag()).isEqualTo(ViewSamples.LEASE.tag());
    assertThat(opened.getTtl().getSeconds()).isEqualTo(15);
    assertThat(opened.getValidFor().getSeconds()).isEqualTo(14);
    assertThat(opened.getResumed()).isFalse();
  }

  @Test
  void leaseIsResumedAndItsSecretNotToldAgain() {
    // When
    requests.onNext(resuming());
    Attached attached = server.coordinator.attaches.next();
    attached.attached().complete(ViewSamples.attached());
    // Then
    SessionOpened opened = client.next().getOpened();
    assertThat(attached.lease()).isEqualTo(ViewSamples.LEASE);
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
    attached.listener().onNotice("req-1", 1, 3, ViewSamples.granted());
    attached.attached().complete(ViewSamples.attached());
    // Then
    assertThat(client.next().hasOpened()).isTrue();
    SessionResponse event = client.next();
    assertThat(event.getEvent().getSequence()).isEqualTo(3);
    assertThat(event.getEpoch()).isEqualTo(event.getEvent().getEpoch()).isPositive();
  }

  @Test
  void requestsSentBehindOpenWaitForIt() {
    // Given
    requests.onNext(resuming());
    requests.onNext(acquiring("req-1"));
    Attached attached = server.coordinator.attaches.next();
    assertThat(attached.acquires().isEmpty()).isTrue();
    // When
    attached.attached().complete(ViewSamples.attached());
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
            .setOpen(OpenSession.newBuilder().setTtl(ProtoDurations.ofNanos(1)))
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
            .setOpen(OpenSession.newBuilder().setLeaseId(ViewSamples.LEASE.toString()))
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
    attached.attached().completeExceptionally(ViewSamples.refused(Reason.WRONG_SECRET));
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
    lease.answer().complete(new OpenedLease(ViewSamples.opened(), "s3cret"));
    // Then
    assertThat(server.coordinator.closeLeases.next().what()).isEqualTo(ViewSamples.LEASE);
    assertThat(server.coordinator.attaches.isEmpty()).isTrue();
  }

  @Test
  void closeEndsTheLeaseAndThenTheStream() {
    // Given
    Attached attached = session.open();
    // When
    requests.onNext(closing());
    var close = server.coordinator.closeLeases.next();
    attached.listener().onLeaseEnded(LeaseEnd.CLOSED, "");
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
    session.open();
    requests.onNext(closing());
    // When
    server
        .coordinator
        .closeLeases
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.UNAVAILABLE));
    // Then
    assertThat(client.next().getRefused().getCode()).isEqualTo(Code.UNAVAILABLE.value());
    assertThat(client.end().getCode()).isEqualTo(Code.UNAVAILABLE);
  }

  @Test
  void leaseThatEndsEndsTheStream() {
    // Given
    Attached attached = session.open();
    // When
    attached.listener().onLeaseEnded(LeaseEnd.SESSION_LOST, "");
    // Then
    assertThat(client.next().getLeaseEnded().getReason().name())
        .isEqualTo("LEASE_END_REASON_SESSION_LOST");
    assertThat(client.end().isOk()).isTrue();
  }

  @Test
  void streamThatAnotherTookOverIsToldAndEnded() {
    // Given
    Attached attached = session.open();
    // When
    attached.listener().onSuperseded();
    // Then
    assertThat(client.next().getGoingAway().getReason())
        .isEqualTo(GoingAwayReason.GOING_AWAY_REASON_SUPERSEDED);
    assertThat(client.end().isOk()).isTrue();
  }

  @Test
  void halfCloseWaitsForAnswersAndKeepsTheLease() {
    // Given
    Attached attached = session.open();
    requests.onNext(keepAlive(1));
    var pending = server.coordinator.keepAlives.next();
    // When
    requests.onCompleted();
    pending.answer().complete(new Answer.LeaseRenewed(1, 1));
    // Then
    assertThat(client.next().hasKeptAlive()).isTrue();
    assertThat(client.end().isOk()).isTrue();
    assertThat(attached.detached().next()).isEqualTo("detached");
    assertThat(server.coordinator.closeLeases.isEmpty()).isTrue();
  }

  @Test
  void cancelDetachesAndEndsTheWatches() {
    // Given
    Attached attached = session.open();
    requests.onNext(watching("w-1"));
    var watch = server.coordinator.watches.next();
    // When
    client.cancel();
    // Then
    assertThat(attached.detached().next()).isEqualTo("detached");
    assertThat(watch.closed().next()).isEqualTo("closed");
    attached.listener().onNotice("req-1", 1, 1, ViewSamples.granted());
    await().until(() -> server.services.openStreams() == 0);
  }

  @Test
  void endpointThatStopsSaysWhenToResume() {
    // Given
    Attached attached = session.open();
    // When
    server.services.goAway("coordinator c-1 is stopping");
    // Then
    var goingAway = client.next().getGoingAway();
    assertThat(goingAway.getReason()).isEqualTo(GoingAwayReason.GOING_AWAY_REASON_DRAINING);
    assertThat(goingAway.getMessage()).isEqualTo("coordinator c-1 is stopping");
    assertThat(goingAway.getResumeAfter()).isEqualTo(ProtoDurations.ofNanos(1_500_000_000L));
    assertThat(client.end().isOk()).isTrue();
    assertThat(attached.detached().next()).isEqualTo("detached");
  }

  @Test
  void clientThatDoesNotReadIsCutOffAndTheLeaseLivesOn() {
    // Given
    Received<SessionRequest, SessionResponse> deaf = Received.nothing();
    server.locks().session(deaf).onNext(resuming());
    Attached attached = server.coordinator.attaches.next();
    attached.attached().complete(ViewSamples.attached());
    // When
    for (int i = 1; i <= 1_000; i++) {
      attached.listener().onNotice("req-" + i, 1, 1, ViewSamples.queued());
    }
    // Then
    assertThat(attached.detached().next()).isEqualTo("detached");
    deaf.read(2_000);
    assertThat(deaf.end().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
    assertThat(server.coordinator.closeLeases.isEmpty()).isTrue();
  }
}
