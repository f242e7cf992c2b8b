package io.lockkeeper.examples.spring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * How many items of each order were shipped, in files: read, then written, with nothing but the
 * caller's lock to keep two from doing so at once. Refuses a fencing token below the highest that
 * it has seen.
 */
public class Ledger {

  private final Path directory;

  Ledger(Path directory) {
    this.directory = directory;
  }

  private record Entry(long token, int items) {}

  /**
   * Adds one item to an order, and returns how many that makes.
   *
   * @throws IllegalStateException if somebody with a higher token has been here
   */
  int add(String order, long token) {
    Path file = file(order);
    Entry before = read(file);
    if (token < before.token()) {
      throw new IllegalStateException(
          "token " + token + " of order " + order + " is out of date: " + before.token());
    }
    int items = before.items() + 1;
    try {
      Files.createDirectories(directory);
      // Whoever reads meanwhile finds the old or the new, not half of it.
      Path written = Files.writeString(directory.resolve(order + ".new"), token + " " + items);
      Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return items;
  }

  /** Returns how many items of an order were shipped. */
  int items(String order) {
    return read(file(order)).items();
  }

  private Path file(String order) {
    if (!order.matches("\\w+")) {
      throw new IllegalArgumentException("an order is letters and digits, not \"" + order + "\"");
    }
    return directory.resolve(order);
  }

  private static Entry read(Path file) {
    try {
      String[] parts = Files.readString(file).split(" ", 2);
      return new Entry(Long.parseLong(parts[0]), Integer.parseInt(parts[1]));
    } catch (NoSuchFileException e) {
      return new Entry(0, 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
