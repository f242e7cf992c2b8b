package io.lockkeeper.integration.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Finds some lines in a file. Blank lines, and the indentation of all lines, do not count. */
final class Snippets {

  private static final long LONGEST_BYTES = 1 << 20;

  /** The lines of a file that are not blank; none of one that is no text, or too long for one. */
  private static final Map<Path, List<String>> READ = new ConcurrentHashMap<>();

  private Snippets() {}

  /** Returns whether a file has the lines, which {@link #flush} has returned, in a row. */
  static boolean stands(List<String> snippet, Path file) {
    List<String> lines = READ.computeIfAbsent(file, Snippets::read);
    String first = snippet.get(0).strip();
    for (int from = 0; from + snippet.size() <= lines.size(); from++) {
      if (lines.get(from).strip().equals(first)
          && flush(lines.subList(from, from + snippet.size())).equals(snippet)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the lines that are not blank, without the indentation that they have in common. */
  static List<String> flush(List<String> lines) {
    List<String> inked = lines.stream().filter(line -> !line.isBlank()).toList();
    int common =
        inked.stream()
            .mapToInt(line -> line.length() - line.stripLeading().length())
            .min()
            .orElse(0);
    return inked.stream().map(line -> line.substring(common).stripTrailing()).toList();
  }

  private static List<String> read(Path file) {
    try {
      if (Files.size(file) > LONGEST_BYTES) {
        return List.of();
      }
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.isBlank())
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
