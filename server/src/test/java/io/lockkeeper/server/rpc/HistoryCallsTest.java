package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.GetHistoryRequest;
import io.lockkeeper.v1.GetHistoryResponse;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.PastHold;
import io.lockkeeper.v1.PreviousEnd;
import io.lockkeeper.v1.ReleaseRequest;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What a coordinator remembers of the holds that it granted. */
class HistoryCallsTest {

  private static final String LOCK = "orders/42";

  @AutoClose private final InProcess server = InProcess.onRealCoordinator();

  private GetHistoryResponse history(int limit) {
    return server
        .locksNow()
        .getHistory(GetHistoryRequest.newBuilder().setName(LOCK).setLimit(limit).build());
  }

  private Granted hold(
      AcquireRequest.Builder request, Received<AcquireRequest, AcquireResponse> to) {
    server.locks().acquire(request.addLocks(LockRequest.newBuilder().setName(LOCK)).build(), to);
    AcquireResponse first = to.next();
    return (first.hasGranted() ? first : to.next()).getGranted();
  }

  @Test
  void everyHoldIsShownWithHowItEnded() {
    // Given
    String lease = server.leasesNow().openLease(OpenLeaseRequest.getDefaultInstance()).getLeaseId();
    Granted released =
        hold(
            AcquireRequest.newBuilder()
                .setLeaseId(lease)
                .setRequestId("first")
                .setHolder("shop-1")
                .putMetadata("purpose", "stock"),
            Received.all());
    var unused =
        server
            .locksNow()
            .release(ReleaseRequest.newBuilder().setLeaseId(lease).setRequestId("first").build());
    Received<AcquireRequest, AcquireResponse> canceller = Received.all();
    Granted cancelled = hold(AcquireRequest.newBuilder().setHolder("shop-2"), canceller);
    // When
    canceller.cancel();
    await().until(() -> history(0).getHoldsCount() == 2);
    // Then
    List<PastHold> holds = history(0).getHoldsList();
    assertThat(holds)
        .extracting(PastHold::getEnd)
        .containsExactly(PreviousEnd.PREVIOUS_END_CANCELLED, PreviousEnd.PREVIOUS_END_RELEASED);
    assertThat(holds)
        .extracting(hold -> hold.getHolder().getFencingToken())
        .containsExactly(
            cancelled.getGrants(0).getFencingToken(), released.getGrants(0).getFencingToken());
    assertThat(holds.get(1).getHolder().getHolder()).isEqualTo("shop-1");
    assertThat(holds.get(1).getHolder().getMetadataMap()).containsEntry("purpose", "stock");
    assertThat(holds.get(1).getHolder().hasHeldFor()).isTrue();
    assertThat(history(1).getHoldsList())
        .extracting(hold -> hold.getHolder().getHolder())
        .containsExactly("shop-2");
  }

  @Test
  void limitBeyondWhatIsRememberedIsRefused() {
    assertThatThrownBy(() -> history(51)).hasMessageContaining("limit: must be 1 to 50, is 51");
    assertThatThrownBy(() -> history(-1)).hasMessageContaining("limit: must be 1 to 50, is -1");
  }
}
