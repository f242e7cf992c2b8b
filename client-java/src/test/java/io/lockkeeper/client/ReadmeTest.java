package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.example.Checkout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples of the README compile, and do what they say. */
class ReadmeTest {

  private static final Path EXAMPLES = Path.of("src/test/java/io/lockkeeper/example");

  @ParameterizedTest
  @ValueSource(strings = {"Checkout.java", "Observed.java"})
  void exampleIsTheOneThatIsCompiled(String file) throws IOException {
    // Given
    String readme = Files.readString(Path.of("README.md"));
    String source = Files.readString(EXAMPLES.resolve(file));
    // When
    String example = source.substring(source.indexOf("import "));
    // Then
    assertThat(readme).contains("```java\n" + example + "```\n");
  }

  @Test
  void versionIsTheOneThatIsBuiltHereAndInTheBom() throws IOException {
    // Given
    Pattern version = Pattern.compile("<version>([^<]+)</version>");
    Function<Path, String> first =
        file -> {
          try {
            return version
                .matcher(Files.readString(file))
                .results()
                .map(found -> found.group(1))
                .findFirst()
                .orElseThrow();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        };
    // When
    String built = first.apply(Path.of("pom.xml"));
    // Then
    assertThat(first.apply(Path.of("README.md"))).isEqualTo(built);
    assertThat(first.apply(Path.of("../bom/pom.xml"))).isEqualTo(built);
  }

  @ParameterizedTest
  @CsvSource({
    "Spring Boot, spring-boot.version",
    "Quarkus, quarkus.version",
    "Micronaut, micronaut.version"
  })
  void versionOfTheFrameworkIsTheOneThatIsBuiltWith(String framework, String property)
      throws IOException {
    // Given
    Matcher version =
        Pattern.compile("<" + property + ">([^<]+)<")
            .matcher(Files.readString(Path.of("../pom.xml")));
    // When
    boolean isThere = version.find();
    // Then
    assertThat(isThere).isTrue();
    assertThat(Files.readString(Path.of("README.md")))
        .contains("| " + framework + " " + version.group(1) + " |");
  }

  @Test
  void exampleSellsUnderATokenAndGivesUpWhatIsTaken() throws IOException, InterruptedException {
    // Given
    List<Long> tokens = new CopyOnWriteArrayList<>();
    try (GrantingServer server = new GrantingServer();
        LockkeeperClient client = server.clientBuilder().build()) {
      Checkout checkout =
          new Checkout(
              client,
              (item, fencingToken) -> {
                tokens.add(fencingToken);
                return 7;
              });
      // When
      int left = checkout.sell("lamp");
      boolean sold = checkout.trySell("lamp");
      boolean soldThoughTaken = checkout.trySell("taken");
      // Then
      assertThat(left).isEqualTo(7);
      assertThat(sold).isTrue();
      assertThat(soldThoughTaken).isFalse();
      assertThat(tokens).containsExactly(1L, 2L);
    }
  }

  @Test
  void exampleIsNotSureOfWhatIsLostMeanwhile() throws IOException, InterruptedException {
    // Given
    try (GrantingServer server = new GrantingServer();
        LockkeeperClient client = server.clientBuilder().build()) {
      Checkout checkout =
          new Checkout(
              client,
              (item, fencingToken) -> {
                // What is answered after the loss was told is heard after it.
                client.acquire(LockRequest.of("another")).join();
                return 7;
              });
      // When
      boolean sold = checkout.trySell("lost");
      // Then
      assertThat(sold).isFalse();
    }
  }
}
