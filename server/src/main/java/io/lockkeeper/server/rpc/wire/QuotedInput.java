package io.lockkeeper.server.rpc.wire;

import java.nio.charset.StandardCharsets;

/** Shows what a client has sent, so that it fits an error message and cannot forge one. */
public final class QuotedInput {

  private static final int MAX_CODE_POINTS = 48;

  private QuotedInput() {}

  /**
   * Returns {@code text} in quotes: what is not printable escaped, what is long cut and its length
   * told.
   */
  public static String of(String text) {
    StringBuilder out = new StringBuilder("\"");
    text.codePoints().limit(MAX_CODE_POINTS).forEach(c -> append(out, c));
    if (text.codePointCount(0, text.length()) <= MAX_CODE_POINTS) {
      return out.append('"').toString();
    }
    int bytes = text.getBytes(StandardCharsets.UTF_8).length;
    return out.append("…\" (").append(bytes).append(" bytes)").toString();
  }

  private static void append(StringBuilder out, int codePoint) {
    if (codePoint == '"' || codePoint == '\\') {
      out.append('\\').append((char) codePoint);
    } else if (isPrintable(codePoint)) {
      out.appendCodePoint(codePoint);
    } else {
      out.append("\\u{").append(Integer.toHexString(codePoint)).append('}');
    }
  }

  /**
   * Returns whether {@code codePoint} shows as itself: not a control, format, separator or
   * unassigned character.
   */
  static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.UNASSIGNED ->
          false;
      default -> true;
    };
  }
}
