package io.lockkeeper.server.web;

import java.util.Locale;

/** Makes values fit for a page of HTML. */
final class Html {

  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private Html() {}

  /** Returns {@code text} with what HTML gives a meaning to replaced. */
  static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }

  /** Returns a number in groups of three digits. */
  static String number(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** Returns a time in its largest unit but days: {@code 13 s}, {@code 2 h}. */
  static String age(long nanos) {
    long seconds = Math.max(0, nanos) / NANOS_PER_SECOND;
    if (seconds < 120) {
      return seconds + " s";
    }
    return seconds < 7_200 ? seconds / 60 + " min" : number(seconds / 3_600) + " h";
  }
}
