package io.lockkeeper.integration.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How many items are left: a number in a file that all shops share, and that protects itself from
 * nothing.
 */
record Stock(Path file) {

  int read() {
    try {
      return Integer.parseInt(Files.readString(file).trim());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void write(int left) {
    try {
      // Replaced in one piece, so that a reader without a lock sees a number at least.
      Path next = Files.createTempFile(file.getParent(), "stock", ".next");
      Files.writeString(next, Integer.toString(left));
      Files.move(next, file, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
