package io.lockkeeper.integration.kinds;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.Durations;
import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.ForceReleaseResponse;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceBlockingStub;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.PreviousEnd;
import io.lockkeeper.v1.ReleaseRequested;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.RequestReleaseResponse;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.UpdateMetadataRequest;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Holders who are asked for the lock, or who are told that they have lost it. */
final class GivingWayIT {

  private final ManagedChannel channel = Rig.shared().connect();
  private final LockServiceBlockingStub stub = LockServiceGrpc.newBlockingStub(channel);

  @Test
  void everyHolderIsAskedWithWhoWhyAndByWhen() {
    // Given
    String lock = "giving-way/ask";
    try (Tenant one = Tenant.of(channel, "one");
        Tenant other = Tenant.of(channel, "other")) {
      one.ask("r", "", Tenant.read(lock));
      other.ask("r", "", Tenant.read(lock));

      // When
      RequestReleaseResponse answer =
          stub.requestRelease(
              RequestReleaseRequest.newBuilder()
                  .setName(lock)
                  .setRequester("operator")
                  .setReason("the index is rebuilt")
                  .setDeadline(Durations.fromSeconds(30))
                  .build());

      // Then
      assertThat(answer.getHoldersList()).hasSize(2);
      for (Tenant holder : List.of(one, other)) {
        ReleaseRequested asked =
            holder.await("r", EventCase.RELEASE_REQUESTED).getReleaseRequested();
        assertThat(asked.getName()).isEqualTo(lock);
        assertThat(asked.getRequester()).isEqualTo("operator");
        assertThat(asked.getReason()).isEqualTo("the index is rebuilt");
        assertThat(asked.getDeadline().getSeconds()).isBetween(1L, 30L);
        assertThat(holder.hasHeard("r", EventCase.LOST)).isFalse();
      }
    }
  }

  @Test
  void holdersAnswerIsShownToWhoeverLooks() {
    // Given
    String lock = "giving-way/answer";
    try (Tenant holder = Tenant.of(channel, "holder")) {
      holder.ask("h", "", Tenant.mutex(lock));
      stub.requestRelease(RequestReleaseRequest.newBuilder().setName(lock).build());
      holder.await("h", EventCase.RELEASE_REQUESTED);

      // When
      stub.answerRelease(
          AnswerReleaseRequest.newBuilder()
              .setLeaseId(holder.leaseId())
              .setRequestId("h")
              .setNeeds(Durations.fromSeconds(40))
              .build());

      // Then
      Contender shown = lock(lock).getHolders(0);
      assertThat(shown.hasReleaseIn()).isTrue();
      assertThat(shown.getReleaseIn().getSeconds()).isBetween(1L, 40L);
    }
  }

  @Test
  void forcedReleaseIsALossForTheHolderAndTheNextIsToldHow() {
    // Given
    String lock = "giving-way/force";
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant waiter = Tenant.of(channel, "waiter")) {
      holder.ask("h", "", Tenant.write(lock));
      waiter.ask("w", "", Tenant.write(lock));

      // When
      ForceReleaseResponse forced =
          AdminServiceGrpc.newBlockingStub(channel)
              .forceRelease(
                  ForceReleaseRequest.newBuilder().setName(lock).setReason("stuck").build());

      // Then
      assertThat(forced.getReleased()).isEqualTo(1);
      assertThat(holder.await("h", EventCase.LOST).getLost().getReason())
          .isEqualTo(LossReason.LOSS_REASON_FORCED);
      assertThat(waiter.awaitGrant("w").getPreviousEnd())
          .isEqualTo(PreviousEnd.PREVIOUS_END_FORCED);
    }
  }

  @Test
  void holdThatLastsTooLongIsTakenAway() {
    // Given
    String lock = "giving-way/max-hold";
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant waiter = Tenant.of(channel, "waiter")) {
      holder.ask(
          Tenant.request("h", "", Tenant.mutex(lock))
              .setMaxHold(Durations.fromMillis(500))
              .build());

      // When
      waiter.ask("w", "", Tenant.mutex(lock));

      // Then
      assertThat(holder.await("h", EventCase.LOST).getLost().getReason())
          .isEqualTo(LossReason.LOSS_REASON_MAX_HOLD);
      waiter.awaitGrant("w");
    }
  }

  @Test
  void lockIsClosedForTheLockDelayOfAHolderThatWasLost() {
    // Given
    String lock = "giving-way/lock-delay";
    try (Tenant waiter = Tenant.of(channel, "waiter")) {
      Tenant holder = Tenant.of(channel, "holder");
      holder.ask(
          Tenant.request("h", "", Tenant.mutex(lock))
              .setLockDelay(Durations.fromSeconds(3))
              .build());
      waiter.ask("w", "", Tenant.mutex(lock));

      // When
      AdminServiceGrpc.newBlockingStub(channel)
          .forceRelease(ForceReleaseRequest.newBuilder().setName(lock).build());
      holder.await("h", EventCase.LOST);

      // Then
      LockState closed = lock(lock);
      assertThat(closed.hasDelayedFor()).as("the delay is shown").isTrue();
      assertThat(waiter.hasHeard("w", EventCase.GRANTED)).isFalse();
      waiter.awaitGrant("w");
      holder.close();
    }
  }

  @Test
  void metadataOfTheHolderReachesThoseWhoWait() {
    // Given
    String lock = "giving-way/metadata";
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant waiter = Tenant.of(channel, "waiter")) {
      holder.ask("h", "", Tenant.mutex(lock));
      waiter.ask("w", "", Tenant.mutex(lock));

      // When
      holder
          .session()
          .send(
              SessionRequest.newBuilder()
                  .setUpdateMetadata(
                      UpdateMetadataRequest.newBuilder()
                          .setRequestId("h")
                          .putMetadata("progress", "80%"))
                  .build());

      // Then
      Contender told =
          waiter.await("w", EventCase.POSITION).getPosition().getPositions(0).getHolders(0);
      assertThat(told.getMetadataMap()).containsEntry("progress", "80%");
    }
  }

  private LockState lock(String name) {
    return stub.getLock(GetLockRequest.newBuilder().setName(name).build()).getLock();
  }
}
