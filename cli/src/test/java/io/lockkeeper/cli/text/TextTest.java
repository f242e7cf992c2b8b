package io.lockkeeper.cli.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextTest {

  @ParameterizedTest
  @CsvSource({
    "PT0S, 0 ms",
    "PT-1S, 0 ms",
    "PT0.85S, 850 ms",
    "PT13.9S, 13 s",
    "PT60S, 1 m",
    "PT125S, 2 m 5 s",
    "PT1H, 1 h",
    "PT2H5M, 2 h 5 m",
    "PT25H, 1 d 1 h",
    "PT240H, 10 d"
  })
  void ageIsSaidInTheTwoLargestUnitsThatMatter(Duration age, String expected) {
    // When // Then
    assertThat(Text.age(age)).isEqualTo(expected);
  }

  @Test
  void namesOfOthersCannotSteerTheTerminal() {
    // When // Then
    assertThat(Text.plain("a\u001b[2Jb\nc\u202ed\u2028e\u2029f\u200bg"))
        .isEqualTo("a?[2Jb?c?d?e?f?g");
    assertThat(Text.plain("Zoë 🔒")).isEqualTo("Zoë 🔒");
  }

  @Test
  void columnsAreAsWideAsTheirWidestCellUpToALimit() {
    // Given
    String longName = "x".repeat(400);
    Table table = new Table(Style.PLAIN, "LOCK", "WAITING");
    table.row("a", "1");
    table.row(longName, "2");
    StringWriter out = new StringWriter();
    // When
    table.print(new PrintWriter(out));
    // Then
    assertThat(out.toString().lines())
        .containsExactly(
            "LOCK" + " ".repeat(38) + "WAITING", "a" + " ".repeat(41) + "1", longName + "  2");
  }

  @Test
  void textThatIsTooLongHasAnEllipsis() {
    assertThat(Text.shortened("abcdefgh", 8)).isEqualTo("abcdefgh");
    assertThat(Text.shortened("abcdefghi", 8)).isEqualTo("abcd…ghi");
    assertThat(Text.cut("abcdefgh", 8)).isEqualTo("abcdefgh");
    assertThat(Text.cut("abcdefghi", 8)).isEqualTo("abcdefg…");
  }
}
