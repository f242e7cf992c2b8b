package io.lockkeeper.server.core.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A tick of 2 s: a follower tells within 1.5 s what it has heard, and 1 s is left for drift. */
class LeaderClockTest {

  private static final long LIFE = Duration.ofSeconds(29).toNanos();

  private final LeaderClock clock = new LeaderClock(Duration.ofSeconds(2), at(0));

  private static long at(long millis) {
    // Where nanoTime overflows.
    return Long.MAX_VALUE - Duration.ofSeconds(5).toNanos() + Duration.ofMillis(millis).toNanos();
  }

  private void proved(long sentMillis, long answeredMillis) {
    clock.proved(at(sentMillis), at(0), at(answeredMillis));
  }

  private long boundMillis() {
    return Duration.ofNanos(clock.boundNanos(Duration.ofSeconds(30).toNanos()) - LIFE - at(0))
        .toMillis();
  }

  @Test
  void proofAloneSetsNoClock() {
    proved(4_000, 4_010);
    assertThat(boundMillis()).isZero();
  }

  @Test
  void proofCountsWhenALaterOneWasSentOneLagAfterItsAnswer() {
    // Given
    proved(1_000, 1_100);
    proved(2_000, 2_100);
    // When: a millisecond too early
    proved(2_599, 2_610);
    // Then
    assertThat(boundMillis()).isZero();
    // When
    proved(2_600, 2_610);
    // Then: from its sending
    assertThat(boundMillis()).isEqualTo(1_000);
  }

  @Test
  void newestProofThatIsOldEnoughCounts() {
    for (long i = 1; i <= 20; i++) {
      proved(1_000 * i, 1_000 * i + 5);
    }
    assertThat(boundMillis()).isEqualTo(18_000);
  }

  @Test
  void answerThatTookLongCountsFromItsSending() {
    // Given
    proved(1_000, 6_000);
    // When
    proved(7_500, 7_501);
    // Then
    assertThat(boundMillis()).isEqualTo(1_000);
  }

  @Test
  void connectionThatIsProvedCountsFromWhenItBeganToBeMade() {
    clock.proved(at(9_000), at(8_000), at(9_010));
    assertThat(boundMillis()).isEqualTo(8_000);
  }

  @Test
  void proofsOutOfOrderNeverSetTheClockBack() {
    // Given
    proved(4_000, 4_010);
    proved(6_000, 6_010);
    assertThat(boundMillis()).isEqualTo(4_000);
    // When
    proved(3_000, 6_020);
    proved(9_000, 9_010);
    // Then
    assertThat(boundMillis()).isEqualTo(6_000);
  }

  @Test
  void crowdOfProofsIsThinnedOutAndTheBoundLagsBehindByNoMoreThanThat() {
    for (int i = 0; i <= 10_000; i++) {
      proved(i, i);
    }
    assertThat(boundMillis()).isBetween(8_500L - 188, 8_500L);
  }
}
