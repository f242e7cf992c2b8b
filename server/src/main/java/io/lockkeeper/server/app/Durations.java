package io.lockkeeper.server.app;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads and writes durations as people type them: a whole number and a unit. */
public final class Durations {

  private static final Pattern SHAPE = Pattern.compile("(\\d{1,15})(ms|s|m|h|d)");

  private Durations() {}

  /**
   * Returns the duration that {@code text} says, such as {@code 500ms}, {@code 30s}, {@code 2m},
   * {@code 1h} or {@code 7d}.
   *
   * @throws IllegalArgumentException if it is not a whole number with one of these units, with a
   *     message that says so
   */
  public static Duration parse(String text) {
    Matcher matcher = SHAPE.matcher(text.strip());
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "\""
              + text
              + "\" is not a duration: write a whole number and a unit, as in 500ms, 30s, 2m, 1h or 7d");
    }
    long amount = Long.parseLong(matcher.group(1));
    try {
      return switch (matcher.group(2)) {
        case "ms" -> Duration.ofMillis(amount);
        case "s" -> Duration.ofSeconds(amount);
        case "m" -> Duration.ofMinutes(amount);
        case "h" -> Duration.ofHours(amount);
        default -> Duration.ofDays(amount);
      };
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("\"" + text + "\" is longer than a duration can be", e);
    }
  }

  /**
   * Returns {@code duration} in the largest unit that says it in whole numbers; parses back to the
   * same.
   */
  public static String format(Duration duration) {
    long millis = duration.toMillis();
    if (millis == 0) {
      return "0s";
    }
    if (millis % 1_000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1_000;
    if (seconds % 60 != 0) {
      return seconds + "s";
    }
    long minutes = seconds / 60;
    if (minutes % 60 != 0) {
      return minutes + "m";
    }
    long hours = minutes / 60;
    return hours % 24 == 0 ? hours / 24 + "d" : hours + "h";
  }
}
