package io.lockkeeper.client.internal.protocol;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/** The ranges of what a request may say, checked before anything is sent. */
public final class Limits {

  /** The highest limit of permits. */
  public static final int MAX_PERMITS = 1_000_000;

  private static final int MAX_LABEL_BYTES = 256;
  private static final int MAX_REASON_BYTES = 1_024;
  private static final int MAX_LEADER_VALUE_BYTES = 4_000;
  private static final int MAX_METADATA_ENTRIES = 32;
  private static final int MAX_METADATA_BYTES = 4_096;

  public static final Duration LONGEST_WAIT = Duration.ofDays(7);

  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration TENTH = Duration.ofMillis(100);

  private Limits() {}

  /** Throws, naming the field, what it may be and what it is. */
  public static void require(boolean holds, String field, String allowed, Object actual) {
    if (!holds) {
      throw new IllegalArgumentException(field + " must be " + allowed + ", not " + actual);
    }
  }

  public static Duration waitLimit(Duration value) {
    return between("waitAtMost", value, Duration.ZERO, LONGEST_WAIT, "zero to 7 days");
  }

  public static Duration maxHold(Duration value) {
    return between("maxHold", value, TENTH, LONGEST_WAIT, "100 ms to 7 days");
  }

  /** Checks a lock delay: zero to 1 hour, in whole milliseconds. */
  public static Duration lockDelay(Duration value) {
    between("lockDelay", value, Duration.ZERO, HOUR, "zero to 1 hour");
    boolean wholeMillis = value.equals(Duration.ofMillis(value.toMillis()));
    require(wholeMillis, "lockDelay", "a whole number of milliseconds", value);
    return value;
  }

  public static Duration positionInterval(Duration value) {
    return between("reportPositionEvery", value, TENTH, HOUR, "100 ms to 1 hour");
  }

  public static Duration keepUnused(Duration value) {
    return between("keepUnused", value, TENTH, HOUR, "100 ms to 1 hour");
  }

  public static Duration needs(Duration value) {
    return between("needs", value, Duration.ZERO, LONGEST_WAIT, "zero to 7 days");
  }

  public static Duration deadline(Duration value) {
    return between("deadline", value, Duration.ZERO, LONGEST_WAIT, "zero to 7 days");
  }

  public static Duration grace(Duration value) {
    return between("grace", value, Duration.ZERO, HOUR, "zero to 1 hour");
  }

  private static Duration between(
      String field, Duration value, Duration least, Duration most, String allowed) {
    require(value.compareTo(least) >= 0 && value.compareTo(most) <= 0, field, allowed, value);
    return value;
  }

  /** Checks what a person reads, or what names an owner. */
  public static String label(String field, String value) {
    return text(field, value, MAX_LABEL_BYTES);
  }

  public static String reason(String value) {
    return text("reason", value, MAX_REASON_BYTES);
  }

  public static String leaderValue(String value) {
    return text("value", value, MAX_LEADER_VALUE_BYTES);
  }

  private static String text(String field, String value, int maxBytes) {
    boolean valid = StandardCharsets.UTF_8.newEncoder().canEncode(value);
    require(valid, field, "valid Unicode", "half a surrogate pair");
    int bytes = bytes(value);
    require(bytes <= maxBytes, field, "at most " + maxBytes + " bytes of UTF-8", bytes + " bytes");
    return value;
  }

  /** Checks metadata: at most 32 entries, with the sizes of the contract. */
  public static Map<String, String> metadata(Map<String, String> value) {
    int entries = value.size();
    require(entries <= MAX_METADATA_ENTRIES, "metadata", "at most 32 entries", entries);
    int sum = 0;
    for (Map.Entry<String, String> entry : value.entrySet()) {
      require(!entry.getKey().isEmpty(), "metadata", "of keys that are not empty", "\"\"");
      text("metadata", entry.getKey(), Integer.MAX_VALUE);
      text("metadata", entry.getValue(), Integer.MAX_VALUE);
      sum += bytes(entry.getKey()) + bytes(entry.getValue());
    }
    require(sum <= MAX_METADATA_BYTES, "metadata", "at most 4 KiB of UTF-8", sum + " bytes");
    return Map.copyOf(value);
  }

  private static int bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }
}
