package io.lockkeeper.integration.harness;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** What is to notice two inside one lock notices it. */
final class InsideTest {

  private final Inside inside = new Inside();

  @Test
  void secondInsideIsNoticedUnlessBothShare() {
    // Given
    inside.enter("mutex", false, 1);
    inside.enter("shared", true, 1);

    // When, Then
    assertThatThrownBy(() -> inside.enter("mutex", false, 2)).hasMessageContaining("two inside");
    assertThatThrownBy(() -> inside.enter("mutex", true, 2)).hasMessageContaining("two inside");
    assertThatThrownBy(() -> inside.enter("shared", false, 2)).hasMessageContaining("two inside");
    assertThatCode(() -> inside.enter("shared", true, 2)).doesNotThrowAnyException();
  }

  @Test
  void tokenThatDoesNotRiseIsNoticed() {
    // Given
    inside.enter("mutex", false, 5);
    inside.leave("mutex", false);
    inside.enter("shared", false, 5);
    inside.leave("shared", false);
    inside.enter("shared", true, 9);

    // When, Then
    assertThatThrownBy(() -> inside.enter("mutex", false, 5)).hasMessageContaining("token 5");
    assertThatThrownBy(() -> inside.enter("shared", true, 5)).hasMessageContaining("token 5");
    assertThatCode(() -> inside.enter("shared", true, 7)).doesNotThrowAnyException();
  }
}
