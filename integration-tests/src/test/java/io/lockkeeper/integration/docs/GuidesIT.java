package io.lockkeeper.integration.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.docs.Page.Block;
import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.integration.harness.Jar;
import io.lockkeeper.integration.harness.Scratch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the commands of every page as a reader would, one block {@code sh} after the other in one
 * bash, and compares what they print with what the page shows. They run at the root of a copy of
 * the sources with the program in it that is built already, so they may write there, and {@code
 * make run} has nothing to build. A block below a line {@code <!-- not run: the reason -->} is left
 * out. Pages wait for most of their time, so several run at once.
 */
@Alone
final class GuidesIT {

  private static final int AT_ONCE = 3;

  /** What a page may use that a machine may lack, and the question that tells. */
  private static final Map<String, String> PROGRAMS =
      Map.of(
          "openssl", "openssl x509 -help 2>&1 | grep -q -e -copy_extensions",
          "curl", "curl --version",
          "grpcurl", "test -x polyglot/build/bin/grpcurl",
          "promtool", "test -x polyglot/build/bin/promtool",
          "python3", "python3 --version",
          "cc", "cc --version",
          "make", "make --version");

  private static final Map<Page, Future<Optional<String>>> DIFFERENCES = new HashMap<>();

  /** Starts to run all pages, the longest first. */
  @BeforeAll
  static void runPages() {
    ExecutorService shells = Executors.newFixedThreadPool(AT_ONCE);
    pagesWithCommands()
        .filter(page -> new Guide(page).isRunnable())
        .sorted(Comparator.comparing((Page page) -> page.blocks().size()).reversed())
        .forEach(page -> DIFFERENCES.put(page, shells.submit(() -> run(page))));
    shells.shutdown();
  }

  static Stream<Page> pagesWithCommands() {
    return Page.all().filter(page -> has(page, "sh"));
  }

  private static boolean has(Page page, String language) {
    return page.blocks().stream().anyMatch(block -> block.language().equals(language));
  }

  @ParameterizedTest
  @Timeout(value = 30, unit = TimeUnit.MINUTES)
  @MethodSource("pagesWithCommands")
  void everyCommandOfThePagePrintsWhatThePageShows(Page page) throws Exception {
    // Given
    Guide guide = new Guide(page);
    report(page, guide.skipped());
    List<String> missing = missing(guide);
    missing.forEach(program -> System.out.println("SKIPPED: " + program + " is not installed"));
    Assumptions.assumeTrue(missing.isEmpty(), "SKIPPED: not installed: " + missing);

    // When
    Optional<String> difference =
        guide.isRunnable() ? DIFFERENCES.get(page).get() : Optional.empty();

    // Then
    assertThat(difference).as("difference from %s", page).isEmpty();
    assertThat(guide.skipped())
        .as("blocks that are not run for a reason")
        .noneMatch(block -> block.reason().orElse("").isEmpty());
  }

  /** Returns what did not go as the page says; empty if all did, or if a program is missing. */
  private static Optional<String> run(Page page) throws Exception {
    Guide guide = new Guide(page);
    if (!missing(guide).isEmpty()) {
      return Optional.empty();
    }
    Path log = Scratch.directory("guide-" + page.name().replace('/', '-'));
    Path copy = Files.createDirectory(log.resolve("copy"));
    copySourcesAndProgram(copy);
    Optional<String> difference = guide.run(copy, log);
    delete(copy);
    return difference;
  }

  private static void report(Page page, List<Block> skipped) {
    if (!skipped.isEmpty()) {
      System.out.println(page + ": " + skipped.size() + " blocks are not run");
    }
    for (Block block : skipped) {
      System.out.println("  line " + block.line() + ": " + block.reason().orElse(""));
    }
  }

  /** The program comes last: it is newer than its sources, and make has nothing to build. */
  private static void copySourcesAndProgram(Path copy) throws IOException {
    Tree.copyTo(copy);
    Path program = copy.resolve(Tree.ROOT.relativize(Jar.PROGRAM));
    Files.createDirectories(program.getParent());
    Files.copy(Jar.PROGRAM, program);
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  /** Returns the programs that a page uses and this machine lacks. */
  private static List<String> missing(Guide guide) throws Exception {
    List<String> missing = new ArrayList<>();
    for (Map.Entry<String, String> program : PROGRAMS.entrySet()) {
      if (guide.uses(program.getKey()) && !isAnswered(program.getValue())) {
        missing.add(program.getKey());
      }
    }
    return missing;
  }

  private static boolean isAnswered(String question) throws Exception {
    try {
      return new ProcessBuilder("bash", "-c", question)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) { // There is no bash.
      return false;
    }
  }
}
