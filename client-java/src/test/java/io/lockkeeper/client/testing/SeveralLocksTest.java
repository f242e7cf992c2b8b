package io.lockkeeper.client.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequest;
import org.junit.jupiter.api.Test;

class SeveralLocksTest extends OnInMemoryServer {

  @Test
  void allLocksAreGrantedTogetherInTheOrderOfTheRequest() {
    // When
    Heard<AcquireResponse> both = acquire(request(write(OTHER), permits(LOCK, 1, 2)));
    // Then
    assertThat(events(both)).containsExactly("GRANTED");
    assertThat(both.last().getGranted().getGrantsList())
        .extracting(Grant::getName)
        .containsExactly(OTHER, LOCK);
    assertThat(both.last().getGranted().getGrantsList())
        .extracting(Grant::getFencingToken)
        .doesNotHaveDuplicates()
        .allMatch(token -> token > 0);
  }

  @Test
  void requestKeepsItsPlaceInAllQueuesUntilTheLastLockIsFree() {
    // Given
    AcquireRequest.Builder holder = request(exclusive(OTHER));
    acquire(holder);
    Heard<AcquireResponse> both = acquire(request(exclusive(LOCK), exclusive(OTHER)));
    Heard<AcquireResponse> behind = acquire(request(exclusive(LOCK)));
    // When
    release(holder);
    // Then
    assertThat(both.messages.get(0).getQueued().getPositionsList())
        .extracting(QueuePosition::getName)
        .containsExactly(OTHER);
    assertThat(events(both)).containsExactly("QUEUED", "GRANTED");
    assertThat(events(behind)).containsExactly("QUEUED");
  }

  @Test
  void oneDeadlineForAllAndNothingIsKeptWhenItIsOver() {
    // Given
    acquire(request(exclusive(OTHER)));
    Heard<AcquireResponse> both =
        acquire(request(exclusive(LOCK), exclusive(OTHER)).setWaitTimeout(span(3)));
    Heard<AcquireResponse> behind = acquire(request(exclusive(LOCK)));
    // When
    pass(3_000);
    // Then
    assertThat(events(both)).containsExactly("QUEUED", "NOT_ACQUIRED");
    assertThat(both.last().getNotAcquired().getHoldersCount()).isEqualTo(1);
    assertThat(events(behind)).containsExactly("QUEUED", "GRANTED");
    assertThat(state(OTHER).getQueueLength()).isZero();
  }

  @Test
  void triedLocksAreAllTakenOrNone() {
    // Given
    acquire(request(exclusive(OTHER)));
    // When
    Heard<AcquireResponse> both =
        acquire(request(exclusive(LOCK), exclusive(OTHER)).setWaitTimeout(span(0)));
    // Then
    assertThat(events(both)).containsExactly("NOT_ACQUIRED");
    assertThat(state(LOCK).getHoldersCount()).isZero();
  }

  @Test
  void oppositeOrdersNeverDeadlock() {
    // Given
    AcquireRequest.Builder first = request(exclusive(LOCK), exclusive(OTHER));
    AcquireRequest.Builder second = request(exclusive(OTHER), exclusive(LOCK));
    AcquireRequest.Builder third = request(exclusive(LOCK), exclusive(OTHER));
    acquire(first);
    Heard<AcquireResponse> secondHeard = acquire(second);
    Heard<AcquireResponse> thirdHeard = acquire(third);
    // When
    release(first);
    release(second);
    // Then
    assertThat(events(secondHeard)).containsExactly("QUEUED", "GRANTED", "RELEASED");
    assertThat(events(thirdHeard)).containsExactly("QUEUED", "GRANTED");
  }

  @Test
  void refusalOverOneLockLeavesTheOthersAlone() {
    // Given
    acquire(request(read(OTHER)));
    // When
    Heard<AcquireResponse> refused = acquire(request(exclusive(LOCK), exclusive(OTHER)));
    // Then
    assertThat(refused.ends)
        .singleElement()
        .matches(s -> s.getCode() == Status.Code.FAILED_PRECONDITION);
    assertThat(state(LOCK).getHoldersCount()).isZero();
  }

  @Test
  void nameGivenTwiceIsMalformed() {
    // When
    Heard<AcquireResponse> twice = acquire(request(read(LOCK), write(LOCK)));
    // Then
    assertThat(twice.ends)
        .singleElement()
        .matches(s -> s.getCode() == Status.Code.INVALID_ARGUMENT)
        .matches(s -> String.valueOf(s.getDescription()).contains("twice"));
  }

  @Test
  void releaseByTheTokenOfAnyOfTheLocksReleasesAll() {
    // Given
    AcquireRequest.Builder both = request(exclusive(LOCK), exclusive(OTHER));
    long second = acquire(both).last().getGranted().getGrants(1).getFencingToken();
    // When
    ReleaseOutcome outcome =
        locks
            .release(
                ReleaseRequest.newBuilder()
                    .setLeaseId(both.getLeaseId())
                    .setRequestId(both.getRequestId())
                    .setFencingToken(second)
                    .build())
            .getOutcome();
    // Then
    assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(server.holderToken(LOCK)).isEmpty();
    assertThat(server.holderToken(OTHER)).isEmpty();
  }

  @Test
  void leaseThatEndsIsNotGrantedWhatItsOwnWaitersGiveUp() {
    // Given
    acquire(request(exclusive(OTHER)));
    String lease = lease();
    Heard<AcquireResponse> both = acquire(request(lease, "", "1", write(LOCK), exclusive(OTHER)));
    Heard<AcquireResponse> behind = acquire(request(lease, "", "2", read(LOCK)));
    CloseLeaseRequest close = CloseLeaseRequest.newBuilder().setLeaseId(lease).build();
    // When
    boolean already = leases.closeLease(close).getAlreadyEnded();
    clock.settle();
    // Then
    assertThat(already).isFalse();
    assertThat(events(both)).containsExactly("QUEUED", "NOT_ACQUIRED");
    assertThat(events(behind)).containsExactly("QUEUED", "NOT_ACQUIRED");
  }

  @Test
  void lossOfOneLockIsTheLossOfAll() {
    // Given
    Heard<AcquireResponse> both = acquire(request(exclusive(LOCK), exclusive(OTHER)));
    Heard<AcquireResponse> behind = acquire(request(exclusive(OTHER)));
    // When
    server.removeHolder(LOCK);
    clock.settle();
    // Then
    assertThat(both.last().getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_REMOVED);
    assertThat(events(behind)).containsExactly("QUEUED", "GRANTED");
  }
}
