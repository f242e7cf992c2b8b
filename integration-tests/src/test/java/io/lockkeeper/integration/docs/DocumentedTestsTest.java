package io.lockkeeper.integration.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every test that a page names exists, and so does every class that the source map names. */
final class DocumentedTestsTest {

  /** {@code `FooIT`}, {@code `FooIT.method`}. */
  private static final Pattern TEST =
      Pattern.compile("`([A-Z][a-z]\\w*(?:Test|IT|Contract))((?:\\.\\w+)?)(?:\\(.*?\\))?`");

  /** {@code `methodWhoseNameIsASentence`}, of any class. */
  private static final Pattern SENTENCE = Pattern.compile("`()([a-z][a-zA-Z0-9]{24,})`");

  /** {@code `Foo`}, {@code `Foo.method`}, {@code `Foo.Nested.method`}. */
  private static final Pattern TYPE = Pattern.compile("`([A-Z][a-z]\\w*)((?:\\.\\w+)*)`");

  /** The sources by class name; all of them under the empty name. */
  private static final Map<String, String> SOURCES = new HashMap<>();

  @BeforeAll
  static void readSources() throws IOException {
    for (Path file : Tree.files().toList()) {
      if (Tree.nameOf(file).matches(".*/src/(main|test)/java/.*\\.java")) {
        String type = file.getFileName().toString().replace(".java", "");
        SOURCES.merge(type, Files.readString(file), String::concat);
      }
    }
    SOURCES.put("", String.join("", SOURCES.values()));
  }

  static Stream<String> pages() {
    return Tree.files()
        .map(Tree::nameOf)
        .filter(name -> name.matches("README\\.md|SECURITY\\.md|docs/.*\\.md"));
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyTestThatAPageNamesExists(String page) throws IOException {
    String text = Files.readString(Tree.ROOT.resolve(page));
    assertThat(missing(text, TEST)).as(page).isEmpty();
    assertThat(missing(text, SENTENCE)).as(page).isEmpty();
  }

  @Test
  void everyClassAndMemberOnTheSourceMapExists() throws IOException {
    String map = Files.readString(Tree.ROOT.resolve("docs/architecture.md"));
    assertThat(missing(map, TYPE)).isEmpty();
  }

  @Test
  void missingNamesAreFound() {
    assertThat(missing("`TreeTest`, `DocumentedTestsTest.pages`, `SnippetsTest.absent`", TEST))
        .containsExactly("`TreeTest`", "`SnippetsTest.absent`");
    assertThat(missing("`" + "x".repeat(30) + "`", SENTENCE)).hasSize(1);
  }

  private static List<String> missing(String text, Pattern names) {
    List<String> missing = new ArrayList<>();
    for (Matcher named = names.matcher(text); named.find(); ) {
      String source = SOURCES.getOrDefault(named.group(1), "");
      boolean declared =
          Pattern.compile("\\.")
              .splitAsStream(named.group(2))
              .filter(member -> !member.isEmpty())
              .allMatch(m -> source.contains(" " + m + "(") || source.contains(" " + m + " "));
      if (source.isEmpty() || !declared) {
        missing.add(named.group());
      }
    }
    return missing;
  }
}
