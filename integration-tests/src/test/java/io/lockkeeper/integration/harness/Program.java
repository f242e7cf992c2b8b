package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What a run of the program came to, in a process of its own.
 *
 * @param exitCode its exit code
 * @param text its standard output and standard error
 */
public record Program(int exitCode, String text) {

  private static final long PATIENCE_SECONDS = 60;

  /** What soon ends need not be compiled well. */
  private static final List<String> SHORT = List.of("-XX:TieredStopAtLevel=1");

  /** Runs the program from its jar, with nothing on its standard input, and waits for its end. */
  public static Program run(Map<String, String> environment, String... arguments) {
    List<String> command = new ArrayList<>(Jar.command(SHORT));
    command.addAll(List.of(arguments));
    Path output = Scratch.directory("program").resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(output.toFile());
    builder.environment().putAll(environment);
    try {
      Process process = builder.start();
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IllegalStateException("still running: " + command);
      }
      return new Program(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
