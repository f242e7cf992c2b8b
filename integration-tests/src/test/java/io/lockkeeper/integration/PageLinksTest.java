package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every link from a page of the repository to a file of it, or to a heading, leads somewhere, with
 * the names that GitHub gives to headings. Links to other hosts are not followed.
 */
final class PageLinksTest {

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  /** Folders that a build or an installation of packages makes. */
  private static final Set<String> MADE =
      Set.of("target", "build", "node_modules", ".git", ".venv", "data");

  /** Where no link is one: blocks of code, code in a line, comments. */
  private static final Pattern NO_TEXT =
      Pattern.compile("(?ms)^( *)(```+).*?^\\1\\2 *$|<!--.*?-->|(`+)(?!`)[^\n]+?(?<!`)\\3(?!`)");

  private static final Pattern BLOCK = Pattern.compile("(?ms)^( *)(```+).*?^\\1\\2 *$|<!--.*?-->");

  private static final Pattern LINK = Pattern.compile("]\\(([^)\\s#:]*)(?:#([^)\\s]*))?\\)");

  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.*?)(?: +#+)? *$");

  static Stream<Path> pages() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(path -> path.toString().endsWith(".md") && !isMade(ROOT.relativize(path)))
          .sorted()
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyLinkOfAPageLeadsToAFileAndAHeadingThatIsThere(Path page) {
    assertThat(dead(page)).as("links of %s that lead nowhere", page).isEmpty();
  }

  @Test
  void pagesOfTheRootTheDocumentsAndTheClientsAreLookedAt() throws IOException {
    // When
    List<String> pages = pages().map(page -> ROOT.relativize(page).toString()).toList();

    // Then
    assertThat(pages)
        .contains("README.md", "CHANGELOG.md", "SECURITY.md", "docs/README.md")
        .contains("docs/migrate/from-curator.md", "client-java/README.md")
        .contains("clients/python/README.md", "clients/go/README.md", "clients/node/README.md");
  }

  @Test
  void linkThatLeadsNowhereIsFound(@TempDir Path folder) throws IOException {
    // Given
    Path page = folder.resolve("page.md");
    Files.writeString(folder.resolve("other.md"), "# Other\n\n## At 3 a.m.\n");
    Files.writeString(
        page,
        """
        # A `page` of (many) words: 1_2 & more

        ## Twice

        ## Twice

        [a](other.md), [b](other.md#at-3-am), [c](#twice-1), [d](#a-page-of-many-words-1_2--more)
        [e](https://example.org/#x), `[f](absent.md)` <!-- [g](absent.md) -->
        [h](absent.md), [i](other.md#at-4-am), [j](#twice-2), [k](absent.md#x), [l](#comment)

        ```sh
        # comment
        [m](absent.md)
        ```
        """);

    // When
    List<String> dead = dead(page);

    // Then
    assertThat(dead)
        .containsExactly("absent.md", "other.md#at-4-am", "#twice-2", "absent.md#x", "#comment");
  }

  /** Returns the links of {@code page} that lead nowhere, as they are written there. */
  private static List<String> dead(Path page) {
    List<String> dead = new ArrayList<>();
    Matcher link = LINK.matcher(NO_TEXT.matcher(read(page)).replaceAll("`"));
    while (link.find()) {
      Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
      String anchor = link.group(2);
      if (!Files.exists(target) || (anchor != null && !anchors(target).contains(anchor))) {
        dead.add(link.group(1) + (anchor == null ? "" : "#" + anchor));
      }
    }
    return dead;
  }

  /** Returns the anchors of the headings of {@code page}; a folder has none. */
  private static Set<String> anchors(Path page) {
    Set<String> anchors = new HashSet<>();
    if (!Files.isRegularFile(page)) {
      return anchors;
    }
    Map<String, Integer> repeats = new HashMap<>();
    Matcher heading = HEADING.matcher(BLOCK.matcher(read(page)).replaceAll(""));
    while (heading.find()) {
      String slug = slug(heading.group(1));
      int before = repeats.merge(slug, 1, Integer::sum) - 1;
      anchors.add(before == 0 ? slug : slug + "-" + before);
    }
    return anchors;
  }

  /** Returns what GitHub calls a heading: lower case, no punctuation, a hyphen for each space. */
  private static String slug(String heading) {
    return heading
        .replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^\\p{L}\\p{M}\\p{N}_\\- ]", "")
        .replace(' ', '-');
  }

  private static boolean isMade(Path path) {
    for (Path part : path) {
      if (MADE.contains(part.toString())) {
        return true;
      }
    }
    return false;
  }

  private static String read(Path page) {
    try {
      return Files.readString(page);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
