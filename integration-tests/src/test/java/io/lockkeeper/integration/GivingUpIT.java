package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.util.Durations;
import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.PreviousEnd;
import io.lockkeeper.v1.ReleaseOutcome;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** How a lock without a lease is given up, and what the next holder hears of it. */
final class GivingUpIT {

  private final Rig rig = Rig.shared();
  private final String lock = "giving-up/" + UUID.randomUUID();
  private final ManagedChannel channel = rig.connect();
  @AutoClose private final ByteProxy network = ByteProxy.to(rig.server().port());

  private static AcquireRequest delaying(String lock, Duration delay) {
    return Asking.request(lock).setLockDelay(Durations.fromNanos(delay.toNanos())).build();
  }

  private PreviousEnd endBefore(Asking next) {
    return next.awaitGrant().getGrants(0).getPreviousEnd();
  }

  @Test
  void releaseWorksWithoutALeaseAndEndsTheStream() {
    // Given
    Asking holder = Asking.with(channel, delaying(lock, Duration.ofHours(1)));
    holder.awaitGrant();
    Asking next = Asking.forLock(channel, lock);
    next.await(EventCase.QUEUED);
    // When
    ReleaseOutcome outcome = holder.release().getOutcome();
    // Then
    assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(holder.awaitEnd().isOk()).isTrue();
    assertThat(holder.find(EventCase.RELEASED)).isPresent();
    assertThat(endBefore(next)).isEqualTo(PreviousEnd.PREVIOUS_END_RELEASED);
    next.release();
  }

  @Test
  void callThatItsClientCancelsGivesTheLockUpWithoutADelay() {
    // Given
    Asking holder = Asking.with(channel, delaying(lock, Duration.ofHours(1)));
    holder.awaitGrant();
    Asking next = Asking.forLock(channel, lock);
    next.await(EventCase.QUEUED);
    // When
    holder.hangUp();
    // Then
    assertThat(endBefore(next)).isEqualTo(PreviousEnd.PREVIOUS_END_CANCELLED);
    next.release();
  }

  @Test
  void connectionThatBreaksCountsAsACrash() {
    // Given
    ManagedChannel weak = rig.server().connect(network.port());
    Asking.with(weak, delaying(lock, Duration.ofSeconds(1))).awaitGrant();
    Asking.with(weak, delaying(lock + "/delayed", Duration.ofHours(1))).awaitGrant();
    Asking next = Asking.forLock(channel, lock);
    next.await(EventCase.QUEUED);
    // When
    network.cut();
    // Then
    await()
        .until(
            () ->
                LockServiceGrpc.newBlockingStub(channel)
                    .getLock(GetLockRequest.newBuilder().setName(lock + "/delayed").build())
                    .getLock()
                    .hasDelayedFor());
    assertThat(endBefore(next)).isEqualTo(PreviousEnd.PREVIOUS_END_LEASE_EXPIRED);
    next.release();
  }
}
