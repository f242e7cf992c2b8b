package io.lockkeeper.integration.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests for another kind of lock than the one that Curator uses in the same directory. */
final class CuratorKindsIT {

  private final Neighbourhood here = Neighbourhood.shared();

  @ParameterizedTest
  @CsvSource({
    "MUTEX, READ, MUTEX",
    "MUTEX, WRITE, MUTEX",
    "MUTEX, PERMITS, MUTEX",
    "READ, EXCLUSIVE, READ_WRITE",
    "WRITE, EXCLUSIVE, READ_WRITE",
    "READ, PERMITS, READ_WRITE",
  })
  void requestForAnotherKindIsRefusedByTheNameOfTheKindInUse(
      Recipe theirs, String ours, String named) {
    // Given
    String lock = "kind-" + theirs + "-" + ours;
    Hand billing = here.peer("billing").hand("kinds");
    billing.acquire(theirs, Neighbourhood.path(lock));
    Awaitility.await("the server knows of it").until(() -> here.lock(lock).getHoldersCount() == 1);

    // When
    Status end = Asking.with(here.channel(), request(lock, ours)).awaitEnd();

    // Then
    assertThat(end.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
    assertThat(end.getDescription()).contains(named);
    assertThat(here.znodes().entries(lock)).hasSize(1);
    billing.release(theirs, Neighbourhood.path(lock));
  }

  private static AcquireRequest request(String lock, String mode) {
    LockRequest.Builder request =
        LockRequest.newBuilder().setName(lock).setMode(LockMode.valueOf("LOCK_MODE_" + mode));
    if (request.getMode() == LockMode.LOCK_MODE_PERMITS) {
      request.setPermits(1).setLimit(3);
    }
    return AcquireRequest.newBuilder().addLocks(request).build();
  }
}
