package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.example.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The example of the README compiles, and does what it says. */
@Timeout(60)
class ReadmeTest {

  @Test
  void exampleIsTheOneThatIsCompiled() throws IOException {
    // Given
    String readme = Files.readString(Path.of("README.md"));
    String source = Files.readString(Path.of("src/test/java/io/lockkeeper/example/Checkout.java"));
    // When
    String example = source.substring(source.indexOf("import "));
    // Then
    assertThat(readme).contains("```java\n" + example + "```\n");
  }

  @Test
  void exampleDecrementsUnderATokenAndGivesUpWhatIsTaken()
      throws IOException, InterruptedException {
    // Given
    AtomicLong token = new AtomicLong();
    try (GrantingServer server = new GrantingServer();
        LockkeeperClient client = server.clientBuilder().build()) {
      Checkout checkout =
          new Checkout(
              client,
              (item, fencingToken) -> {
                token.set(fencingToken);
                return 7;
              });
      // When
      int left = checkout.sell("lamp");
      boolean sold = checkout.trySell("lamp");
      // Then
      assertThat(left).isEqualTo(7);
      assertThat(sold).isTrue();
      assertThat(token).hasValue(2);
    }
  }
}
