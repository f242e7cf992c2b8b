package io.lockkeeper.client.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.PreviousEnd;
import io.lockkeeper.v1.WatchResponse;
import org.junit.jupiter.api.Test;

class HoldLimitsTest extends OnInMemoryServer {

  private static PreviousEnd previousEnd(Heard<AcquireResponse> heard) {
    return heard.last().getGranted().getGrants(0).getPreviousEnd();
  }

  @Test
  void holdIsTakenAwayATenthAfterMaxHold() {
    // Given
    Heard<AcquireResponse> holder = acquire(request(exclusive(LOCK)).setMaxHold(span(10)));
    Heard<AcquireResponse> next = acquire(request(exclusive(LOCK)));
    Heard<WatchResponse> watch = watch(LOCK);
    // When
    pass(10_999);
    String before = holder.last().getEventCase().name();
    pass(1);
    // Then
    assertThat(before).isEqualTo("GRANTED");
    assertThat(holder.last().getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_MAX_HOLD);
    assertThat(previousEnd(next)).isEqualTo(PreviousEnd.PREVIOUS_END_FORCED);
    assertThat(causes(watch)).containsExactly("FORCED", "GRANTED");
  }

  @Test
  void allowanceIsATenthOfASecondAtLeastAndTwoSecondsAtMost() {
    // Given
    var shortest = com.google.protobuf.Duration.newBuilder().setNanos(100_000_000).build();
    Heard<AcquireResponse> brief = acquire(request(exclusive(LOCK)).setMaxHold(shortest));
    Heard<AcquireResponse> lasting = acquire(request(exclusive(OTHER)).setMaxHold(span(60)));
    // When
    pass(199);
    String briefBefore = brief.last().getEventCase().name();
    pass(1);
    String briefAfter = brief.last().getEventCase().name();
    pass(61_799);
    String lastingBefore = lasting.last().getEventCase().name();
    pass(1);
    // Then
    assertThat(briefBefore).isEqualTo("GRANTED");
    assertThat(briefAfter).isEqualTo("LOST");
    assertThat(lastingBefore).isEqualTo("GRANTED");
    assertThat(lasting.last().getEventCase().name()).isEqualTo("LOST");
  }

  @Test
  void grantIsNeverValidForLongerThanMaxHold() {
    // When
    Heard<AcquireResponse> limited = acquire(request(exclusive(LOCK)).setMaxHold(span(10)));
    Heard<AcquireResponse> unlimited = acquire(request(exclusive(OTHER)));
    // Then
    assertThat(limited.last().getGranted().getValidFor()).isEqualTo(span(10));
    assertThat(unlimited.last().getGranted().getValidFor()).isEqualTo(span(3600));
  }

  @Test
  void waitingDoesNotCountAsHolding() {
    // Given
    AcquireRequest.Builder first = request(exclusive(LOCK));
    acquire(first);
    Heard<AcquireResponse> second = acquire(request(exclusive(LOCK)).setMaxHold(span(10)));
    pass(20_000);
    // When
    release(first);
    pass(10_000);
    // Then
    assertThat(events(second)).containsExactly("QUEUED", "GRANTED");
  }

  @Test
  void laterLevelIsLostWithTheLimitedOneAndIsValidForWhatIsLeft() {
    // Given
    String lease = lease();
    Heard<AcquireResponse> first =
        acquire(request(lease, "me", "1", exclusive(LOCK)).setMaxHold(span(10)));
    pass(4_000);
    Heard<AcquireResponse> second = acquire(request(lease, "me", "2", exclusive(LOCK)));
    long validForSeconds = second.last().getGranted().getValidFor().getSeconds();
    // When
    pass(7_000);
    // Then
    assertThat(validForSeconds).isEqualTo(6);
    assertThat(first.last().getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_MAX_HOLD);
    assertThat(second.last().getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_MAX_HOLD);
  }

  @Test
  void levelAroundALimitedOneIsKept() {
    // Given
    String lease = lease();
    Heard<AcquireResponse> outer = acquire(request(lease, "me", "1", exclusive(LOCK)));
    Heard<AcquireResponse> inner =
        acquire(request(lease, "me", "2", exclusive(LOCK)).setMaxHold(span(10)));
    Heard<AcquireResponse> innermost = acquire(request(lease, "me", "3", exclusive(LOCK)));
    // When
    pass(12_000);
    // Then
    assertThat(events(outer)).containsExactly("GRANTED");
    assertThat(events(inner)).containsExactly("GRANTED", "LOST");
    assertThat(events(innermost)).containsExactly("GRANTED", "LOST");
  }

  @Test
  void laterAndLongerMaxHoldDoesNotProlongTheHold() {
    // Given
    String lease = lease();
    Heard<AcquireResponse> first =
        acquire(request(lease, "me", "1", exclusive(LOCK)).setMaxHold(span(10)));
    Heard<AcquireResponse> second =
        acquire(request(lease, "me", "2", exclusive(LOCK)).setMaxHold(span(20)));
    // When
    pass(11_000);
    // Then
    assertThat(second.messages.get(0).getGranted().getValidFor()).isEqualTo(span(10));
    assertThat(events(first)).containsExactly("GRANTED", "LOST");
    assertThat(events(second)).containsExactly("GRANTED", "LOST");
  }

  @Test
  void limitOfOneWhoHasReleasedDoesNotBindTheOthers() {
    // Given
    String lease = lease();
    AcquireRequest.Builder limited =
        request(lease, "me", "1", exclusive(LOCK)).setMaxHold(span(10));
    acquire(limited);
    Heard<AcquireResponse> unlimited = acquire(request(lease, "me", "2", exclusive(LOCK)));
    // When
    release(limited);
    pass(20_000);
    // Then
    assertThat(events(unlimited)).containsExactly("GRANTED");
    assertThat(state(LOCK).getHoldersCount()).isEqualTo(1);
  }

  @Test
  void releasedHoldIsNotTakenAwayFromTheNext() {
    // Given
    AcquireRequest.Builder first = request(exclusive(LOCK)).setMaxHold(span(10));
    acquire(first);
    release(first);
    Heard<AcquireResponse> next = acquire(request(exclusive(LOCK)));
    // When
    pass(20_000);
    // Then
    assertThat(events(next)).containsExactly("GRANTED");
    assertThat(previousEnd(next)).isEqualTo(PreviousEnd.PREVIOUS_END_RELEASED);
  }

  @Test
  void nextGrantWaitsTheLockDelayOfAHolderThatWasLost() {
    // Given
    acquire(request(exclusive(LOCK)).setLockDelay(span(30)));
    Heard<AcquireResponse> next = acquire(request(exclusive(LOCK)));
    // When
    server.removeHolder(LOCK);
    pass(10_000);
    var delayedFor = state(LOCK).getDelayedFor();
    pass(19_999);
    String before = next.last().getEventCase().name();
    pass(1);
    // Then
    assertThat(delayedFor).isEqualTo(span(20));
    assertThat(before).isEqualTo("QUEUED");
    assertThat(previousEnd(next)).isEqualTo(PreviousEnd.PREVIOUS_END_LOST);
    assertThat(state(LOCK).hasDelayedFor()).isFalse();
  }

  @Test
  void newcomerToADelayedLockWaitsToo() {
    // Given
    acquire(request(read(LOCK)).setLockDelay(span(30)));
    server.removeHolder(LOCK);
    // When
    Heard<AcquireResponse> tried = acquire(request(read(LOCK)).setWaitTimeout(span(0)));
    Heard<AcquireResponse> patient = acquire(request(read(LOCK)));
    pass(30_000);
    // Then
    assertThat(events(tried)).containsExactly("NOT_ACQUIRED");
    assertThat(events(patient)).containsExactly("QUEUED", "GRANTED");
  }

  @Test
  void releasedLockIsNotDelayed() {
    // Given
    AcquireRequest.Builder holder = request(exclusive(LOCK)).setLockDelay(span(30));
    acquire(holder);
    Heard<AcquireResponse> next = acquire(request(exclusive(LOCK)));
    // When
    release(holder);
    // Then
    assertThat(events(next)).containsExactly("QUEUED", "GRANTED");
  }

  @Test
  void holderLearnsHowTheOneBeforeItEnded() {
    // Given
    Heard<AcquireResponse> first = acquire(request(exclusive(LOCK)));
    Heard<AcquireResponse> second = acquire(request(exclusive(LOCK)));
    // When
    server.removeHolder(LOCK);
    clock.settle();
    // Then
    assertThat(previousEnd(second)).isEqualTo(PreviousEnd.PREVIOUS_END_LOST);
    assertThat(first.messages.get(0).getGranted().getGrants(0).getPreviousEnd())
        .isEqualTo(PreviousEnd.PREVIOUS_END_UNSPECIFIED);
  }
}
