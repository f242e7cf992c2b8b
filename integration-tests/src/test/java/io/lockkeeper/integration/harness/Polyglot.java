package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** The programs that {@code polyglot/install.sh} installs. */
public enum Polyglot {
  /** Checks the web page in a browser. */
  PAGE(
      "../page/node_modules/puppeteer-core ../page/node_modules/axe-core build/bin/chromium",
      "node ../page/page.mjs build/bin/chromium"),
  /** Judges the histories of a chaos run. */
  CHAOS_CHECKER("build/bin/chaos-checker", "build/bin/chaos-checker"),
  /** Scrapes metrics and evaluates rules. */
  PROMETHEUS("build/bin/prometheus", "build/bin/prometheus"),
  /** Validates metrics and rules. */
  PROMTOOL("build/bin/promtool", "build/bin/promtool");

  private static final Path HOME = Path.of("polyglot").toAbsolutePath();

  private final String needed;
  private final String command;

  /** Both are separated by spaces: the files that must exist, and the command line. */
  Polyglot(String needed, String command) {
    this.needed = needed;
    this.command = command;
  }

  /** Skips the test with a printed line if the program is not installed. */
  public void assumeInstalled() {
    assumeInstalled(name(), needed);
  }

  private static void assumeInstalled(String what, String needed) {
    if (!Stream.of(needed.split(" ", -1)).allMatch(file -> Files.exists(HOME.resolve(file)))) {
      String skipped =
          "SKIPPED: " + what + " is not installed; run integration-tests/polyglot/install.sh";
      System.out.println(skipped);
      Assumptions.abort(skipped);
    }
  }

  /** Returns a file; skips the test with a printed line if it is not installed. */
  static Path assumeFile(String file) {
    assumeInstalled(file, file);
    return HOME.resolve(file);
  }

  /** Starts the program. */
  public Running start(String... arguments) {
    List<String> line = new ArrayList<>();
    for (String word : command.split(" ", -1)) {
      line.add(Files.isRegularFile(HOME.resolve(word)) ? HOME.resolve(word).toString() : word);
    }
    line.addAll(List.of(arguments));
    Path errors = Scratch.directory(name().toLowerCase(Locale.ROOT)).resolve("stderr");
    ProcessBuilder builder = new ProcessBuilder(line).redirectError(Redirect.to(errors.toFile()));
    try {
      return new Running(this, builder.start(), errors);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * A running program.
   *
   * @param program the program
   * @param process its process
   * @param errors the file that receives its standard error
   */
  public record Running(Polyglot program, Process process, Path errors) implements AutoCloseable {

    private static final long TIMEOUT_SECONDS = 240;

    /** Waits until the program exits, and returns its exit code. */
    public int awaitExit() {
      try {
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
          throw new AssertionError(program + " does not exit: " + said());
        }
        return process.exitValue();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }

    /** Returns what the program wrote to its standard error. */
    public String said() {
      try {
        return Files.readString(errors);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }
}
