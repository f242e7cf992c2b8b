package io.lockkeeper.server.app;

import java.util.Collection;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Finds what somebody may have meant. */
final class Spelling {

  /** What differs by more is another word. */
  private static final int MAX_EDITS = 3;

  private Spelling() {}

  /**
   * Returns {@code ; did you mean X?} with the nearest of the names that are known, or nothing if
   * none is near.
   */
  static String suggestion(String word, Collection<String> known) {
    return known.stream()
        .filter(name -> edits(word, name) <= Math.min(MAX_EDITS, name.length() / 3))
        .min(Comparator.comparingInt(name -> edits(word, name)))
        .map(name -> "; did you mean " + name + "?")
        .orElse("");
  }

  /** Levenshtein's distance: how many characters are to be added, removed or replaced. */
  private static int edits(String from, String to) {
    int[] row = IntStream.rangeClosed(0, to.length()).toArray();
    for (int i = 1; i <= from.length(); i++) {
      int[] next = new int[row.length];
      next[0] = i;
      for (int j = 1; j < row.length; j++) {
        int replaced = row[j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        next[j] = Math.min(replaced, 1 + Math.min(row[j], next[j - 1]));
      }
      row = next;
    }
    return row[to.length()];
  }
}
