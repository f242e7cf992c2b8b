package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.GetLeaseResponse;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.RenewLeaseRequest;
import io.lockkeeper.v1.RenewLeaseResponse;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.UpdateMetadataRequest;
import java.time.Duration;
import java.util.UUID;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Two servers on one ZooKeeper: leases live at one, their clients talk to the other. */
final class ForwardingIT {

  @AutoClose private static final ServerProcess ownerServer = Rig.server("/forwarding");
  @AutoClose private static final ServerProcess wrongServer = Rig.server("/forwarding");
  private static final ManagedChannel owner = ownerServer.connect();
  private static final ManagedChannel wrong = wrongServer.connect();

  private static OpenLeaseResponse openLease() {
    return LeaseServiceGrpc.newBlockingStub(owner).openLease(OpenLeaseRequest.getDefaultInstance());
  }

  private static AcquireRequest acquiring(OpenLeaseResponse lease, String lock) {
    return Asking.under(lease.getLeaseId(), "r-1", lock);
  }

  @Test
  void everyUnaryCallWorksAtTheWrongServer() {
    // Given
    OpenLeaseResponse lease = openLease();
    Asking.with(owner, acquiring(lease, "forward/unary")).awaitGrant();
    LockServiceGrpc.LockServiceBlockingStub locks = LockServiceGrpc.newBlockingStub(wrong);
    LeaseServiceGrpc.LeaseServiceBlockingStub leases = LeaseServiceGrpc.newBlockingStub(wrong);
    // When
    GetLeaseResponse shown =
        leases.getLease(GetLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build());
    var updated =
        locks.updateMetadata(
            UpdateMetadataRequest.newBuilder()
                .setLeaseId(lease.getLeaseId())
                .setRequestId("r-1")
                .putMetadata("step", "2")
                .build());
    var answered =
        locks.answerRelease(
            AnswerReleaseRequest.newBuilder()
                .setLeaseId(lease.getLeaseId())
                .setRequestId("r-1")
                .setNeeds(com.google.protobuf.util.Durations.fromSeconds(1))
                .build());
    var released =
        locks.release(
            ReleaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).setRequestId("r-1").build());
    var closed =
        leases.closeLease(CloseLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build());
    // Then
    assertThat(shown.getLease().getAcquisitions(0).getHeld()).isTrue();
    assertThat(updated).isNotNull();
    assertThat(answered).isNotNull();
    assertThat(released.getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(closed.getAlreadyEnded()).isFalse();
  }

  @Test
  void lockIsAcquiredAndReleasedAtTheWrongServer() {
    // Given
    OpenLeaseResponse lease = openLease();
    Asking holder = Asking.forLock(owner, "forward/acquire");
    long before = holder.awaitToken();
    // When
    Asking waiter = Asking.with(wrong, acquiring(lease, "forward/acquire"));
    waiter.await(EventCase.QUEUED);
    holder.hangUp();
    // Then
    assertThat(waiter.awaitToken()).isGreaterThan(before);
    assertThat(waiter.release().getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(waiter.awaitEnd().isOk()).isTrue();
  }

  @Test
  void waiterThatHangsUpAtTheWrongServerLeavesTheQueue() {
    // Given
    OpenLeaseResponse lease = openLease();
    Asking holder = Asking.forLock(owner, "forward/hang-up");
    holder.awaitGrant();
    Asking waiter = Asking.with(wrong, acquiring(lease, "forward/hang-up"));
    waiter.await(EventCase.QUEUED);
    Asking next = Asking.forLock(owner, "forward/hang-up");
    next.await(EventCase.QUEUED);
    // When
    waiter.hangUp();
    holder.hangUp();
    // Then: not the one before it, whose place is kept for some seconds only
    next.awaitGrant();
  }

  @Test
  void streamBoundLockIsReleasedThroughTheWrongServer() {
    // Given
    Asking holder = Asking.forLock(owner, "forward/stream");
    holder.awaitGrant();
    // When
    ReleaseOutcome outcome = holder.release(wrong).getOutcome();
    // Then
    assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(holder.awaitEnd().isOk()).isTrue();
  }

  @Test
  void openingWithTheSameSecretReturnsTheSameLeaseThroughTheWrongServer() {
    // Given
    OpenLeaseRequest request =
        OpenLeaseRequest.newBuilder()
            .setLeaseSecret(UUID.randomUUID() + "-" + UUID.randomUUID())
            .build();
    OpenLeaseResponse first = LeaseServiceGrpc.newBlockingStub(owner).openLease(request);
    // When
    OpenLeaseResponse again = LeaseServiceGrpc.newBlockingStub(wrong).openLease(request);
    // Then
    assertThat(again.getLeaseId()).isEqualTo(first.getLeaseId());
    assertThat(again.getCoordinatorId()).isEqualTo(first.getCoordinatorId());
  }

  @Test
  void leaseIsRenewedThroughTheWrongServer() {
    // Given
    OpenLeaseResponse lease = openLease();
    // When
    RenewLeaseResponse renewed =
        LeaseServiceGrpc.newBlockingStub(wrong)
            .renewLease(RenewLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build());
    // Then
    assertThat(renewed.hasValidFor()).isTrue();
    assertThat(renewed.getEpoch()).isEqualTo(lease.getEpoch());
    assertThat(renewed.getCoordinatorId()).isEqualTo(lease.getCoordinatorId());
  }

  @Test
  void sessionIsResumedThroughTheWrongServerAndGoesOnThere() {
    // Given
    SessionStream first = SessionStream.open(owner, Duration.ofSeconds(30));
    SessionOpened opened = first.awaitOpened();
    first.acquire("forward/session", "held");
    first.await("held", EventCase.GRANTED);
    // When
    SessionStream resumed = first.resume(wrong);
    // Then
    assertThat(resumed.awaitOpened().getLeaseTag()).isEqualTo(opened.getLeaseTag());
    resumed.await("held", EventCase.GRANTED);
    first.await("goodbye of the first stream", response -> response.hasGoingAway());
    resumed.keepAliveAnswered(7);
    resumed.acquire("forward/session-2", "more");
    resumed.await("more", EventCase.GRANTED);
    resumed.release("held");
    resumed.await("release", response -> response.hasReleased());
    resumed.close();
    resumed.await("end", response -> response.hasLeaseEnded());
    assertThat(resumed.responses().awaitEnd().isOk()).isTrue();
  }

  @Test
  void wrongSecretIsWrongAtTheWrongServerToo() {
    // Given
    SessionStream first = SessionStream.open(owner, Duration.ofSeconds(30));
    // When
    SessionStream thief =
        SessionStream.with(
            wrong,
            io.lockkeeper.v1.OpenSession.newBuilder()
                .setLeaseId(first.awaitOpened().getLeaseId())
                .setLeaseSecret("guess")
                .build());
    // Then
    assertThat(thief.responses().awaitEnd().getCode()).isEqualTo(Code.FAILED_PRECONDITION);
  }

  @Test
  void leaseThatNeverWasIsNotFoundAnywhere() {
    // When: a coordinator that cannot look at ZooKeeper at once answers UNAVAILABLE
    Code code = await().until(ForwardingIT::askForUnknownLease, any -> any != Code.UNAVAILABLE);
    // Then
    assertThat(code).isEqualTo(Code.NOT_FOUND);
  }

  private static Code askForUnknownLease() {
    GetLeaseRequest unknown = GetLeaseRequest.newBuilder().setLeaseId("f".repeat(32)).build();
    return Assertions.catchThrowableOfType(
            StatusRuntimeException.class,
            () -> LeaseServiceGrpc.newBlockingStub(wrong).getLease(unknown))
        .getStatus()
        .getCode();
  }
}
