package io.lockkeeper.integration.curator;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.junit.jupiter.api.Test;

/** The page that maps Curator's classes has all of them. */
final class CuratorClassesTest {

  private static final Pattern CLASS =
      Pattern.compile("org/apache/curator/framework/recipes/locks/([A-Za-z0-9]+)\\.class");

  @Test
  void everyClassOfCuratorsPackageIsMapped() throws Exception {
    // Given
    String page = Files.readString(Path.of("..", "docs", "migrate", "from-curator.md"));

    // When
    List<String> classes = classes();

    // Then
    assertThat(classes).hasSizeGreaterThan(10);
    assertThat(classes).allSatisfy(name -> assertThat(page).contains("`" + name + "`"));
  }

  private static List<String> classes() throws Exception {
    try (JarFile jar = new JarFile(jar().toFile());
        Stream<String> names = jar.stream().map(entry -> entry.getName())) {
      return names
          .map(CLASS::matcher)
          .filter(Matcher::matches)
          .map(matcher -> matcher.group(1))
          .sorted()
          .toList();
    }
  }

  private static Path jar() throws URISyntaxException {
    return Path.of(
        InterProcessMutex.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }
}
