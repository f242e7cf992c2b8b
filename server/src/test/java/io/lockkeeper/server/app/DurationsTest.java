package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {

  @ParameterizedTest
  @CsvSource({"500ms, PT0.5S", "30s, PT30S", "2m, PT2M", "1h, PT1H", "7d, PT168H", "0s, PT0S"})
  void durationIsAWholeNumberAndAUnit(String text, Duration expected) {
    // When
    Duration parsed = Durations.parse(text);
    // Then
    assertThat(parsed).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "30", "s", "-1s", "1.5s", "30 s", "30S", "1w", "1h30m", "99999999999999999s"})
  void anythingElseIsRefusedWithAnExample(String text) {
    // When // Then
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Durations.parse(text))
        .withMessageContaining("\"" + text + "\"")
        .withMessageContaining("30s");
  }

  @Test
  void durationTooLongForTheClockIsRefusedNotOverflowed() {
    // When // Then
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Durations.parse("999999999999999d"))
        .withMessageContaining("longer than a duration can be");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0s", "500ms", "1500ms", "30s", "90s", "2m", "1h", "25h", "7d"})
  void formattedDurationParsesBackToItself(String text) {
    // When
    String formatted = Durations.format(Durations.parse(text));
    // Then
    assertThat(formatted).isEqualTo(text);
  }
}
