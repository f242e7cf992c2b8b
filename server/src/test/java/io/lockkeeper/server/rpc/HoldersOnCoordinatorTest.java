package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.server.rpc.wire.ProtoDurations;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.ChangeCause;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.DeadlockCheck;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.PreviousEnd;
import io.lockkeeper.v1.ReleaseRequested;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.UpdateMetadataRequest;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Giving way, being made to, and what holders say, through the services, on the coordinator. */
class HoldersOnCoordinatorTest {

  private static final String LOCK = "orders/42";

  @AutoClose private final InProcess server = InProcess.onRealCoordinator();

  private static AcquireRequest.Builder request(String lock) {
    return AcquireRequest.newBuilder().addLocks(LockRequest.newBuilder().setName(lock));
  }

  private AcquireRequest.Builder underALease(String lock) {
    return request(lock)
        .setLeaseId(
            server.leasesNow().openLease(OpenLeaseRequest.getDefaultInstance()).getLeaseId())
        .setRequestId("req-1");
  }

  private Received<AcquireRequest, AcquireResponse> acquire(AcquireRequest.Builder request) {
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    server.locks().acquire(request.build(), client);
    return client;
  }

  private static Grant granted(AcquireResponse event) {
    assertThat(event.getEventCase()).isEqualTo(AcquireResponse.EventCase.GRANTED);
    return event.getGranted().getGrants(0);
  }

  private LockState lock() {
    return server.locksNow().getLock(GetLockRequest.newBuilder().setName(LOCK).build()).getLock();
  }

  private static RequestReleaseRequest.Builder wish() {
    return RequestReleaseRequest.newBuilder()
        .setName(LOCK)
        .setRequester("bob")
        .setReason("maintenance");
  }

  @Test
  void holderHearsWhoAsksAndItsAnswerIsSeenByAll() {
    // Given
    AcquireRequest.Builder request = underALease(LOCK);
    var holder = acquire(request);
    granted(holder.next());
    var waiter = acquire(request(LOCK));
    assertThat(waiter.next().hasQueued()).isTrue();
    Received<WatchRequest, WatchResponse> watcher = Received.all();
    server.locks().watch(WatchRequest.newBuilder().addNames(LOCK).build(), watcher);
    assertThat(watcher.next().hasSnapshot()).isTrue();
    assertThat(watcher.next().hasSnapshotEnd()).isTrue();
    // When
    List<Contender> asked =
        server
            .locksNow()
            .requestRelease(wish().setDeadline(ProtoDurations.ofNanos(60_000_000_000L)).build())
            .getHoldersList();
    // Then
    ReleaseRequested heard = holder.next().getReleaseRequested();
    assertThat(asked).extracting(Contender::getRequestId).containsExactly("req-1");
    assertThat(heard.getName()).isEqualTo(LOCK);
    assertThat(heard.getRequester()).isEqualTo("bob");
    assertThat(heard.getReason()).isEqualTo("maintenance");
    assertThat(heard.getDeadline().getSeconds()).isBetween(1L, 60L);
    var unused =
        server
            .locksNow()
            .answerRelease(
                AnswerReleaseRequest.newBuilder()
                    .setLeaseId(request.getLeaseId())
                    .setRequestId("req-1")
                    .setNeeds(ProtoDurations.ofNanos(600_000_000_000L))
                    .build());
    assertThat(lock().getHolders(0).getReleaseIn().getSeconds()).isBetween(1L, 600L);
    var change = watcher.next().getChange();
    assertThat(change.getCause()).isEqualTo(ChangeCause.CHANGE_CAUSE_METADATA);
    assertThat(change.getHolders(0).hasReleaseIn()).isTrue();
  }

  @Test
  void wishForALockThatNobodyHoldsNamesNobody() {
    assertThat(server.locksNow().requestRelease(wish().build()).getHoldersCount()).isZero();
  }

  @Test
  void forcedHolderIsToldWhyAndTheNextOneThatItWasForced() {
    // Given
    var holder = acquire(request(LOCK));
    granted(holder.next());
    var waiter = acquire(request(LOCK));
    assertThat(waiter.next().hasQueued()).isTrue();
    // When
    int released =
        server
            .admin()
            .forceRelease(ForceReleaseRequest.newBuilder().setName(LOCK).setReason("stuck").build())
            .getReleased();
    // Then
    AcquireResponse last = holder.next();
    assertThat(released).isEqualTo(1);
    assertThat(last.getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_FORCED);
    assertThat(last.getLost().getMessage()).contains("stuck");
    assertThat(holder.end().isOk()).isTrue();
    assertThat(granted(waiter.next()).getPreviousEnd()).isEqualTo(PreviousEnd.PREVIOUS_END_FORCED);
  }

  @Test
  void holderHasTheGraceToGiveWayByItself() {
    // Given
    var holder = acquire(request(LOCK));
    granted(holder.next());
    // When
    var forced =
        server
            .admin()
            .forceRelease(
                ForceReleaseRequest.newBuilder()
                    .setName(LOCK)
                    .setGrace(ProtoDurations.ofNanos(500_000_000L))
                    .build());
    // Then
    assertThat(forced.getAsked()).isEqualTo(1);
    assertThat(forced.getReleased()).isZero();
    assertThat(holder.next().hasReleaseRequested()).isTrue();
    assertThat(holder.next().getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_FORCED);
  }

  @Test
  void lockThatWasHeldForAsLongAsItMayBeIsTakenAway() {
    // Given
    var holder = acquire(request(LOCK).setMaxHold(ProtoDurations.ofNanos(1_000_000_000L)));
    var grant = holder.next().getGranted();
    var waiter = acquire(request(LOCK));
    assertThat(waiter.next().hasQueued()).isTrue();
    // When
    AcquireResponse last = holder.next();
    // Then
    assertThat(ProtoDurations.toJava(grant.getValidFor()).toMillis()).isLessThanOrEqualTo(1_000);
    assertThat(last.getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_MAX_HOLD);
    assertThat(granted(waiter.next()).getPreviousEnd()).isEqualTo(PreviousEnd.PREVIOUS_END_FORCED);
  }

  private void end(String lease) {
    var unused =
        server.leasesNow().closeLease(CloseLeaseRequest.newBuilder().setLeaseId(lease).build());
  }

  @Test
  void lockStaysClosedForTheLostHoldersDelay() {
    // Given
    AcquireRequest.Builder lost =
        underALease(LOCK).setLockDelay(ProtoDurations.ofNanos(3_600_000_000_000L));
    granted(acquire(lost).next());
    var waiter = acquire(request(LOCK));
    assertThat(waiter.next().hasQueued()).isTrue();
    // When
    end(lost.getLeaseId());
    // Then
    await().until(() -> lock().getHoldersCount() == 0);
    assertThat(lock().getQueueLength()).isEqualTo(1);
    assertThat(lock().getDelayedFor().getSeconds()).isBetween(1L, 3_600L);
  }

  @Test
  void nextGrantComesWhenTheDelayHasPassed() {
    // Given
    AcquireRequest.Builder lost =
        underALease(LOCK).setLockDelay(ProtoDurations.ofNanos(200_000_000L));
    granted(acquire(lost).next());
    var waiter = acquire(request(LOCK));
    assertThat(waiter.next().hasQueued()).isTrue();
    // When
    end(lost.getLeaseId());
    // Then
    assertThat(granted(waiter.next()).getPreviousEnd())
        .isEqualTo(PreviousEnd.PREVIOUS_END_LEASE_EXPIRED);
    assertThat(lock().hasDelayedFor()).isFalse();
  }

  @Test
  void whatAHolderSaysAnewReachesWhoWaits() {
    // Given
    AcquireRequest.Builder request = underALease(LOCK).putMetadata("step", "1");
    granted(acquire(request).next());
    var waiter = acquire(request(LOCK));
    var queued = waiter.next().getQueued().getPositions(0);
    assertThat(queued.getHolders(0).getMetadataMap()).containsEntry("step", "1");
    // When
    var unused =
        server
            .locksNow()
            .updateMetadata(
                UpdateMetadataRequest.newBuilder()
                    .setLeaseId(request.getLeaseId())
                    .setRequestId("req-1")
                    .putMetadata("step", "2")
                    .build());
    // Then
    var position = waiter.next().getPosition().getPositions(0);
    assertThat(position.getHolders(0).getMetadataMap()).containsEntry("step", "2");
  }

  /** Has no owner, and takes part in the search all the same. */
  private static AcquireRequest.Builder searched(AcquireRequest.Builder request) {
    return request.setDeadlockCheck(DeadlockCheck.DEADLOCK_CHECK_ON);
  }

  @Test
  void cycleOfWaitsIsRefusedToTheYoungestAndSpelledOut() {
    // Given
    AcquireRequest.Builder one = searched(underALease("a"));
    AcquireRequest.Builder two = searched(underALease("b"));
    granted(acquire(one).next());
    granted(acquire(two).next());
    var first = acquire(searched(request("b").setLeaseId(one.getLeaseId()).setRequestId("req-2")));
    assertThat(first.next().hasQueued()).isTrue();
    // When
    var second = acquire(searched(request("a").setLeaseId(two.getLeaseId()).setRequestId("req-2")));
    // Then
    AcquireResponse last = second.next();
    while (!last.hasNotAcquired()) {
      last = second.next();
    }
    assertThat(last.getNotAcquired().getReason())
        .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
    assertThat(last.getNotAcquired().getMessage()).contains("a", "b");
    assertThat(second.end().isOk()).isTrue();
  }
}
