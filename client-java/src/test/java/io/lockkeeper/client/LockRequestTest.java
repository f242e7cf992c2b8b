package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is refused before it is sent. */
class LockRequestTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a//b",
        "/a",
        "a/",
        "..",
        "a/./b",
        "a\nb",
        "\ud800",
        "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17"
      })
  void malformedNameIsRefused(String name) {
    assertThatThrownBy(() -> LockRequest.of(name)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void lengthOfNamesIsCountedInBytes() {
    // Given // When
    LockRequest longest = LockRequest.of("é".repeat(256));
    // Then
    assertThat(longest.name()).hasSize(256);
    assertThatThrownBy(() -> LockRequest.of("é".repeat(257)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("514");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT-1S", "P8D"})
  void waitLimitOutOfRangeIsRefused(String limit) {
    assertThatThrownBy(() -> LockRequest.of("a").waitAtMost(Duration.parse(limit)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void everyMethodReturnsAChangedCopy() {
    // Given
    LockRequest plain = LockRequest.of("a");
    // When
    LockRequest changed =
        plain.waitAtMost(Duration.ofSeconds(1)).holder("me").metadata("k", "v").metadata("l", "w");
    // Then
    assertThat(plain.waitLimit()).isEmpty();
    assertThat(plain.metadata()).isEmpty();
    assertThat(changed.waitLimit()).contains(Duration.ofSeconds(1));
    assertThat(changed.holder()).contains("me");
    assertThat(changed.metadata()).containsEntry("k", "v").containsEntry("l", "w");
  }
}
