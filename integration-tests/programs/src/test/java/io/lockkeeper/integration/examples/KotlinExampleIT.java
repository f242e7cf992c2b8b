package io.lockkeeper.integration.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Rig;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The example for Kotlin: coroutines that buy from one stock. */
final class KotlinExampleIT {

  private static final Pattern SALE =
      Pattern.compile("took a book with token (\\d+), (\\d) are left");

  @Test
  void coroutinesSellEachBookOnceUnderRisingTokens() {
    // Given
    String server = Rig.shared().server().address();

    // When
    try (ExampleProcess example = ExampleProcess.start("kotlin", server)) {
      int exitCode = example.awaitEnd();

      // Then
      assertThat(exitCode).as("%s", example.lines()).isZero();
      List<Matcher> sales =
          example.lines().stream().map(SALE::matcher).filter(Matcher::find).toList();
      assertThat(sales)
          .extracting(sale -> sale.group(2))
          .containsExactly("5", "4", "3", "2", "1", "0");
      assertThat(sales).extracting(sale -> Long.parseLong(sale.group(1))).isSorted();
      assertThat(example.lines()).last().isEqualTo("sold 6 books, 0 are left");
    }
  }
}
