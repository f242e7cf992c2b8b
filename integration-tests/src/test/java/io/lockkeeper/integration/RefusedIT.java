package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Duration;
import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.AdminServiceGrpc.AdminServiceBlockingStub;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.ForceReleaseResponse;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LeaseServiceGrpc.LeaseServiceBlockingStub;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceBlockingStub;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.UnfreezeRequest;
import io.lockkeeper.v1.UpdateMetadataRequest;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/**
 * What is well-formed and still not granted gets a clear answer, and takes nothing from anybody.
 */
final class RefusedIT {

  private static final String UNKNOWN_LEASE = "0123456789abcdef0123456789abcdef";

  private final ManagedChannel channel = Rig.shared().connect();
  private final LockServiceBlockingStub locks = LockServiceGrpc.newBlockingStub(channel);
  private final LeaseServiceBlockingStub leases = LeaseServiceGrpc.newBlockingStub(channel);
  private final AdminServiceBlockingStub admin = AdminServiceGrpc.newBlockingStub(channel);

  @Test
  void nobodysLockCannotBeTakenAwayAndAStrangersTokenTakesNothing() {
    // Given
    Asking holder = Asking.forLock(channel, "bad/force");
    long token = holder.awaitToken();

    // When
    Code free = refusalOf(() -> force("bad/free", 0)).getStatus().getCode();
    Code stranger = refusalOf(() -> force("bad/force", token + 1)).getStatus().getCode();

    // Then
    assertThat(List.of(free, stranger)).containsOnly(Code.NOT_FOUND);
    assertThat(Asking.holderTokens(channel, "bad/force")).containsExactly(token);
    holder.hangUp();
  }

  private ForceReleaseResponse force(String lock, long token) {
    return admin.forceRelease(
        ForceReleaseRequest.newBuilder().setName(lock).setFencingToken(token).build());
  }

  @Test
  void strangersCannotSpeakForAHolder() {
    // Given
    String lease = leases.openLease(OpenLeaseRequest.getDefaultInstance()).getLeaseId();
    Asking.with(channel, Asking.under(lease, "mine", "bad/voice")).awaitToken();

    // When
    List<Code> refusals =
        List.of(
            describe(UNKNOWN_LEASE, "mine"),
            describe(lease, "never-seen"),
            answer(UNKNOWN_LEASE, "mine"),
            answer(lease, "never-seen"));

    // Then
    assertThat(refusals).containsOnly(Code.NOT_FOUND);
    leases.closeLease(CloseLeaseRequest.newBuilder().setLeaseId(lease).build());
  }

  private Code describe(String lease, String requestId) {
    UpdateMetadataRequest request =
        UpdateMetadataRequest.newBuilder().setLeaseId(lease).setRequestId(requestId).build();
    return decided(() -> locks.updateMetadata(request));
  }

  private Code answer(String lease, String requestId) {
    AnswerReleaseRequest request =
        AnswerReleaseRequest.newBuilder()
            .setLeaseId(lease)
            .setRequestId(requestId)
            .setNeeds(seconds(1))
            .build();
    return decided(() -> locks.answerRelease(request));
  }

  @Test
  void whatOperatorsNameAndIsNotThereIsNotFound() {
    // Given
    UnfreezeRequest thaw = UnfreezeRequest.newBuilder().setPrefix("never/frozen").build();
    AdminServiceCloseLeaseRequest close =
        AdminServiceCloseLeaseRequest.newBuilder().setLease(UNKNOWN_LEASE).build();

    // When
    StatusRuntimeException notFrozen = refusalOf(() -> admin.unfreeze(thaw));
    Code noLease = decided(() -> admin.closeLease(close));

    // Then
    assertThat(notFrozen.getStatus().getCode()).isEqualTo(Code.NOT_FOUND);
    assertThat(notFrozen.getStatus().getDescription()).contains("never/frozen");
    assertThat(noLease).isEqualTo(Code.NOT_FOUND);
  }

  /**
   * While a coordinator that has just left might know the lease, nobody says that it is unknown.
   */
  private static Code decided(ThrowingCallable call) {
    return await()
        .until(() -> refusalOf(call).getStatus().getCode(), code -> code != Code.UNAVAILABLE);
  }

  private static StatusRuntimeException refusalOf(ThrowingCallable call) {
    return catchThrowableOfType(StatusRuntimeException.class, call);
  }

  private static Duration seconds(long seconds) {
    return Duration.newBuilder().setSeconds(seconds).build();
  }
}
