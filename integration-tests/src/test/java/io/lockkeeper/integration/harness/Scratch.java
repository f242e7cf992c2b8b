package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Directories for what the processes of a test write; under {@code target}, where they can be read
 * after a failure.
 */
public final class Scratch {

  private Scratch() {}

  /** Returns a new empty directory. */
  public static Path directory(String purpose) {
    try {
      Path parent = Files.createDirectories(Path.of("target", "scratch"));
      return Files.createTempDirectory(parent.toAbsolutePath(), purpose + "-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
