package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The pages say which test guards what, and the map which class does what. A test that was renamed
 * or deleted guards nothing: what a page names must exist.
 */
final class DocumentedTestsTest {

  private static final Path ROOT = Path.of("..");

  /** {@code `FooIT.bar`}, or {@code `FooIT`} alone. */
  private static final Pattern CLASS =
      Pattern.compile(
          "`([A-Z][a-z][A-Za-z0-9]*(?:Test|Tests|IT|Contract))(?:\\.([a-z]\\w*))?(?:\\(.*?\\))?`");

  /** {@code `aNameThatIsASentence`}: a test of the class named before, or of any. */
  private static final Pattern SENTENCE = Pattern.compile("`([a-z][a-zA-Z0-9]{24,})`");

  private static final Pattern SUPERCLASS = Pattern.compile("class \\w+ extends (\\w+)");

  /** {@code `Foo`}, {@code `Foo.bar`}, {@code `Foo.Nested.bar`}. */
  private static final Pattern MAPPED =
      Pattern.compile("`([A-Z][a-z]\\w*)((?:\\.[A-Z]\\w*)*)(?:\\.([a-z]\\w*))?`");

  private static final Path MAP = ROOT.resolve(Path.of("docs", "architecture.md"));

  private final Map<String, String> sources = sources("test");

  static Stream<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
      List<Path> pages = new ArrayList<>(docs.filter(p -> p.toString().endsWith(".md")).toList());
      pages.add(ROOT.resolve("README.md"));
      pages.add(ROOT.resolve("SECURITY.md"));
      return pages.stream().sorted();
    }
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyTestThatAPageNamesExists(Path page) throws IOException {
    assertThat(missing(Files.readString(page))).as("named in %s, but not there", page).isEmpty();
  }

  @Test
  void nameOfATestThatDoesNotExistIsFound() {
    // Given
    String page =
        "`DocumentedTestsTest.everyTestThatAPageNamesExists`, `NoSuchTest`, `DocumentedTestsTest`,"
            + " `DocumentedTestsTest.wasRenamed`, `testThatWasDeletedSomeTimeAgo`";

    // When
    Collection<String> missing = missing(page);

    // Then
    assertThat(missing)
        .containsExactlyInAnyOrder(
            "NoSuchTest", "DocumentedTestsTest.wasRenamed", "testThatWasDeletedSomeTimeAgo");
  }

  @Test
  void everyClassAndMethodThatTheMapNamesIsInTheTree() throws IOException {
    // Given
    Map<String, String> shipped = sources("main");

    // When
    List<String> missing = new ArrayList<>();
    Matcher named = MAPPED.matcher(Files.readString(MAP));
    while (named.find()) {
      String source = shipped.getOrDefault(named.group(1), "");
      boolean nested =
          Pattern.compile("\\.")
              .splitAsStream(named.group(2))
              .filter(type -> !type.isEmpty())
              .allMatch(type -> source.contains(" " + type + " ") || source.contains(type + "("));
      String method = named.group(3);
      if (source.isEmpty() || !nested || (method != null && !source.contains(" " + method + "("))) {
        missing.add(named.group());
      }
    }

    // Then
    assertThat(missing).as("named in %s, but not there", MAP).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"core", "coordinator", "zookeeper", "rpc"})
  void everyPackageOfTheServerIsOnTheMap(String parent) throws IOException {
    // Given
    String map = Files.readString(MAP);
    String drawn = map.substring(map.indexOf("subgraph " + parent + "["));
    Path folder = ROOT.resolve(Path.of("server/src/main/java/io/lockkeeper/server", parent));

    // When
    List<String> packages;
    try (Stream<Path> inside = Files.list(folder)) {
      packages = inside.filter(Files::isDirectory).map(p -> p.getFileName().toString()).toList();
    }

    // Then
    assertThat(packages).isNotEmpty();
    assertThat(drawn.substring(0, drawn.indexOf("  end\n"))).contains(packages);
  }

  private List<String> missing(String text) {
    List<String> missing = new ArrayList<>();
    Matcher named = CLASS.matcher(text);
    while (named.find()) {
      String type = named.group(1);
      String method = named.group(2);
      if (!sources.containsKey(type)) {
        missing.add(type);
      } else if (method != null && !declares(type, method)) {
        missing.add(type + "." + method);
      }
    }
    Matcher sentence = SENTENCE.matcher(text);
    while (sentence.find()) {
      String method = sentence.group(1);
      if (sources.keySet().stream().noneMatch(type -> declares(type, method))) {
        missing.add(method);
      }
    }
    return missing;
  }

  /** Returns whether a class or what it extends declares the test. */
  private boolean declares(String type, String method) {
    String source = sources.getOrDefault(type, "");
    if (source.contains("void " + method + "(")) {
      return true;
    }
    Matcher superclass = SUPERCLASS.matcher(source);
    return superclass.find() && declares(superclass.group(1), method);
  }

  private static Map<String, String> sources(String kind) {
    Map<String, String> found = new HashMap<>();
    try (Stream<Path> folders = Files.find(ROOT, 5, (path, is) -> path.endsWith("src/" + kind))) {
      for (Path sources : folders.toList()) {
        collect(sources, found);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  private static void collect(Path tests, Map<String, String> found) throws IOException {
    try (Stream<Path> files = Files.walk(tests)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        String name = file.getFileName().toString();
        String type = name.substring(0, name.length() - ".java".length());
        // Two modules may have a class of one name; the page means either.
        found.merge(type, Files.readString(file), String::concat);
      }
    }
  }
}
