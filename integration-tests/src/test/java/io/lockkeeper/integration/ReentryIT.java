package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.util.Durations;
import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.LossReason;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Reentrant acquisitions that race with releases and with forced releases. */
final class ReentryIT {

  private final Rig rig = Rig.shared();
  private final ManagedChannel channel = rig.connect();
  private final String lock = "reentry/" + UUID.randomUUID();

  @AutoClose
  private final SessionStream holder = SessionStream.open(channel, Duration.ofMinutes(2));

  @AutoClose
  private final SessionStream waiter = SessionStream.open(channel, Duration.ofMinutes(2));

  @BeforeEach
  void oneHoldsAndOneWaits() {
    acquire("outermost");
    holder.await("outermost", EventCase.GRANTED);
    waiter.acquire(lock, "waits");
    waiter.await("waits", EventCase.QUEUED);
  }

  private void acquire(String requestId) {
    holder.acquire(Asking.request(lock).setOwner("task").setRequestId(requestId).build());
  }

  private void forceRelease(ForceReleaseRequest.Builder request) {
    AdminServiceGrpc.newBlockingStub(channel).forceRelease(request.setName(lock).build());
  }

  private LossReason awaitLoss(String requestId) {
    return holder.await(requestId, EventCase.LOST).value().getEvent().getLost().getReason();
  }

  private static boolean received(SessionStream session, EventCase event) {
    return session
        .responses()
        .find(r -> r.hasEvent() && r.getEvent().getEventCase() == event)
        .isPresent();
  }

  @Test
  void forcedReleaseAfterAGraceIncludesLevelsAcquiredDuringTheGrace() {
    // Given
    forceRelease(ForceReleaseRequest.newBuilder().setGrace(Durations.fromSeconds(1)));
    // When
    acquire("inner");
    holder.release("outermost");
    // Then
    assertThat(awaitLoss("inner")).isEqualTo(LossReason.LOSS_REASON_FORCED);
    waiter.await("waits", EventCase.GRANTED);
  }

  @RepeatedTest(10)
  void forcedReleaseIncludesALevelWhoseEntryIsNotYetCreated() {
    // Given
    acquire("inner");
    holder.await("inner", EventCase.GRANTED);
    // When
    forceRelease(ForceReleaseRequest.newBuilder());
    // Then
    assertThat(awaitLoss("inner")).isEqualTo(LossReason.LOSS_REASON_FORCED);
    waiter.await("waits", EventCase.GRANTED);
  }

  @Test
  void levelsThatComeAndGoQuicklyLeaveNothingBehind() {
    try (Znodes znodes = Znodes.at(rig.zookeeper().connectString())) {
      // When: each level is requested before the previous one is released
      String previous = "outermost";
      for (int i = 0; i < 200; i++) {
        String level = "level-" + i;
        acquire(level);
        holder.release(previous);
        holder.await(level, EventCase.GRANTED);
        previous = level;
      }
      // Then
      assertThat(received(waiter, EventCase.GRANTED)).isFalse();
      holder.release(previous);
      waiter.await("waits", EventCase.GRANTED);
      await().untilAsserted(() -> assertThat(znodes.entries(lock)).hasSize(1));
      assertThat(received(holder, EventCase.LOST)).isFalse();
    }
  }
}
