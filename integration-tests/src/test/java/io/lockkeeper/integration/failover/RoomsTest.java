package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What is to notice two inside one lock notices it. */
final class RoomsTest {

  private final Rooms rooms = new Rooms();

  @Test
  void secondInsideIsNoticedUnlessBothShare() {
    // Given
    rooms.enter("mutex", false, 1, () -> true);
    rooms.enter("shared", true, 1, () -> true);

    // When
    rooms.enter("shared", true, 2, () -> true);
    rooms.enter("mutex", true, 2, () -> true);
    rooms.enter("shared", false, 3, () -> true);

    // Then
    assertThat(rooms.violations()).hasSize(3).allMatch(said -> said.contains("was inside"));
  }

  @Test
  void whoLeftOrMayNotBelieveAnyMoreIsNotInside() {
    // Given
    AtomicBoolean believes = new AtomicBoolean(true);
    rooms.enter("left", false, 1, () -> true);
    rooms.enter("lost", false, 1, believes::get);

    // When
    rooms.leave("left", 1);
    believes.set(false);
    rooms.enter("left", false, 2, () -> true);
    rooms.enter("lost", false, 2, () -> true);

    // Then
    assertThat(rooms.violations()).isEmpty();
    assertThat(rooms.entered()).isEqualTo(4);
  }

  @Test
  void tokenThatDoesNotRiseIsNoticed() {
    // Given
    rooms.enter("lock", false, 5, () -> true);
    rooms.leave("lock", 5);

    // When
    rooms.enter("lock", true, 5, () -> true);

    // Then
    assertThat(rooms.violations()).containsExactly("lock: token 5 after 5");
  }
}
