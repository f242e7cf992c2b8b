package io.lockkeeper.integration.harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** The programs that {@code polyglot/install.sh} has made ready. */
public enum Polyglot {
  /** The client in Python. */
  PYTHON(
      "build/python/bin/python build/python-stubs/lockkeeper",
      "build/python/bin/python python/client.py"),
  /** The client in Go. */
  GO("build/bin/go-client", "build/bin/go-client"),
  /** The client in JavaScript. */
  NODE("node/node_modules/@grpc/grpc-js", "node node/client.js"),
  /** The checks of the web page, in a browser. */
  PAGE(
      "../page/node_modules/puppeteer-core ../page/node_modules/axe-core build/bin/chromium",
      "node ../page/page.mjs build/bin/chromium"),
  /** The command line tool. */
  GRPCURL("build/bin/grpcurl", "build/bin/grpcurl"),
  /** What reads the histories of a run of chaos. */
  CHAOS_CHECKER("build/bin/chaos-checker", "build/bin/chaos-checker"),
  /** What scrapes metrics. */
  PROMETHEUS("build/bin/prometheus", "build/bin/prometheus"),
  /** What checks metrics and rules. */
  PROMTOOL("build/bin/promtool", "build/bin/promtool");

  private static final Path HOME = Path.of("polyglot").toAbsolutePath();

  private final String needed;
  private final String command;

  /** Both are words with a space between them: files that must be there, and what to run. */
  Polyglot(String needed, String command) {
    this.needed = needed;
    this.command = command;
  }

  /** Returns whether the program can be started; says so loudly if not. */
  public boolean isInstalled() {
    return isInstalled(name(), needed);
  }

  private static boolean isInstalled(String what, String needed) {
    boolean installed =
        Stream.of(needed.split(" ", -1)).allMatch(file -> Files.exists(HOME.resolve(file)));
    if (!installed) {
      System.out.println(
          "SKIPPED: " + what + " is not installed; run integration-tests/polyglot/install.sh");
    }
    return installed;
  }

  /** Skips the test loudly if the program is not installed. */
  public void assumeInstalled() {
    assumeInstalled(name(), needed);
  }

  private static void assumeInstalled(String what, String needed) {
    Assumptions.assumeTrue(isInstalled(what, needed), "SKIPPED: " + what + " is not installed");
  }

  /** Returns a file that is no program; skips the test loudly if it is not installed. */
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
    builder.environment().put("PYTHONPATH", HOME.resolve("build/python-stubs").toString());
    builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
    try {
      return new Running(this, builder.start(), errors);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * A program that was started.
   *
   * @param program which
   * @param process its process
   * @param errors what it writes to its standard error
   */
  public record Running(Polyglot program, Process process, Path errors) implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 90;

    /** Waits for the line that says that it is connected. */
    public void awaitReady() {
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      try {
        if (!"ready".equals(lines.readLine())) {
          throw new AssertionError(program + " is not ready: " + said());
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Tells it to begin. */
    public void go() {
      try {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Waits until it ends, and returns its exit code. */
    public int awaitExit() {
      try {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
          throw new AssertionError(program + " does not end: " + said());
        }
        return process.exitValue();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }

    /** Returns what it wrote to its standard error. */
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
