package io.lockkeeper.client.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.ForceReleaseResponse;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.PreviousEnd;
import io.lockkeeper.v1.ReleaseRequested;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.UpdateMetadataRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GivingWayTest extends OnInMemoryServer {

  private ForceReleaseResponse force(ForceReleaseRequest.Builder request) {
    ForceReleaseResponse response = admin.forceRelease(request.setName(LOCK).build());
    clock.settle();
    return response;
  }

  @Test
  void everyHolderIsToldWhoAsksWhyAndByWhen() {
    // Given
    String lease = lease();
    Heard<AcquireResponse> first = acquire(request(lease, "me", "1", read(LOCK)));
    Heard<AcquireResponse> level = acquire(request(lease, "me", "2", read(LOCK)));
    Heard<AcquireResponse> other = acquire(request(read(LOCK)));
    Heard<AcquireResponse> waiter = acquire(request(write(LOCK)));
    // When
    List<Contender> asked =
        locks
            .requestRelease(
                RequestReleaseRequest.newBuilder()
                    .setName(LOCK)
                    .setRequester("carol")
                    .setReason("deploy")
                    .setDeadline(span(30))
                    .build())
            .getHoldersList();
    clock.settle();
    // Then
    ReleaseRequested told = first.last().getReleaseRequested();
    assertThat(asked).hasSize(3);
    assertThat(told.getName()).isEqualTo(LOCK);
    assertThat(told.getRequester()).isEqualTo("carol");
    assertThat(told.getReason()).isEqualTo("deploy");
    assertThat(told.getDeadline()).isEqualTo(span(30));
    assertThat(level.last().getReleaseRequested()).isEqualTo(told);
    assertThat(other.last().getReleaseRequested()).isEqualTo(told);
    assertThat(events(waiter)).containsExactly("QUEUED");
  }

  @Test
  void lockThatNobodyHoldsAnswersWithNoHolders() {
    // When
    var response = locks.requestRelease(RequestReleaseRequest.newBuilder().setName(LOCK).build());
    // Then
    assertThat(response.getHoldersList()).isEmpty();
  }

  @Test
  void answerOfAHolderIsShownToWaitersWatchersAndWhoeverLooks() {
    // Given
    AcquireRequest.Builder holder = request(exclusive(LOCK));
    acquire(holder);
    Heard<AcquireResponse> waiter = acquire(request(exclusive(LOCK)));
    Heard<WatchResponse> watch = watch(LOCK);
    // When
    var answered =
        locks.answerRelease(
            AnswerReleaseRequest.newBuilder()
                .setLeaseId(holder.getLeaseId())
                .setRequestId(holder.getRequestId())
                .setNeeds(span(20))
                .build());
    pass(5_000);
    // Then
    assertThat(answered.isInitialized()).isTrue();
    assertThat(events(waiter)).containsExactly("QUEUED", "POSITION");
    assertThat(waiter.last().getPosition().getPositions(0).getHolders(0).getReleaseIn())
        .isEqualTo(span(20));
    assertThat(causes(watch)).containsExactly("METADATA");
    assertThat(state(LOCK).getHolders(0).getReleaseIn()).isEqualTo(span(15));
  }

  @Test
  void onlyAHolderMayAnswer() {
    // Given
    acquire(request(exclusive(LOCK)));
    AcquireRequest.Builder waiter = request(exclusive(LOCK));
    acquire(waiter);
    AnswerReleaseRequest.Builder answer =
        AnswerReleaseRequest.newBuilder().setLeaseId(waiter.getLeaseId()).setNeeds(span(1));
    // When // Then
    assertThatThrownBy(() -> locks.answerRelease(answer.setRequestId("only").build()))
        .hasMessageContaining("FAILED_PRECONDITION");
    assertThatThrownBy(() -> locks.answerRelease(answer.setRequestId("unknown").build()))
        .hasMessageContaining("NOT_FOUND");
  }

  @Test
  void forcedReleaseIsALossAndTheNextHolderIsTold() {
    // Given
    Heard<AcquireResponse> holder = acquire(request(exclusive(LOCK)));
    Heard<AcquireResponse> next = acquire(request(exclusive(LOCK)));
    Heard<WatchResponse> watch = watch(LOCK);
    // When
    ForceReleaseResponse response = force(ForceReleaseRequest.newBuilder().setReason("stuck"));
    // Then
    assertThat(response.getReleased()).isEqualTo(1);
    assertThat(holder.last().getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_FORCED);
    assertThat(holder.last().getLost().getMessage()).contains("stuck");
    assertThat(next.last().getGranted().getGrants(0).getPreviousEnd())
        .isEqualTo(PreviousEnd.PREVIOUS_END_FORCED);
    assertThat(causes(watch)).containsExactly("FORCED", "GRANTED");
  }

  @Test
  void forcedReleaseByTokenTakesOnlyThatHolder() {
    // Given
    Heard<AcquireResponse> first = acquire(request(read(LOCK)));
    Heard<AcquireResponse> second = acquire(request(read(LOCK)));
    // When
    ForceReleaseResponse response =
        force(ForceReleaseRequest.newBuilder().setFencingToken(token(first)));
    // Then
    assertThat(response.getReleased()).isEqualTo(1);
    assertThat(events(first)).containsExactly("GRANTED", "LOST");
    assertThat(events(second)).containsExactly("GRANTED");
    assertThatThrownBy(() -> force(ForceReleaseRequest.newBuilder().setFencingToken(999)))
        .hasMessageContaining("NOT_FOUND");
  }

  @Test
  void graceLetsHoldersGiveWayAndTakesTheRest() {
    // Given
    AcquireRequest.Builder polite = request(read(LOCK));
    Heard<AcquireResponse> politeHeard = acquire(polite);
    Heard<AcquireResponse> rude = acquire(request(read(LOCK)));
    // When
    ForceReleaseResponse response = force(ForceReleaseRequest.newBuilder().setGrace(span(10)));
    release(polite);
    Heard<AcquireResponse> late = acquire(request(read(LOCK)));
    pass(10_000);
    // Then
    assertThat(response.getReleased()).isZero();
    assertThat(response.getAsked()).isEqualTo(2);
    assertThat(events(politeHeard)).containsExactly("GRANTED", "RELEASE_REQUESTED", "RELEASED");
    assertThat(events(rude)).containsExactly("GRANTED", "RELEASE_REQUESTED", "LOST");
    assertThat(rude.messages.get(1).getReleaseRequested().getDeadline()).isEqualTo(span(10));
    assertThat(events(late)).containsExactly("GRANTED");
  }

  @Test
  void forceOnALockThatNobodyHoldsIsNotFound() {
    // When // Then
    assertThatThrownBy(() -> force(ForceReleaseRequest.newBuilder()))
        .hasMessageContaining("NOT_FOUND");
  }

  @Test
  void requestThatStandsFirstButWaitsForAnotherLockIsToldThatItsEntryWasRemoved() {
    // Given
    acquire(request(exclusive(OTHER)));
    Heard<AcquireResponse> both = acquire(request(exclusive(LOCK), exclusive(OTHER)));
    // When
    force(ForceReleaseRequest.newBuilder());
    // Then
    assertThat(both.last().getNotAcquired().getReason())
        .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_REMOVED);
  }

  @Test
  void newMetadataOfAHolderIsPushedToWaitersAndWatchers() {
    // Given
    AcquireRequest.Builder holder = request(exclusive(LOCK)).putMetadata("step", "1");
    acquire(holder);
    Heard<AcquireResponse> waiter = acquire(request(exclusive(LOCK)));
    Heard<WatchResponse> watch = watch(LOCK);
    // When
    var updated =
        locks.updateMetadata(
            UpdateMetadataRequest.newBuilder()
                .setLeaseId(holder.getLeaseId())
                .setRequestId(holder.getRequestId())
                .putMetadata("step", "2")
                .build());
    clock.settle();
    // Then
    assertThat(updated.isInitialized()).isTrue();
    assertThat(waiter.last().getPosition().getPositions(0).getHolders(0).getMetadataMap())
        .isEqualTo(Map.of("step", "2"));
    assertThat(causes(watch)).containsExactly("METADATA");
    assertThat(watch.last().getChange().getContender().getMetadataMap())
        .isEqualTo(Map.of("step", "2"));
  }

  @Test
  void newMetadataOfAWaiterIsAChangeForWatchersOnly() {
    // Given
    acquire(request(exclusive(LOCK)));
    AcquireRequest.Builder waiting = request(exclusive(LOCK));
    Heard<AcquireResponse> waiter = acquire(waiting);
    Heard<WatchResponse> watch = watch(LOCK);
    UpdateMetadataRequest update =
        UpdateMetadataRequest.newBuilder()
            .setLeaseId(waiting.getLeaseId())
            .setRequestId(waiting.getRequestId())
            .putMetadata("for", "the report")
            .build();
    // When
    var updated = locks.updateMetadata(update);
    clock.settle();
    // Then
    assertThat(updated.isInitialized()).isTrue();
    assertThat(events(waiter)).containsExactly("QUEUED");
    assertThat(causes(watch)).containsExactly("METADATA");
    assertThat(state(LOCK).getQueue(0).getMetadataMap()).containsEntry("for", "the report");
    release(waiting);
    assertThatThrownBy(() -> locks.updateMetadata(update))
        .hasMessageContaining("FAILED_PRECONDITION");
  }
}
