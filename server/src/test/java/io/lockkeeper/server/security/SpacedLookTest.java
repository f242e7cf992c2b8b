package io.lockkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Looks that are never too close to each other. */
class SpacedLookTest {

  private final List<Long> looks = new ArrayList<>();
  private long now = -1_000_000;
  private final SpacedLook look =
      new SpacedLook(
          () -> looks.add(now),
          () -> now,
          // As a thread does that is woken early.
          nanos -> now += nanos / 2 + 1);

  @Test
  void firstLookDoesNotWait() {
    // When
    look.run();
    // Then
    assertThat(looks).containsExactly(-1_000_000L);
  }

  @Test
  void lookThatFollowsAtOnceWaitsWhoeverMadeTheLast() {
    // When
    look.run();
    now += Duration.ofMillis(1).toNanos();
    look.run();
    // Then
    assertThat(looks).hasSize(2);
    assertThat(looks.get(1) - looks.get(0)).isGreaterThanOrEqualTo(SpacedLook.PAUSE.toNanos());
  }

  @Test
  void lookThatComesLaterDoesNotWait() {
    // When
    look.run();
    now += Duration.ofSeconds(2).toNanos();
    look.run();
    // Then
    assertThat(looks.get(1) - looks.get(0)).isEqualTo(Duration.ofSeconds(2).toNanos());
  }

  @Test
  void threadThatIsInterruptedWaitsNoMore() {
    // Given
    look.run();
    Thread.currentThread().interrupt();
    // When
    look.run();
    // Then
    assertThat(Thread.interrupted()).isTrue();
    assertThat(looks).hasSize(1);
  }
}
