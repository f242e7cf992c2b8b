package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.integration.harness.Timed;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.KeepAliveRequest;
import io.lockkeeper.v1.KeepAliveResponse;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LeaseState;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Clients of the wrong server, when the right one goes: they never turn to another. */
final class OwnerGoneIT {

  @AutoClose private final Rig rig = Rig.start();
  private final ManagedChannel owner = rig.connect();
  private final ManagedChannel wrong = rig.another().connect();

  private OpenLeaseResponse openLease() {
    return LeaseServiceGrpc.newBlockingStub(owner).openLease(OpenLeaseRequest.getDefaultInstance());
  }

  private static AcquireRequest acquiring(OpenLeaseResponse lease, String lock) {
    return Asking.under(lease.getLeaseId(), "r-1", lock);
  }

  private LeaseState show(OpenLeaseResponse lease) {
    return LeaseServiceGrpc.newBlockingStub(wrong)
        .withDeadlineAfter(20, TimeUnit.SECONDS)
        .getLease(GetLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build())
        .getLease();
  }

  private static void print(String what, long sinceNanos) {
    System.out.printf("%s: %d ms%n", what, (System.nanoTime() - sinceNanos) / 1_000_000);
  }

  @Test
  void unaryCallIsAnsweredThoughTheOwnerHasJustBeenKilled() {
    // Given
    OpenLeaseResponse lease = openLease();
    Asking.with(owner, acquiring(lease, "gone/unary")).awaitGrant();
    show(lease);
    // When
    rig.server().kill();
    long killed = System.nanoTime();
    LeaseState shown = show(lease);
    // Then
    assertThat(shown.getAcquisitions(0).getLocksList()).hasSize(1);
    print("unary call after a kill", killed);
  }

  @Test
  void unaryCallIsAnsweredThoughTheOwnerStandsStill() {
    // Given
    OpenLeaseResponse lease = openLease();
    Asking.with(owner, acquiring(lease, "gone/paused")).awaitGrant();
    show(lease);
    // When
    rig.server().pause();
    long paused = System.nanoTime();
    LeaseState shown = show(lease);
    // Then
    assertThat(shown.getAcquisitions(0).getLocksList()).hasSize(1);
    print("unary call after a standstill", paused);
    // And: it serves on when the owner is back
    rig.server().resume();
    assertThat(show(lease).getAcquisitions(0).getLocksList()).hasSize(1);
  }

  @Test
  void leaseIsKeptAliveThoughTheOwnerHasJustBeenKilled() {
    // Given
    OpenLeaseResponse lease = openLease();
    KeepAliveRequest renewal = KeepAliveRequest.newBuilder().setLeaseId(lease.getLeaseId()).build();
    Timed<KeepAliveRequest, KeepAliveResponse> answers = new Timed<>();
    StreamObserver<KeepAliveRequest> requests = LeaseServiceGrpc.newStub(wrong).keepAlive(answers);
    requests.onNext(renewal);
    answers.await("first renewal", KeepAliveResponse::hasValidFor);
    // When
    rig.server().kill();
    requests.onNext(renewal);
    requests.onCompleted();
    // Then
    assertThat(answers.awaitEnd().isOk()).isTrue();
    assertThat(answers.arrivals()).hasSize(2).allMatch(answer -> answer.value().hasValidFor());
  }

  @Test
  void sessionIsSentAwayAndResumesWhereItIs() {
    // Given
    SessionStream first = SessionStream.open(owner, Duration.ofSeconds(30));
    first.awaitOpened();
    first.acquire("gone/session", "held");
    first.await("held", EventCase.GRANTED);
    SessionStream forwarded = first.resume(wrong);
    forwarded.await("held", EventCase.GRANTED);
    // When
    rig.server().kill();
    long killed = System.nanoTime();
    // Then
    forwarded.await("goodbye", response -> response.hasGoingAway());
    SessionStream resumed =
        SessionStream.with(
            wrong,
            io.lockkeeper.v1.OpenSession.newBuilder()
                .setLeaseId(first.awaitOpened().getLeaseId())
                .setLeaseSecret(first.awaitOpened().getLeaseSecret())
                .build());
    resumed.await("held", EventCase.GRANTED);
    print("session after a kill", killed);
    assertThat(forwarded.responses().awaitEnd().isOk()).isTrue();
  }

  @Test
  void waiterIsToldToComeAgainAndFindsItsPlace() {
    // Given
    OpenLeaseResponse lease = openLease();
    Asking holder = Asking.forLock(wrong, "gone/waiter");
    holder.awaitGrant();
    Asking waiter = Asking.with(wrong, acquiring(lease, "gone/waiter"));
    waiter.await(EventCase.QUEUED);
    // When
    rig.server().kill();
    // Then
    assertThat(waiter.awaitEnd().getCode()).isEqualTo(Code.UNAVAILABLE);
    Asking again = Asking.with(wrong, acquiring(lease, "gone/waiter"));
    again.await(EventCase.QUEUED);
    holder.hangUp();
    again.awaitGrant();
  }
}
