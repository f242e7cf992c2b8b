package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.lockkeeper.integration.failover.Cluster;
import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LeaseState;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.RenewLeaseRequest;
import io.lockkeeper.v1.RenewLeaseResponse;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls to a coordinator that forwards them, when the owner of their leases goes. */
final class OwnerGoneIT {

  @RegisterExtension private static final Cluster cluster = Cluster.shared(Plan.quick(2));

  private final ManagedChannel owner = cluster.connect(0);
  private final ManagedChannel wrong = cluster.connect(1);

  private OpenLeaseResponse openLease() {
    return LeaseServiceGrpc.newBlockingStub(owner).openLease(OpenLeaseRequest.getDefaultInstance());
  }

  private static AcquireRequest acquiring(OpenLeaseResponse lease, String lock) {
    return Asking.under(lease.getLeaseId(), "r-1", lock);
  }

  private LeaseState show(OpenLeaseResponse lease) {
    return LeaseServiceGrpc.newBlockingStub(wrong)
        .withDeadlineAfter(1, TimeUnit.MINUTES)
        .getLease(GetLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build())
        .getLease();
  }

  @TestFactory
  List<DynamicTest> callsGoOnThoughTheOwnerIsKilled() {
    // Given
    List<DynamicTest> cases =
        List.of(
            unaryCallIsAnswered(),
            leaseIsRenewed(),
            sessionIsSentAwayAndResumesWhereItIs(),
            waiterIsToldToComeAgainAndFindsItsPlace());

    // When
    cluster.seat(0).kill();

    // Then
    return cases;
  }

  private DynamicTest unaryCallIsAnswered() {
    OpenLeaseResponse lease = openLease();
    Asking.with(owner, acquiring(lease, "gone/unary")).awaitGrant();
    show(lease);
    return dynamicTest(
        "unary call is answered",
        () -> assertThat(show(lease).getAcquisitions(0).getLocksList()).hasSize(1));
  }

  private RenewLeaseResponse renew(OpenLeaseResponse lease) {
    return LeaseServiceGrpc.newBlockingStub(wrong)
        .withDeadlineAfter(1, TimeUnit.MINUTES)
        .renewLease(RenewLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build());
  }

  private DynamicTest leaseIsRenewed() {
    OpenLeaseResponse lease = openLease();
    RenewLeaseResponse first = renew(lease);
    return dynamicTest(
        "lease is renewed",
        () -> assertThat(renew(lease).getEpoch()).isGreaterThan(first.getEpoch()));
  }

  private DynamicTest sessionIsSentAwayAndResumesWhereItIs() {
    SessionStream first = SessionStream.open(owner, Duration.ofSeconds(30));
    first.awaitOpened();
    first.acquire("gone/session", "held");
    first.await("held", EventCase.GRANTED);
    SessionStream forwarded = first.resume(wrong);
    forwarded.await("held", EventCase.GRANTED);
    return dynamicTest(
        "session is sent away and resumes where it is",
        () -> {
          forwarded.await("goodbye", SessionResponse::hasGoingAway);
          first.resume(wrong).await("held", EventCase.GRANTED);
          assertThat(forwarded.responses().awaitEnd().isOk()).isTrue();
        });
  }

  private DynamicTest waiterIsToldToComeAgainAndFindsItsPlace() {
    OpenLeaseResponse lease = openLease();
    Asking holder = Asking.forLock(wrong, "gone/waiter");
    holder.awaitGrant();
    Asking waiter = Asking.with(wrong, acquiring(lease, "gone/waiter"));
    waiter.await(EventCase.QUEUED);
    return dynamicTest(
        "waiter is told to come again and finds its place",
        () -> {
          assertThat(waiter.awaitEnd().getCode()).isEqualTo(Code.UNAVAILABLE);
          Asking again = Asking.with(wrong, acquiring(lease, "gone/waiter"));
          again.await(EventCase.QUEUED);
          holder.hangUp();
          again.awaitGrant();
        });
  }

  @Test
  void unaryCallIsAnsweredThoughTheOwnerStandsStill() {
    // Given
    OpenLeaseResponse lease = openLease();
    Asking.with(owner, acquiring(lease, "gone/paused")).awaitGrant();
    show(lease);

    // When
    cluster.seat(0).process().pause();
    LeaseState shown = show(lease);

    // Then
    assertThat(shown.getAcquisitions(0).getLocksList()).hasSize(1);
    cluster.seat(0).process().resume();
    assertThat(show(lease).getAcquisitions(0).getLocksList()).hasSize(1);
  }
}
