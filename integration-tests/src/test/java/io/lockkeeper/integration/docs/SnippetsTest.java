package io.lockkeeper.integration.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.docs.Page.Block;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every example of a page stands in a file of the tree that is compiled or used, line for line, but
 * for blank lines and the indentation that its lines have in common. One that does not says why in
 * a line {@code <!-- not run: the reason -->} above it.
 */
final class SnippetsTest {

  /** Commands, what they print, drawings. */
  private static final Set<String> NO_SNIPPETS = Set.of("", "sh", "text", "mermaid");

  /** The examples of a page, in a language, that a test takes from the page and runs. */
  private static final Map<String, String> RUN_FROM_THE_PAGE =
      Map.of(
          "clients/python/README.md python", "clients/python/tests/test_readme.py",
          "clients/node/README.md js", "clients/node/test/readme.test.ts",
          "README.md python", "clients/python/tests/test_howto.py",
          "docs/how-to/cron-job-once.md python", "clients/python/tests/test_howto.py",
          "docs/how-to/cron-job-once.md js", "clients/node/test/howto.test.ts",
          "docs/how-to/leader-election.md python", "clients/python/tests/test_howto.py",
          "docs/how-to/leader-election.md js", "clients/node/test/howto.test.ts",
          "docs/how-to/migrations-once.md python", "clients/python/tests/test_howto.py",
          "docs/how-to/permits.md python", "clients/python/tests/test_howto.py",
          "docs/how-to/permits.md js", "clients/node/test/howto.test.ts");

  static Stream<Page> pagesWithSnippets() {
    return Page.all().filter(page -> page.blocks().stream().anyMatch(SnippetsTest::isSnippet));
  }

  static Stream<String> examplesRunFromThePage() {
    return RUN_FROM_THE_PAGE.keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("pagesWithSnippets")
  void everyExampleOfThePageStandsInTheTree(Page page) {
    assertThat(problems(page)).as("examples of %s", page).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("examplesRunFromThePage")
  void testThatTakesExamplesFromThePageIsThere(String example) throws IOException {
    // Given
    String page = example.substring(example.lastIndexOf('/') + 1, example.indexOf(".md"));

    // When
    String test = Files.readString(Tree.ROOT.resolve(RUN_FROM_THE_PAGE.get(example)));

    // Then
    assertThat(test).contains(page);
  }

  @Test
  void examplesThatMatchASourceOrSayWhyTheyAreNotRunHaveNoProblem() {
    assertThat(
            problems(
                Page.parse(
                    "planted.md",
                    """
                    - as an item, with another indentation and a blank line:

                      ```java
                      private static boolean isSnippet(Block block) {

                        return !NO_SNIPPETS.contains(block.language());
                      }
                      ```

                    <!-- not run: Redis -->
                    ```java
                    never();
                    ```
                    """)))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "```java\nprivate static boolean isSnippet(Block block) {\n}\n```\n",
        "```java\n```\n",
        "```kotlin\nprivate static boolean isSnippet(Block block) {\n```\n",
        "<!-- not run:   -->\n```java\nnever();\n```\n"
      })
  void exampleThatMatchesNoSourceOfItsLanguageOrGivesNoReasonIsAProblem(String page) {
    assertThat(problems(Page.parse("planted.md", page))).hasSize(1);
  }

  private static boolean isSnippet(Block block) {
    return !NO_SNIPPETS.contains(block.language());
  }

  private static List<String> problems(Page page) {
    return page.blocks().stream()
        .filter(SnippetsTest::isSnippet)
        .filter(block -> !RUN_FROM_THE_PAGE.containsKey(page.name() + " " + block.language()))
        .flatMap(block -> problem(block).stream())
        .toList();
  }

  private static Optional<String> problem(Block block) {
    if (block.reason().isPresent()) {
      return block.reason().get().isEmpty()
          ? Optional.of("line " + block.line() + ": no reason is given")
          : Optional.empty();
    }
    List<String> snippet = Snippets.flush(block.lines());
    boolean stands =
        !snippet.isEmpty()
            && Tree.files()
                .filter(file -> isSource(block.language(), file))
                .anyMatch(file -> Snippets.stands(snippet, file));
    return stands
        ? Optional.empty()
        : Optional.of(
            "line %d: stands in no file for %s:%n%s"
                .formatted(block.line(), block.language(), String.join("\n", snippet)));
  }

  /** Returns whether an example in the language may be quoted from the file. */
  private static boolean isSource(String language, Path file) {
    String name = Tree.nameOf(file);
    boolean isTested = name.startsWith("clients/") || name.startsWith("integration-tests/");
    return switch (language) {
      case "java" -> name.contains("/src/") && name.endsWith(".java");
      case "kotlin" ->
          (name.contains("/src/") && name.endsWith(".kt")) || name.endsWith(".gradle.kts");
      case "python" -> isTested && name.endsWith(".py");
      case "go" -> isTested && name.endsWith(".go");
      case "ts", "js" -> isTested && name.matches(".*\\.m?[jt]s");
      default -> !name.endsWith(".md");
    };
  }
}
