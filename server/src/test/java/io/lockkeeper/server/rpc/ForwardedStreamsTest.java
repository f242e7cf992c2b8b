package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.UnknownFieldSet;
import io.grpc.Status.Code;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.testing.FakeCoordinator.Acquired;
import io.lockkeeper.server.testing.FakeCoordinator.Attached;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Streams at a coordinator that does not serve their lease. */
class ForwardedStreamsTest {

  private static final AcquireRequest ACQUIRE =
      AcquireRequest.newBuilder()
          .setLeaseId(ViewSamples.LEASE.toString())
          .setRequestId("req-1")
          .addLocks(LockRequest.newBuilder().setName("orders/42"))
          .build();

  @AutoClose private final Node here = Node.start("here");
  @AutoClose private final Node there = Node.start("there");

  @BeforeEach
  void hereKnowsThere() {
    here.knows(there);
  }

  private Acquired acquireThere(Received<AcquireRequest, AcquireResponse> client) {
    here.locks().acquire(ACQUIRE, client);
    here.coordinator
        .acquires
        .next()
        .listener()
        .onRefused(ViewSamples.refused(Reason.UNKNOWN_LEASE));
    return there.coordinator.acquires.next();
  }

  /** A session that is resumed through one coordinator at another. */
  private final class Session {
    final Received<SessionRequest, SessionResponse> client;
    final StreamObserver<SessionRequest> requests;
    final Attached attached;

    Session(Received<SessionRequest, SessionResponse> client) {
      this.client = client;
      requests = here.locks().session(client);
      requests.onNext(SessionMessages.resuming());
      refuseAttach(here);
      attached = there.coordinator.attaches.next();
    }

    Session open() {
      attached.attached().complete(ViewSamples.attached());
      client.read(1);
      assertThat(client.next().getOpened().getResumed()).isTrue();
      return this;
    }
  }

  private static void refuseAttach(Node node) {
    node.coordinator
        .attaches
        .next()
        .attached()
        .completeExceptionally(ViewSamples.refused(Reason.UNKNOWN_LEASE));
  }

  @Test
  void eventsOfAnAcquisitionComeThroughToTheLast() {
    // Given
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    Acquired acquired = acquireThere(client);
    // When
    acquired.listener().onNotice("req-1", 1, 1, ViewSamples.queued());
    acquired.listener().onNotice("req-1", 1, 2, ViewSamples.granted());
    acquired.listener().onNotice("req-1", 1, 3, new Notice.Released());
    // Then
    assertThat(acquired.command().requestId()).isEqualTo("req-1");
    assertThat(client.next().hasQueued()).isTrue();
    assertThat(client.next().getGranted().getGrants(0).getFencingToken()).isEqualTo(77);
    assertThat(client.next().hasReleased()).isTrue();
    assertThat(client.end().isOk()).isTrue();
    await().untilAsserted(() -> assertThat(here.services.openStreams()).isZero());
  }

  @Test
  void requestWithoutANameIsOneRequestToEveryPeerThatItIsTriedAt() {
    // Given
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    here.locks().acquire(ACQUIRE.toBuilder().clearRequestId().build(), client);
    here.coordinator
        .acquires
        .next()
        .listener()
        .onRefused(ViewSamples.refused(Reason.UNKNOWN_LEASE));
    Acquired first = there.coordinator.acquires.next();
    // When
    first.listener().onRefused(ViewSamples.refused(Reason.MOVED));
    Acquired second = there.coordinator.acquires.next();
    // Then
    assertThat(first.command().requestId()).isNotEmpty();
    assertThat(second.command().requestId()).isEqualTo(first.command().requestId());
  }

  @Test
  void clientThatHangsUpIsNoticedAtThePeer() {
    // Given
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    Acquired acquired = acquireThere(client);
    acquired.listener().onNotice("req-1", 1, 1, ViewSamples.queued());
    client.next();
    // When
    client.cancel();
    // Then
    assertThat(acquired.closed().next()).isEqualTo("cancelled");
  }

  @Test
  void deadlineOfTheClientEndsTheCallAtThePeer() {
    // Given
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    here.locks().withDeadlineAfter(1, TimeUnit.SECONDS).acquire(ACQUIRE, client);
    here.coordinator
        .acquires
        .next()
        .listener()
        .onRefused(ViewSamples.refused(Reason.UNKNOWN_LEASE));
    // When
    Acquired acquired = there.coordinator.acquires.next();
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.DEADLINE_EXCEEDED);
    assertThat(acquired.closed().next()).isEqualTo("closed");
  }

  @Test
  void acquisitionThatIsServedHereAndMovesIsToldToComeAgain() {
    // Given
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    here.locks().acquire(ACQUIRE, client);
    Acquired acquired = here.coordinator.acquires.next();
    acquired.listener().onNotice("req-1", 1, 1, ViewSamples.queued());
    client.next();
    // When
    acquired.listener().onRefused(ViewSamples.refused(Reason.MOVED));
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.UNAVAILABLE);
    assertThat(here.coordinator.located()).isZero();
  }

  @Test
  void acquisitionAtAPeerThatDiesIsToldToComeAgain() {
    // Given
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    acquireThere(client).listener().onNotice("req-1", 1, 1, ViewSamples.queued());
    client.next();
    // When
    there.die();
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.UNAVAILABLE);
  }

  @Test
  void sessionStreamIsPipedUnchangedBothWays() {
    // Given
    Session session = new Session(Received.all()).open();
    // When
    session.requests.onNext(SessionMessages.acquiring("req-9"));
    session.requests.onNext(SessionMessages.keepAlive(5));
    there.coordinator.keepAlives.next().answer().complete(new Answer.LeaseRenewed(7, 1));
    // Then
    assertThat(session.attached.secret()).isEqualTo("s3cret");
    assertThat(session.attached.acquires().next().requestId()).isEqualTo("req-9");
    assertThat(session.client.next().getKeptAlive().getNonce()).isEqualTo(5);
    // When
    session.attached.listener().onNotice("req-9", 1, 1, ViewSamples.granted());
    // Then
    assertThat(session.client.next().getEvent().getRequestId()).isEqualTo("req-9");
    // When
    session.requests.onCompleted();
    // Then
    assertThat(session.client.end().isOk()).isTrue();
    assertThat(session.attached.detached().next()).isEqualTo("detached");
  }

  @Test
  void batchesAreForwardedBothWays() {
    // Given
    Received<SessionRequest, SessionResponse> client = Received.nothing();
    StreamObserver<SessionRequest> requests = here.locks().session(client);
    requests.onNext(SessionMessages.resumingWithBatches());
    refuseAttach(here);
    Attached attached = there.coordinator.attaches.next();
    // When: what is told while the session opens waits, and so goes together
    attached.listener().onNotice("req-1", 1, 1, ViewSamples.queued());
    attached.listener().onNotice("req-2", 1, 1, ViewSamples.granted());
    attached.attached().complete(ViewSamples.attached());
    client.read(2);
    // Then
    assertThat(client.next().getOpened().getBatches()).isTrue();
    assertThat(client.next().getBatch().getResponsesList())
        .extracting(response -> response.getEvent().getRequestId())
        .containsExactly("req-1", "req-2");
    // When
    requests.onNext(
        SessionMessages.batch(
            SessionMessages.acquiring("req-8"), SessionMessages.acquiring("req-9")));
    // Then
    assertThat(attached.acquires().next().requestId()).isEqualTo("req-8");
    assertThat(attached.acquires().next().requestId()).isEqualTo("req-9");
  }

  @Test
  void fieldsThatThisVersionDoesNotKnowAreForwardedToo() {
    // Given
    AcquireRequest newer =
        ACQUIRE.toBuilder()
            .setUnknownFields(
                UnknownFieldSet.newBuilder()
                    .addField(4_000, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
                    .build())
            .build();
    // When
    AcquireRequest copied =
        io.lockkeeper.v1.LockServiceGrpc.getAcquireMethod()
            .parseRequest(newer.toByteString().newInput());
    // Then
    assertThat(copied).isEqualTo(newer);
  }

  @Test
  void sessionEndsAsThePeerEndsIt() {
    // Given
    Session session = new Session(Received.all()).open();
    // When
    session.attached.listener().onLeaseEnded(LeaseEnd.EXPIRED, "");
    // Then
    assertThat(session.client.next().getLeaseEnded().getReason())
        .isEqualTo(LeaseEndReason.LEASE_END_REASON_EXPIRED);
    assertThat(session.client.end().isOk()).isTrue();
  }

  @Test
  void sessionThatIsRefusedByThePeerIsRefused() {
    // Given
    Session session = new Session(Received.all());
    // When
    session.attached.attached().completeExceptionally(ViewSamples.refused(Reason.WRONG_SECRET));
    // Then
    assertThat(session.client.end().getCode()).isEqualTo(Code.FAILED_PRECONDITION);
  }

  @Test
  void sessionAtAPeerThatDiesIsSentAway() {
    // Given
    Session session = new Session(Received.all()).open();
    // When
    there.die();
    // Then
    assertThat(session.client.next().getGoingAway().getMessage()).contains("there");
    assertThat(session.client.end().isOk()).isTrue();
    await().untilAsserted(() -> assertThat(here.services.openStreams()).isZero());
  }

  @Test
  void sessionWhosePeerDiesBeforeItIsOpenIsResumedAtTheHeir() {
    // Given
    try (Node heir = Node.start("heir")) {
      Session session = new Session(Received.all());
      // When
      here.knows(heir);
      there.die();
      Attached attached = heir.coordinator.attaches.next();
      attached.attached().complete(ViewSamples.attached());
      // Then
      assertThat(session.client.next().hasOpened()).isTrue();
      session.requests.onNext(SessionMessages.acquiring("req-9"));
      assertThat(attached.acquires().next().requestId()).isEqualTo("req-9");
    }
  }

  @Test
  void requestsThatWereSentBeforeTheSessionIsOpenAreNotLost() {
    // Given
    Received<SessionRequest, SessionResponse> client = Received.all();
    StreamObserver<SessionRequest> requests = here.locks().session(client);
    requests.onNext(SessionMessages.resuming());
    requests.onNext(SessionMessages.acquiring("req-1"));
    requests.onNext(SessionMessages.acquiring("req-2"));
    requests.onCompleted();
    refuseAttach(here);
    refuseAttach(there);
    // When
    Attached attached = there.coordinator.attaches.next();
    attached.attached().complete(ViewSamples.attached());
    // Then
    assertThat(client.next().hasOpened()).isTrue();
    assertThat(attached.acquires().next().requestId()).isEqualTo("req-1");
    assertThat(attached.acquires().next().requestId()).isEqualTo("req-2");
  }

  @Test
  void sessionWhoseLeaseComesHereIsResumedHere() {
    // Given
    here.coordinator.servedBy(new LeaseLocation.Here());
    Received<SessionRequest, SessionResponse> client = Received.all();
    StreamObserver<SessionRequest> requests = here.locks().session(client);
    requests.onNext(SessionMessages.resuming());
    refuseAttach(here);
    // When
    Attached attached = here.coordinator.attaches.next();
    attached.attached().complete(ViewSamples.attached());
    requests.onNext(SessionMessages.acquiring("req-1"));
    // Then
    assertThat(client.next().hasOpened()).isTrue();
    assertThat(attached.acquires().next().requestId()).isEqualTo("req-1");
  }

  @Test
  void stopSendsForwardedSessionsAwayAndTellsWaitingCallsToComeAgain() {
    // Given
    Session session = new Session(Received.all()).open();
    Received<AcquireRequest, AcquireResponse> waiting = Received.all();
    Acquired acquired = acquireThere(waiting);
    // When
    here.services.goAway("stopping");
    // Then
    assertThat(session.client.next().getGoingAway().getMessage()).isEqualTo("stopping");
    assertThat(session.client.end().isOk()).isTrue();
    assertThat(waiting.end().getCode()).isEqualTo(Code.UNAVAILABLE);
    assertThat(session.attached.detached().next()).isEqualTo("detached");
    assertThat(acquired.closed().next()).isEqualTo("cancelled");
  }

  @Test
  void clientThatDoesNotReadIsFeltByThePeerAndNotHeldInMemoryHere() {
    // Given
    Received<SessionRequest, SessionResponse> client = Received.nothing();
    Session session = new Session(client).open();
    // When: as much as only a coordinator that buffers could take
    int sent = 0;
    while (session.attached.detached().isEmpty() && sent < 1_000_000) {
      session.attached.listener().onNotice("req-" + sent, 1, 1, ViewSamples.queued());
      sent++;
    }
    // Then: the peer's own bound ends the stream
    assertThat(session.attached.detached().next()).isEqualTo("detached");
    assertThat(sent).isLessThan(100_000);
    client.read(Integer.MAX_VALUE);
    assertThat(client.end().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
  }
}
