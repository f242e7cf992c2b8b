package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.internal.lease.Validity;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Until when a lease may be relied upon. */
class ValidityTest {

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  @Test
  void deadlineIsSendingPlusPromiseLessTwoPercentAndFiftyMillis() {
    // Given // When
    Validity validity = new Validity(7 * SECOND, 10 * SECOND);
    // Then
    assertThat(validity.untilNanos())
        .isEqualTo(17 * SECOND - SECOND / 5 - TimeUnit.MILLISECONDS.toNanos(50));
  }

  @Test
  void laterAcknowledgmentOfAnEarlierKeepAliveNeverShortens() {
    // Given
    Validity validity = new Validity(0, 10 * SECOND);
    validity.extend(5 * SECOND, 10 * SECOND);
    long until = validity.untilNanos();
    // When
    validity.extend(3 * SECOND, 10 * SECOND);
    validity.extend(5 * SECOND, SECOND);
    // Then
    assertThat(validity.untilNanos()).isEqualTo(until);
  }

  @Test
  void clockThatWrapsAroundIsNoDeadline() {
    // Given
    Validity validity = new Validity(Long.MAX_VALUE - SECOND, 10 * SECOND);
    // When
    long remaining = validity.remainingNanos(Long.MAX_VALUE);
    // Then
    assertThat(remaining).isBetween(8 * SECOND, 9 * SECOND);
  }

  @Property(tries = 2_000, seed = "4711")
  void acknowledgmentsInAnyOrderExtendToTheFarthestPromiseAndNoFurther(
      @ForAll @Size(min = 1, max = 20) java.util.List<@LongRange(min = 0, max = 60) Long> sentAt,
      @ForAll @LongRange(min = 0, max = 60) long promise) {
    // Given
    Validity validity = new Validity(sentAt.get(0) * SECOND, promise * SECOND);
    long before = validity.untilNanos();
    for (long sent : sentAt) {
      // When
      validity.extend(sent * SECOND, promise * SECOND);
      // Then
      assertThat(validity.untilNanos()).isGreaterThanOrEqualTo(before);
      before = validity.untilNanos();
    }
    long newest = sentAt.stream().mapToLong(Long::longValue).max().orElseThrow();
    assertThat(validity.untilNanos())
        .isEqualTo(new Validity(newest * SECOND, promise * SECOND).untilNanos())
        .isLessThan((newest + promise) * SECOND);
  }
}
