package io.lockkeeper.integration.examples;

import io.lockkeeper.integration.harness.Jar;
import io.lockkeeper.integration.harness.Scratch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** An instance of an example application, in a process of its own; its output goes to a file. */
final class ExampleProcess implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Process process;
  private final Path output;

  private ExampleProcess(Process process, Path output) {
    this.process = process;
    this.output = output;
  }

  /** Starts an instance of {@code integrations/examples/<name>} and waits for nothing. */
  static ExampleProcess start(String name, String... arguments) {
    return start(name, Map.of(), arguments);
  }

  /** The same, with more variables in its environment. */
  static ExampleProcess start(String name, Map<String, String> environment, String... arguments) {
    List<String> command =
        new ArrayList<>(List.of(Jar.JAVA, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add("-Xmx256m");
    command.addAll(List.of("-jar", jar(name).toString()));
    command.addAll(List.of(arguments));
    Path output = Scratch.directory("example-" + name).resolve("output");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
      builder.environment().putAll(environment);
      return new ExampleProcess(builder.start(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path jar(String name) {
    Path target = Path.of("..", "integrations", "examples", name, "target");
    Path ofQuarkus = target.resolve("quarkus-app/quarkus-run.jar");
    if (Files.exists(ofQuarkus)) {
      return ofQuarkus;
    }
    try (Stream<Path> files = Files.list(target)) {
      return files
          .filter(
              file -> file.getFileName().toString().matches("lockkeeper-example-.*SNAPSHOT.jar"))
          .findFirst()
          .orElseThrow(() -> new IllegalStateException("no jar of the example in " + target));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "the examples are not built: ./mvnw -pl integrations package", e);
    }
  }

  /** Returns the lines that it has printed so far. */
  List<String> lines() {
    try {
      return Files.readAllLines(output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the lines so far that have a text. */
  List<String> lines(String text) {
    return lines().stream().filter(line -> line.contains(text)).toList();
  }

  /** Waits until it has printed a text. */
  void await(String text) {
    Awaitility.await(text + " in " + output)
        .until(() -> !lines(text).isEmpty() || !process.isAlive());
    if (lines(text).isEmpty()) {
      throw new AssertionError("ended without " + text + ": " + lines());
    }
  }

  /** Waits for its end, and returns its exit code. */
  int awaitEnd() {
    try {
      if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("still running: " + lines());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    return process.exitValue();
  }

  /** Ends it as a crash does. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Ends it as an orderly stop does, and waits for that. */
  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        kill();
      }
    } catch (InterruptedException e) {
      kill();
      Thread.currentThread().interrupt();
    }
  }
}
