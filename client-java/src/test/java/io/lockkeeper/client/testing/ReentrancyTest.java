package io.lockkeeper.client.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.WatchResponse;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReentrancyTest extends OnInMemoryServer {

  private final String owner = "thread-1";

  @Test
  void ownerHoldsOnceMoreAtOnceWithTheSameTokenAndACount() {
    // Given
    String lease = lease();
    Heard<AcquireResponse> first = acquire(request(lease, owner, "1", exclusive(LOCK)));
    Heard<AcquireResponse> other = acquire(request(exclusive(LOCK)));
    Heard<WatchResponse> watch = watch(LOCK);
    // When
    Heard<AcquireResponse> second = acquire(request(lease, owner, "2", exclusive(LOCK)));
    // Then
    Grant again = second.last().getGranted().getGrants(0);
    assertThat(first.last().getGranted().getGrants(0).getHoldCount()).isEqualTo(1);
    assertThat(again.getHoldCount()).isEqualTo(2);
    assertThat(again.getFencingToken()).isEqualTo(token(first));
    assertThat(events(other)).containsExactly("QUEUED");
    assertThat(state(LOCK).getHoldersList())
        .extracting(Contender::getRequestId, Contender::getFencingToken)
        .containsExactly(tuple("1", token(first)), tuple("2", token(first)));
    assertThat(causes(watch)).containsExactly("GRANTED");
  }

  @Test
  void releaseGivesBackOneLevelInWhateverOrder() {
    // Given
    String lease = lease();
    AcquireRequest.Builder first = request(lease, owner, "1", exclusive(LOCK));
    AcquireRequest.Builder second = request(lease, owner, "2", exclusive(LOCK));
    AcquireRequest.Builder third = request(lease, owner, "3", exclusive(LOCK));
    Heard<AcquireResponse> heard = acquire(first);
    acquire(second);
    acquire(third);
    Heard<AcquireResponse> other = acquire(request(exclusive(LOCK)));
    // When
    ReleaseResponse one = release(first);
    ReleaseResponse two = release(third);
    ReleaseResponse again = release(third);
    List<String> otherBefore = events(other);
    ReleaseResponse last = release(second);
    // Then
    assertThat(one.getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED);
    assertThat(one.getRemainingHolds()).isEqualTo(2);
    assertThat(two.getRemainingHolds()).isEqualTo(1);
    assertThat(again.getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED);
    assertThat(otherBefore).containsExactly("QUEUED");
    assertThat(last.getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(last.getRemainingHolds()).isZero();
    assertThat(events(heard)).containsExactly("GRANTED", "RELEASED");
    assertThat(events(other)).containsExactly("QUEUED", "GRANTED");
  }

  @Test
  void readsOfOneOwnerAreLevelsOfOneHoldEvenWithAWriterWaiting() {
    // Given
    String lease = lease();
    acquire(request(lease, owner, "1", read(LOCK)));
    acquire(request(write(LOCK)));
    // When
    Heard<AcquireResponse> again = acquire(request(lease, owner, "2", read(LOCK)));
    // Then
    assertThat(events(again)).containsExactly("GRANTED");
    assertThat(again.last().getGranted().getGrants(0).getHoldCount()).isEqualTo(2);
  }

  @Test
  void withoutAnOwnerEveryAcquisitionIsItsOwnContender() {
    // Given
    String lease = lease();
    acquire(request(lease, "", "1", exclusive(LOCK)));
    // When
    Heard<AcquireResponse> second = acquire(request(lease, "", "2", exclusive(LOCK)));
    // Then
    assertThat(events(second)).containsExactly("QUEUED");
  }

  @Test
  void anotherLeaseWithTheSameOwnerNameWaits() {
    // Given
    acquire(request(lease(), owner, "1", exclusive(LOCK)));
    // When
    Heard<AcquireResponse> other = acquire(request(lease(), owner, "1", exclusive(LOCK)));
    // Then
    assertThat(events(other)).containsExactly("QUEUED");
  }

  @Test
  void requestBehindTheOwnersOwnWaitingOneIsNotReentrantYet() {
    // Given
    acquire(request(exclusive(LOCK)));
    String lease = lease();
    acquire(request(lease, owner, "1", exclusive(LOCK)));
    // When
    Heard<AcquireResponse> second = acquire(request(lease, owner, "2", exclusive(LOCK)));
    // Then
    assertThat(second.last().getQueued().getPositions(0).getAhead()).isEqualTo(2);
  }

  @Test
  void requestForAHeldAndATakenLockStaysBesideTheOneAndQueuesForTheOther() {
    // Given
    String lease = lease();
    AcquireRequest.Builder first = request(lease, owner, "1", exclusive(LOCK));
    acquire(first);
    AcquireRequest.Builder stranger = request(exclusive(OTHER));
    acquire(stranger);
    // When
    Heard<AcquireResponse> both =
        acquire(request(lease, owner, "2", exclusive(LOCK), exclusive(OTHER)));
    ReleaseResponse released = release(first);
    int kept = state(LOCK).getHoldersCount();
    release(stranger);
    // Then
    assertThat(released.getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(kept).isEqualTo(1);
    assertThat(events(both)).containsExactly("QUEUED", "GRANTED");
    assertThat(both.last().getGranted().getGrantsList())
        .extracting(Grant::getHoldCount)
        .containsExactly(1, 1);
  }

  @Test
  void releaseThatFreesOneOfItsLocksIsNoDecrement() {
    // Given
    String lease = lease();
    acquire(request(lease, owner, "1", exclusive(LOCK)));
    AcquireRequest.Builder both = request(lease, owner, "2", exclusive(LOCK), exclusive(OTHER));
    acquire(both);
    // When
    ReleaseResponse released = release(both);
    // Then
    assertThat(released.getOutcome()).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(state(LOCK).getHoldersCount()).isEqualTo(1);
    assertThat(state(OTHER).getHoldersCount()).isZero();
  }

  @Test
  void everyLevelHearsThatItIsLost() {
    // Given
    String lease = lease();
    Heard<AcquireResponse> first = acquire(request(lease, owner, "1", exclusive(LOCK)));
    Heard<AcquireResponse> second = acquire(request(lease, owner, "2", exclusive(LOCK)));
    // When
    CloseLeaseRequest close = CloseLeaseRequest.newBuilder().setLeaseId(lease).build();
    boolean already = leases.closeLease(close).getAlreadyEnded();
    clock.settle();
    // Then
    assertThat(already).isFalse();
    assertThat(first.last().getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_LEASE_CLOSED);
    assertThat(second.last().getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_LEASE_CLOSED);
    assertThat(server.holderToken(LOCK)).isEmpty();
  }
}
