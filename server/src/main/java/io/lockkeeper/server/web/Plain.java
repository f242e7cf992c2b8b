package io.lockkeeper.server.web;

import java.util.Locale;

/** Shows names as they are: they come from others, and must not look like what they are not. */
final class Plain {

  private Plain() {}

  /**
   * Returns {@code text} with all characters escaped that steer how others are shown, or are not
   * shown: a name with U+202E in it would read backwards.
   */
  static String text(String text) {
    StringBuilder plain = new StringBuilder(text.length());
    text.codePoints().forEach(c -> append(plain, c));
    return plain.toString();
  }

  private static void append(StringBuilder plain, int codePoint) {
    switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          plain.append(String.format(Locale.ROOT, "\\u%04X", codePoint));
      default -> plain.appendCodePoint(codePoint);
    }
  }
}
