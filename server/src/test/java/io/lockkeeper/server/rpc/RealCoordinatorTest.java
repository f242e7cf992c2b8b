package io.lockkeeper.server.rpc;

import static io.lockkeeper.server.rpc.SessionMessages.acquiring;
import static io.lockkeeper.server.rpc.SessionMessages.closing;
import static io.lockkeeper.server.rpc.SessionMessages.keepAlive;
import static io.lockkeeper.server.rpc.SessionMessages.opening;
import static io.lockkeeper.server.rpc.SessionMessages.watching;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.rpc.wire.ProtoDurations;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ChangeCause;
import io.lockkeeper.v1.CheckTokenRequest;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.ListLocksResponse;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.PreviousEnd;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.Random;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The services on the coordinator itself: what either of them alone cannot show. */
class RealCoordinatorTest {

  @AutoClose private final InProcess server = InProcess.onRealCoordinator();

  private static AcquireRequest request(String lock) {
    return AcquireRequest.newBuilder().addLocks(LockRequest.newBuilder().setName(lock)).build();
  }

  private Received<AcquireRequest, AcquireResponse> acquire(AcquireRequest request) {
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    server.locks().acquire(request, client);
    return client;
  }

  @Test
  void nextInLineIsGrantedWhenTheHolderHangsUp() {
    // Given
    var holder = acquire(request("orders/42"));
    Granted first = holder.next().getGranted();
    var waiter = acquire(request("orders/42"));
    assertThat(waiter.next().getQueued().getPositions(0).getAhead()).isEqualTo(1);
    // When
    holder.cancel();
    // Then
    Granted second = waiter.next().getGranted();
    assertThat(second.getGrants(0).getFencingToken())
        .isGreaterThan(first.getGrants(0).getFencingToken());
    assertThat(second.getGrants(0).getPreviousEnd()).isEqualTo(PreviousEnd.PREVIOUS_END_CANCELLED);
  }

  @Test
  void stormOfCancelledCallsLeavesNothingBehind() {
    // Given
    Random random = new Random(42);
    // When: some are cancelled before they arrive, some while they wait, some when they hold
    for (int i = 0; i < 1_000; i++) {
      Received<AcquireRequest, AcquireResponse> client = Received.all();
      server.locks().acquire(request("lock-" + random.nextInt(5)), client);
      if (random.nextInt(4) == 0) {
        client.next();
      }
      client.cancel();
    }
    // Then
    await()
        .untilAsserted(
            () -> {
              var status = server.status();
              assertThat(status.acquisitions()).isZero();
              assertThat(status.entries()).isZero();
              assertThat(server.services.openStreams()).isZero();
            });
    assertThat(acquire(request("lock-0")).next().hasGranted()).isTrue();
  }

  @Test
  void triedLockThatIsTakenIsAnEventAndNamesItsHolder() {
    // Given
    acquire(request("a").toBuilder().setHolder("shop-1").build()).next();
    // When
    var client =
        acquire(request("a").toBuilder().setWaitTimeout(ProtoDurations.ofNanos(0)).build());
    // Then
    AcquireResponse last = client.next();
    while (!last.hasNotAcquired()) {
      last = client.next();
    }
    assertThat(last.getNotAcquired().getReason().name()).isEqualTo("NOT_ACQUIRED_REASON_TIMED_OUT");
    assertThat(last.getNotAcquired().getHolders(0).getHolder()).isEqualTo("shop-1");
    assertThat(client.end().isOk()).isTrue();
  }

  @Test
  void acquisitionUnderALeaseOutlivesItsCallAndIsFoundAgain() {
    // Given
    OpenLeaseResponse lease = server.leasesNow().openLease(OpenLeaseRequest.getDefaultInstance());
    AcquireRequest request =
        request("a").toBuilder().setLeaseId(lease.getLeaseId()).setRequestId("req-1").build();
    var first = acquire(request);
    long token = first.next().getGranted().getGrants(0).getFencingToken();
    first.cancel();
    await().until(() -> server.services.openStreams() == 0);
    // When
    var again = acquire(request);
    // Then
    assertThat(again.next().getGranted().getGrants(0).getFencingToken()).isEqualTo(token);
    assertThat(
            server
                .locksNow()
                .checkToken(
                    CheckTokenRequest.newBuilder().setName("a").setFencingToken(token).build())
                .getCurrent())
        .isTrue();
    assertThat(
            server
                .locksNow()
                .release(
                    ReleaseRequest.newBuilder()
                        .setLeaseId(lease.getLeaseId())
                        .setRequestId("req-1")
                        .setFencingToken(token)
                        .build())
                .getOutcome())
        .isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(again.next().hasReleased()).isTrue();
    assertThat(again.end().isOk()).isTrue();
  }

  @Test
  void sessionOpensAcquiresIsResumedAndClosed() {
    // Given
    Received<SessionRequest, SessionResponse> first = Received.all();
    StreamObserver<SessionRequest> requests = server.locks().session(first);
    requests.onNext(opening());
    SessionOpened opened = first.next().getOpened();
    requests.onNext(acquiring("req-1"));
    long token = first.next().getEvent().getGranted().getGrants(0).getFencingToken();
    requests.onNext(keepAlive(7));
    assertThat(first.next().getKeptAlive().getNonce()).isEqualTo(7);
    // When
    Received<SessionRequest, SessionResponse> second = Received.all();
    StreamObserver<SessionRequest> resumed = server.locks().session(second);
    resumed.onNext(
        SessionRequest.newBuilder()
            .setOpen(
                OpenSession.newBuilder()
                    .setLeaseId(opened.getLeaseId())
                    .setLeaseSecret(opened.getLeaseSecret()))
            .build());
    // Then
    assertThat(first.next().hasGoingAway()).isTrue();
    assertThat(first.end().isOk()).isTrue();
    assertThat(second.next().getOpened().getResumed()).isTrue();
    var repeated = second.next().getEvent();
    assertThat(repeated.getRequestId()).isEqualTo("req-1");
    assertThat(repeated.getGranted().getGrants(0).getFencingToken()).isEqualTo(token);
    resumed.onNext(closing());
    SessionResponse last = second.next();
    while (!last.hasLeaseEnded()) {
      last = second.next();
    }
    assertThat(second.end().isOk()).isTrue();
    assertThat(lock("orders/42").getHoldersCount()).isZero();
  }

  private io.lockkeeper.v1.LockState lock(String name) {
    return server.locksNow().getLock(GetLockRequest.newBuilder().setName(name).build()).getLock();
  }

  @Test
  void holderOfALeaseStandsForItsAcquisitions() {
    // Given
    Received<SessionRequest, SessionResponse> client = Received.all();
    StreamObserver<SessionRequest> requests = server.locks().session(client);
    requests.onNext(opening());
    client.next();
    // When
    requests.onNext(acquiring("req-1"));
    client.next();
    // Then
    assertThat(lock("orders/42").getHolders(0).getHolder()).isEqualTo("shop-1");
  }

  @Test
  void watchSeesTheSnapshotAndThenChanges() {
    // Given
    acquire(request("orders/1")).next();
    Received<WatchRequest, WatchResponse> client = Received.all();
    server.locks().watch(WatchRequest.newBuilder().setPrefix("orders/").build(), client);
    assertThat(client.next().getSnapshot().getName()).isEqualTo("orders/1");
    assertThat(client.next().hasSnapshotEnd()).isTrue();
    // When
    acquire(request("orders/2")).next();
    // Then
    WatchResponse change = client.next();
    assertThat(change.getChange().getName()).isEqualTo("orders/2");
    assertThat(change.getChange().getCause()).isEqualTo(ChangeCause.CHANGE_CAUSE_GRANTED);
  }

  @Test
  void watchOnASessionSeesTheSessionsOwnLocks() {
    // Given
    Received<SessionRequest, SessionResponse> client = Received.all();
    StreamObserver<SessionRequest> requests = server.locks().session(client);
    requests.onNext(opening());
    client.next();
    requests.onNext(watching("w-1"));
    assertThat(client.next().getWatched().getEvent().hasSnapshotEnd()).isTrue();
    // When
    requests.onNext(acquiring("req-1"));
    // Then
    boolean granted = false;
    boolean watched = false;
    while (!granted || !watched) {
      SessionResponse response = client.next();
      granted |= response.getEvent().hasGranted();
      watched |=
          response.getWatched().getEvent().getChange().getCause()
              == ChangeCause.CHANGE_CAUSE_GRANTED;
    }
    assertThat(granted && watched).isTrue();
  }

  @Test
  void locksAreListedInPagesByName() {
    // Given
    for (String name : new String[] {"c", "a", "b"}) {
      acquire(request(name)).next();
    }
    // When
    ListLocksResponse first =
        server.locksNow().listLocks(ListLocksRequest.newBuilder().setPageSize(2).build());
    ListLocksResponse second =
        server
            .locksNow()
            .listLocks(
                ListLocksRequest.newBuilder()
                    .setPageSize(2)
                    .setPageToken(first.getNextPageToken())
                    .build());
    // Then
    assertThat(first.getLocksList()).extracting("name").containsExactly("a", "b");
    assertThat(second.getLocksList()).extracting("name").containsExactly("c");
    assertThat(second.getNextPageToken()).isEmpty();
  }

  @Test
  void leaseThatWasNeverOpenedIsNotFound() {
    // When
    StatusRuntimeException refused =
        catchThrowableOfType(
            StatusRuntimeException.class,
            () ->
                server
                    .leasesNow()
                    .closeLease(CloseLeaseRequest.newBuilder().setLeaseId("0".repeat(32)).build()));
    // Then
    assertThat(refused.getStatus().getCode()).isEqualTo(Code.NOT_FOUND);
  }

  @Test
  void requestIdOfAnotherRequestIsRefusedAndTheFirstLivesOn() {
    // Given
    Received<SessionRequest, SessionResponse> client = Received.all();
    StreamObserver<SessionRequest> requests = server.locks().session(client);
    requests.onNext(opening());
    client.next();
    requests.onNext(acquiring("req-1"));
    client.next();
    // When
    requests.onNext(
        SessionRequest.newBuilder()
            .setAcquire(request("another").toBuilder().setRequestId("req-1"))
            .build());
    // Then
    var refused = client.next().getRefused();
    assertThat(refused.getAcquire()).isEqualTo("req-1");
    assertThat(refused.getCode()).isEqualTo(Code.FAILED_PRECONDITION.value());
    assertThat(lock("orders/42").getHoldersCount()).isEqualTo(1);
  }
}
