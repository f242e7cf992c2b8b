package io.lockkeeper.client.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.KeepAliveRequest;
import io.lockkeeper.v1.KeepAliveResponse;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.ListLeasesRequest;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.PreviousEnd;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The in-memory server as clients in other languages would see it: bare stubs. */
class InMemoryLockkeeperTest extends OnInMemoryServer {

  private static AcquireRequest.Builder wanted() {
    return AcquireRequest.newBuilder().addLocks(LockRequest.newBuilder().setName(LOCK));
  }

  private OpenLeaseResponse open() {
    return leases.openLease(OpenLeaseRequest.newBuilder().setHolder("tester").build());
  }

  @Test
  void lockOfAStreamIsFreeWhenTheStreamIsHungUp() {
    // Given
    Heard<AcquireResponse> first = new Heard<>();
    Context.CancellableContext call = Context.current().withCancellation();
    call.run(() -> LockServiceGrpc.newStub(channel).acquire(wanted().build(), first));
    clock.settle();
    Heard<AcquireResponse> second = acquire(wanted());
    // When
    call.cancel(null);
    clock.settle();
    // Then
    assertThat(first.messages).singleElement().matches(AcquireResponse::hasGranted);
    assertThat(second.messages).hasSize(2);
    assertThat(second.messages.get(0).getQueued().getPositions(0).getAhead()).isEqualTo(1);
    assertThat(second.messages.get(1).getSequence()).isEqualTo(2);
    assertThat(second.messages.get(1).getGranted().getGrants(0).getPreviousEnd())
        .isEqualTo(PreviousEnd.PREVIOUS_END_LEASE_EXPIRED);
  }

  @Test
  void sameRequestUnderALeaseFindsItsGrantAgain() {
    // Given
    AcquireRequest.Builder request = wanted().setLeaseId(open().getLeaseId()).setRequestId("mine");
    Heard<AcquireResponse> first = acquire(request);
    // When
    Heard<AcquireResponse> again = acquire(request);
    Heard<AcquireResponse> other =
        acquire(request.clone().setLocks(0, LockRequest.newBuilder().setName(OTHER)));
    // Then
    assertThat(again.messages).isEqualTo(first.messages).hasSize(1);
    assertThat(other.ends)
        .singleElement()
        .extracting(Status::getCode)
        .isEqualTo(Status.Code.FAILED_PRECONDITION);
  }

  @Test
  void sameRequestOnAnotherStreamTakesTheEventsOver() {
    // Given
    acquire(wanted());
    AcquireRequest.Builder request = wanted().setLeaseId(open().getLeaseId()).setRequestId("mine");
    Heard<AcquireResponse> first = acquire(request);
    // When
    Heard<AcquireResponse> second = acquire(request);
    // Then
    assertThat(first.ends)
        .singleElement()
        .extracting(Status::getCode)
        .isEqualTo(Status.Code.ABORTED);
    assertThat(second.messages).isEqualTo(first.messages);
    assertThat(second.ends).isEmpty();
  }

  @Test
  void waiterUnderALeaseWhoseStreamIsHungUpKeepsItsPlaceForAMoment() {
    // Given
    AcquireRequest.Builder holder = wanted().setLeaseId(lease()).setRequestId("holder");
    acquire(holder);
    Heard<AcquireResponse> heard = new Heard<>();
    AcquireRequest.Builder request = wanted().setLeaseId(lease()).setRequestId("mine");
    Context.CancellableContext call = Context.current().withCancellation();
    call.run(() -> LockServiceGrpc.newStub(channel).acquire(request.build(), heard));
    clock.settle();
    // When
    call.cancel(null);
    pass(4_999);
    int waitersBefore = state(LOCK).getQueueLength();
    pass(1);
    // Then
    assertThat(waitersBefore).isEqualTo(1);
    assertThat(state(LOCK).getQueueLength()).isZero();
    assertThat(acquire(request).last().hasNotAcquired()).isTrue();
  }

  @Test
  void grantThatNobodyHeardIsGivenBackAfterAMoment() {
    // Given
    AcquireRequest.Builder holder = wanted().setLeaseId(lease()).setRequestId("holder");
    acquire(holder);
    AcquireRequest.Builder request = wanted().setLeaseId(lease()).setRequestId("mine");
    Context.CancellableContext call = Context.current().withCancellation();
    call.run(() -> LockServiceGrpc.newStub(channel).acquire(request.build(), new Heard<>()));
    clock.settle();
    call.cancel(null);
    pass(1_000);
    // When
    release(holder);
    int holdersBefore = state(LOCK).getHoldersCount();
    pass(4_000);
    // Then
    assertThat(holdersBefore).isEqualTo(1);
    assertThat(state(LOCK).getHoldersCount()).isZero();
  }

  @Test
  void releaseByAStrangerChangesNothing() {
    // Given
    String lease = open().getLeaseId();
    acquire(wanted().setLeaseId(lease).setRequestId("mine"));
    ReleaseRequest mine =
        ReleaseRequest.newBuilder().setLeaseId(lease).setRequestId("mine").build();
    // When // Then
    assertThatThrownBy(() -> locks.release(mine.toBuilder().setFencingToken(999).build()))
        .hasMessageContaining("FAILED_PRECONDITION");
    assertThatThrownBy(() -> locks.release(mine.toBuilder().setRequestId("other").build()))
        .hasMessageContaining("NOT_FOUND");
    assertThatThrownBy(() -> locks.release(mine.toBuilder().setLeaseId("0".repeat(32)).build()))
        .hasMessageContaining("NOT_FOUND");
    assertThat(server.holderToken(LOCK)).isPresent();
    assertThat(locks.release(mine).getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(locks.release(mine).getOutcome())
        .isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED);
  }

  @Test
  void leaseLivesByKeepAlivesAndIsNeverRevived() {
    // Given
    OpenLeaseResponse lease = open();
    Heard<KeepAliveResponse> heard = new Heard<>();
    StreamObserver<KeepAliveRequest> keepAlives =
        LeaseServiceGrpc.newStub(channel).keepAlive(heard);
    KeepAliveRequest renew = KeepAliveRequest.newBuilder().setLeaseId(lease.getLeaseId()).build();
    // When
    clock.advance(Duration.ofSeconds(14));
    keepAlives.onNext(renew);
    clock.advance(Duration.ofSeconds(14));
    int aliveBefore = server.leaseCount();
    clock.advance(Duration.ofSeconds(1));
    keepAlives.onNext(renew);
    keepAlives.onNext(KeepAliveRequest.newBuilder().setLeaseId("0".repeat(32)).build());
    clock.settle();
    // Then
    assertThat(aliveBefore).isEqualTo(1);
    assertThat(server.leaseCount()).isZero();
    assertThat(heard.messages).hasSize(3);
    assertThat(heard.messages.get(0).getValidFor().getSeconds()).isEqualTo(15);
    assertThat(heard.messages.get(1).getEnded()).isEqualTo(LeaseEndReason.LEASE_END_REASON_EXPIRED);
    assertThat(heard.messages.get(2).getEnded())
        .isEqualTo(LeaseEndReason.LEASE_END_REASON_UNSPECIFIED);
  }

  @Test
  void leasesAreShownByTagAndClosedOnce() {
    // Given
    OpenLeaseResponse lease = open();
    open();
    acquire(wanted().setLeaseId(lease.getLeaseId()).setRequestId("mine"));
    GetLeaseRequest get = GetLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build();
    CloseLeaseRequest close = CloseLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build();
    // When
    var shown = leases.getLease(get).getLease();
    var firstPage = leases.listLeases(ListLeasesRequest.newBuilder().setPageSize(1).build());
    boolean first = leases.closeLease(close).getAlreadyEnded();
    boolean second = leases.closeLease(close).getAlreadyEnded();
    // Then
    assertThat(shown.getLeaseTag()).isEqualTo(lease.getLeaseTag());
    assertThat(shown.getAcquisitions(0).getHeld()).isTrue();
    assertThat(firstPage.getLeasesCount()).isEqualTo(1);
    assertThat(firstPage.getNextPageToken()).isNotEmpty();
    assertThat(first).isFalse();
    assertThat(second).isTrue();
    assertThat(server.holderToken(LOCK)).isEmpty();
    assertThatThrownBy(() -> leases.getLease(get)).hasMessageContaining("NOT_FOUND");
  }

  @Test
  void watchResumesAfterTheRevisionItHasSeen() {
    // Given
    Heard<WatchResponse> first = new Heard<>();
    LockServiceGrpc.newStub(channel).watch(WatchRequest.getDefaultInstance(), first);
    acquire(wanted());
    long seen = first.messages.get(first.messages.size() - 1).getRevision();
    acquire(wanted());
    // When
    Heard<WatchResponse> resumed = new Heard<>();
    LockServiceGrpc.newStub(channel)
        .watch(WatchRequest.newBuilder().setStartRevision(seen).build(), resumed);
    Heard<WatchResponse> ahead = new Heard<>();
    LockServiceGrpc.newStub(channel)
        .watch(WatchRequest.newBuilder().setStartRevision(seen + 1_000).build(), ahead);
    clock.settle();
    // Then
    assertThat(first.messages)
        .extracting(m -> m.getEventCase().name())
        .containsExactly("SNAPSHOT_END", "CHANGE", "CHANGE");
    assertThat(resumed.messages).isEqualTo(first.messages.subList(2, 3));
    assertThat(ahead.messages)
        .extracting(m -> m.getEventCase().name())
        .containsExactly("GAP", "SNAPSHOT", "SNAPSHOT_END");
  }

  @Test
  void whatIsNotOfferedSaysSo() {
    // Given
    FreezeRequest freeze = FreezeRequest.newBuilder().setPrefix("orders/").build();
    // When // Then
    assertThatThrownBy(() -> admin.freeze(freeze)).hasMessageContaining("UNIMPLEMENTED");
  }

  @Test
  void sessionMustBeginWithOpenAndTheRightSecret() {
    // Given
    OpenLeaseResponse lease = open();
    Heard<SessionResponse> early = new Heard<>();
    Heard<SessionResponse> stranger = new Heard<>();
    SessionRequest.Builder resume = SessionRequest.newBuilder();
    resume.getOpenBuilder().setLeaseId(lease.getLeaseId()).setLeaseSecret("guessed");
    // When
    LockServiceGrpc.newStub(channel).session(early).onNext(SessionRequest.getDefaultInstance());
    LockServiceGrpc.newStub(channel).session(stranger).onNext(resume.build());
    clock.settle();
    // Then
    assertThat(early.ends)
        .singleElement()
        .extracting(Status::getCode)
        .isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(stranger.ends)
        .singleElement()
        .extracting(Status::getCode)
        .isEqualTo(Status.Code.FAILED_PRECONDITION);
  }

  @Test
  void refusedCallsAreUnavailableUntilTheyAreTakenAgain() {
    // Given
    server.refuseCalls(true);
    // When // Then
    assertThatThrownBy(this::open)
        .isInstanceOf(StatusRuntimeException.class)
        .hasMessageContaining("UNAVAILABLE");
    server.refuseCalls(false);
    assertThat(open().getLeaseId()).matches("[0-9a-f]{32}");
  }
}
