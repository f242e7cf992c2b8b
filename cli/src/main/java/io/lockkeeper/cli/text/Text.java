package io.lockkeeper.cli.text;

import com.google.protobuf.Duration;

/** Makes text fit for a terminal. */
public final class Text {

  private Text() {}

  /**
   * Returns {@code text} with characters replaced that are not shown, or that steer how others are:
   * names come from others and must not steer the terminal.
   */
  public static String plain(String text) {
    StringBuilder plain = new StringBuilder(text.length());
    text.codePoints().map(c -> isShown(c) ? c : '?').forEach(plain::appendCodePoint);
    return plain.toString();
  }

  private static boolean isShown(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }

  /**
   * Returns {@code text} with an ellipsis in its middle if it has more characters than {@code
   * most}.
   */
  public static String shortened(String text, int most) {
    int length = text.codePointCount(0, text.length());
    if (length <= most) {
      return text;
    }
    int head = most / 2;
    int tail = most - head - 1;
    return text.substring(0, text.offsetByCodePoints(0, head))
        + "…"
        + text.substring(text.offsetByCodePoints(0, length - tail));
  }

  /** Returns {@code text}, ended by an ellipsis where it has more characters than {@code most}. */
  public static String cut(String text, int most) {
    return text.codePointCount(0, text.length()) <= most
        ? text
        : text.substring(0, text.offsetByCodePoints(0, Math.max(0, most - 1))) + "…";
  }

  /**
   * Returns an age in the two largest units that matter, such as {@code 850 ms}, {@code 13 s} or
   * {@code 2 h 5 m}.
   */
  public static String age(java.time.Duration age) {
    long seconds = Math.max(0, age.toSeconds());
    if (seconds < 1) {
      return Math.max(0, age.toMillis()) + " ms";
    }
    if (seconds < 60) {
      return seconds + " s";
    }
    if (seconds < 3_600) {
      return two(seconds / 60, "m", seconds % 60, "s");
    }
    if (seconds < 86_400) {
      return two(seconds / 3_600, "h", seconds % 3_600 / 60, "m");
    }
    return two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h");
  }

  /** Returns an age. */
  public static String age(Duration age) {
    return age(java.time.Duration.ofSeconds(age.getSeconds(), age.getNanos()));
  }

  private static String two(long large, String largeUnit, long small, String smallUnit) {
    return large + " " + largeUnit + (small == 0 ? "" : " " + small + " " + smallUnit);
  }
}
