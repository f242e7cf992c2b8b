package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.internal.lease.KeepAlives;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Which acknowledgment counts from when. */
class KeepAlivesTest {

  private final KeepAlives keepAlives = new KeepAlives();

  @Test
  void answerToALaterKeepAliveDoesForThoseBeforeIt() {
    // Given
    long first = keepAlives.sent(100);
    long second = keepAlives.sent(200);
    keepAlives.sent(300);
    // When
    OptionalLong ofUnknown = keepAlives.answered(987_654_321);
    OptionalLong ofSecond = keepAlives.answered(second);
    // Then
    assertThat(ofUnknown).isEmpty();
    assertThat(ofSecond).hasValue(200);
    assertThat(keepAlives.longestSilenceNanos(400)).isEqualTo(100);
    assertThat(keepAlives.answered(first)).isEmpty();
  }

  @Test
  void silenceIsCountedFromTheOldestWithoutAnAnswer() {
    // Given
    long first = keepAlives.sent(100);
    keepAlives.sent(200);
    // When // Then
    assertThat(keepAlives.longestSilenceNanos(500)).isEqualTo(400);
    keepAlives.answered(first);
    assertThat(keepAlives.longestSilenceNanos(500)).isEqualTo(300);
    keepAlives.forget();
    assertThat(keepAlives.longestSilenceNanos(500)).isZero();
  }

  @Test
  void memoryIsBoundedAndTheOldestIsForgotten() {
    // Given
    long first = keepAlives.sent(0);
    // When
    for (int i = 1; i <= 64; i++) {
      keepAlives.sent(i);
    }
    // Then
    assertThat(keepAlives.answered(first)).isEmpty();
    assertThat(keepAlives.answered(first + 1)).hasValue(1);
  }
}
