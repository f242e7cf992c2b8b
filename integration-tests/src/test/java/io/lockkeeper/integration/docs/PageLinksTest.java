package io.lockkeeper.integration.docs;

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
 * Every link from a page to a file or a heading of the repository has a target. Headings have the
 * anchors that GitHub gives them. Links to other hosts are not followed.
 */
final class PageLinksTest {

  /** Text in which links do not count: code blocks, inline code, comments. */
  private static final Pattern NO_TEXT =
      Pattern.compile("(?ms)^( *)(```+).*?^\\1\\2 *$|<!--.*?-->|(`+)(?!`)[^\n]+?(?<!`)\\3(?!`)");

  private static final Pattern BLOCK = Pattern.compile("(?ms)^( *)(```+).*?^\\1\\2 *$|<!--.*?-->");

  private static final Pattern LINK = Pattern.compile("]\\(([^)\\s#:]*)(?:#([^)\\s]*))?\\)");

  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.*?)(?: +#+)? *$");

  static Stream<Path> pages() {
    return Tree.files().filter(path -> path.toString().endsWith(".md")).sorted();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyLinkOfAPageHasATarget(Path page) {
    assertThat(dead(page)).as("dead links of %s", page).isEmpty();
  }

  @Test
  void pagesOfTheRootTheDocumentsAndTheClientsAreChecked() {
    // When
    List<String> pages = pages().map(Tree::nameOf).toList();

    // Then
    assertThat(pages)
        .contains("README.md", "CHANGELOG.md", "SECURITY.md", "docs/README.md")
        .contains("docs/migrate/from-curator.md", "client-java/README.md")
        .contains("clients/python/README.md", "clients/go/README.md", "clients/node/README.md");
  }

  @Test
  void deadLinksAreFound(@TempDir Path folder) throws IOException {
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

  /** Returns the links of {@code page} without a target, as the page writes them. */
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

  private static String read(Path page) {
    try {
      return Files.readString(page);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
