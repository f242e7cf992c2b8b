package io.lockkeeper.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KitTest {

  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);

  @Test
  void textThatIsInNoNameOfAScenarioFailsAndSaysSo() throws IOException {
    // When
    boolean good = Kit.run(out, "--client", "true", "--only", "NoSuchScenario");
    // Then
    assertThat(good).isFalse();
    assertThat(printed.toString(StandardCharsets.UTF_8)).contains("NoSuchScenario", "nothing");
  }

  @Test
  void clientThatDoesNothingFailsAndIsShown() throws IOException {
    // When
    boolean good = Kit.run(out, "--client", "true", "--only", "Acquire.severalLocksAreOneRequest");
    // Then
    assertThat(good).isFalse();
    assertThat(printed.toString(StandardCharsets.UTF_8)).contains("FAIL", "0 of 1 scenarios");
  }

  @Test
  void whatAClientCannotDoAndNeedNotIsLeftOutAndSaid() throws IOException {
    // Given
    String unable =
        "sh -c 'echo \"{\\\"is\\\":\\\"unsupported\\\",\\\"id\\\":\\\"a\\\"}\"; exec cat'";
    // When
    boolean good = Kit.run(out, "--client", unable, "--only", "Kept.requestWantsToBeTold");
    // Then
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains("skip  Kept.requestWantsToBeTold", "0 of 1 scenarios passed, 1 left out");
    assertThat(good).isTrue();
  }

  @Test
  void mistakeThatCrashesIsNotFound() throws IOException {
    // Given
    String command = "printf '%s %s\\n' Crashes Acquire.whoeverWaitsDoesNotHold; true";
    // When
    boolean good = Kit.run(out, "--mistakes", command, "--only", "Acquire.whoeverWaits");
    // Then
    assertThat(good).isFalse();
    assertThat(printed.toString(StandardCharsets.UTF_8)).contains("NOT FOUND", "0 of 1 planted");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--client",
        "--client x --jobs",
        "--client x --jobs 0",
        "--client x --jobs many",
        "--clients x",
        "--jobs 2"
      })
  void optionsThatMeanNothingAreRefused(String options) {
    // When, then
    assertThatThrownBy(() -> Kit.run(out, options.split(" ")))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
