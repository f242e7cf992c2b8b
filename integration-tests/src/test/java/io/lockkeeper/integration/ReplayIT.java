package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.Duration;
import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LeaseServiceGrpc.LeaseServiceBlockingStub;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceBlockingStub;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.RenewLeaseRequest;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests that arrive twice, late, or after a connection has broken. */
@Tag("smoke")
final class ReplayIT {

  private final Rig rig = Rig.shared();
  private final ManagedChannel channel = rig.connect();
  private final LockServiceBlockingStub locks = LockServiceGrpc.newBlockingStub(channel);
  private final LeaseServiceBlockingStub leases = LeaseServiceGrpc.newBlockingStub(channel);
  @AutoClose private final Znodes znodes = Znodes.at(rig.zookeeper().connectString());

  @Test
  void sameAcquireTwiceIsOneEntryAndOneGrant() {
    // Given
    AcquireRequest request = Asking.under(openLease(30), "twice", "replay/twice");

    // When
    long first = Asking.with(channel, request).awaitToken();
    long second = Asking.with(channel, request).awaitToken();

    // Then
    assertThat(second).isEqualTo(first);
    assertThat(znodes.entries("replay/twice")).hasSize(1);
    end(request);
  }

  @Test
  void acquireRepeatedAfterTheConnectionBrokeFindsItsPlace() {
    // Given
    Asking holder = Asking.forLock(channel, "replay/cut");
    holder.awaitGrant();
    AcquireRequest request = Asking.under(openLease(30), "again", "replay/cut");
    try (ByteProxy network = ByteProxy.to(rig.server().port())) {
      Asking first = Asking.with(rig.server().connect(network.port()), request);
      first.await(EventCase.QUEUED);
      network.cut();
      assertThat(first.awaitEnd().isOk()).isFalse();
    }

    // When
    Asking again = Asking.with(channel, request);
    again.await(EventCase.QUEUED);

    // Then
    assertThat(znodes.entries("replay/cut")).hasSize(2);
    holder.release();
    again.awaitGrant();
    end(request);
  }

  @Test
  void sessionResumedAfterTheConnectionBrokeStillHolds() {
    // Given
    ByteProxy network = ByteProxy.to(rig.server().port());
    SessionStream broken =
        SessionStream.open(rig.server().connect(network.port()), java.time.Duration.ofSeconds(30));
    broken.awaitOpened();
    broken.acquire("replay/resume", "held");
    long token = broken.awaitToken("held");

    // When
    network.close();
    broken.responses().awaitEnd();
    SessionStream resumed = broken.resume(channel);

    // Then
    assertThat(resumed.awaitOpened().getResumed()).isTrue();
    assertThat(resumed.awaitToken("held")).isEqualTo(token);
    resumed.close();
    resumed.await("the end", response -> response.hasLeaseEnded());
    assertThat(znodes.entries("replay/resume")).isEmpty();
  }

  @Test
  void oldReleaseRepeatedDoesNotReleaseTheNextHolder() {
    // Given
    String lease = openLease(30);
    long old = Asking.with(channel, Asking.under(lease, "old", "replay/release")).awaitToken();
    ReleaseRequest release =
        ReleaseRequest.newBuilder()
            .setLeaseId(lease)
            .setRequestId("old")
            .setFencingToken(old)
            .build();
    ReleaseOutcome first = locks.release(release).getOutcome();
    Asking next = Asking.forLock(channel, "replay/release");
    long token = next.awaitToken();

    // When
    ReleaseOutcome repeated = locks.release(release).getOutcome();

    // Then
    assertThat(first).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(repeated).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED);
    assertThat(Asking.holderTokens(channel, "replay/release")).containsExactly(token);
    next.hangUp();
  }

  @Test
  void lateRequestsOfAnExpiredLeaseReviveNothing() {
    // Given
    String lease = openLease(5);
    Asking expired = Asking.with(channel, Asking.under(lease, "late", "replay/late"));
    expired.awaitGrant();
    Asking next = Asking.forLock(channel, "replay/late");
    long token = next.awaitToken();

    // When
    Code renewal = codeOfRenewal(lease);
    AcquireRequest again = Asking.under(lease, "late", "replay/late");

    // Then
    assertThat(expired.await(EventCase.LOST).value().getLost().getReason().name())
        .isEqualTo("LOSS_REASON_LEASE_EXPIRED");
    assertThat(renewal).isEqualTo(Code.NOT_FOUND);
    assertThat(Asking.with(channel, again).find(EventCase.GRANTED)).isEmpty();
    assertThatThrownBy(
            () -> leases.getLease(GetLeaseRequest.newBuilder().setLeaseId(lease).build()))
        .isInstanceOf(StatusRuntimeException.class);
    assertThat(Asking.holderTokens(channel, "replay/late")).containsExactly(token);
    next.hangUp();
  }

  private Code codeOfRenewal(String lease) {
    RenewLeaseRequest request = RenewLeaseRequest.newBuilder().setLeaseId(lease).build();
    return catchThrowableOfType(StatusRuntimeException.class, () -> leases.renewLease(request))
        .getStatus()
        .getCode();
  }

  private String openLease(int ttlSeconds) {
    return leases
        .openLease(
            OpenLeaseRequest.newBuilder()
                .setTtl(Duration.newBuilder().setSeconds(ttlSeconds))
                .build())
        .getLeaseId();
  }

  private void end(AcquireRequest request) {
    leases.closeLease(CloseLeaseRequest.newBuilder().setLeaseId(request.getLeaseId()).build());
  }
}
