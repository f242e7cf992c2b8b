package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LeaseName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.v1.GetLockRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.Map;

/**
 * Checks single fields. Each method returns the checked value or throws {@link
 * InvalidRequestException}.
 */
public final class Fields {

  private static final int MAX_METADATA_ENTRIES = 32;
  private static final int MAX_PAGE = 1_000;
  private static final int DEFAULT_PAGE = 100;

  private Fields() {}

  public static InvalidRequestException invalid(String field, String description) {
    return new InvalidRequestException(field, description);
  }

  static LockName lockName(String field, String value) {
    LockName.problemOf(value)
        .ifPresent(
            problem -> {
              throw invalid(field, problem + ": " + QuotedInput.of(value));
            });
    return new LockName(value);
  }

  /** The id is never shown back: whoever knows one can act under the lease. */
  public static LeaseId leaseId(String field, String value) {
    return LeaseId.parse(value)
        .orElseThrow(
            () ->
                invalid(
                    field,
                    "must be a lease id: 32 lower-case hexadecimal digits; "
                        + (value.isEmpty() ? "it is empty" : "sent were " + describe(value))));
  }

  static LeaseName leaseName(String field, String value) {
    return LeaseName.parse(value)
        .orElseThrow(
            () ->
                invalid(
                    field,
                    "must be a lease id, 32 lower-case hexadecimal digits, or a lease tag, 16; "
                        + (value.isEmpty() ? "it is empty" : "sent were " + describe(value))));
  }

  private static String describe(String value) {
    return utf8Bytes(value) + " bytes of something else";
  }

  static String text(String field, String value, int maxBytes) {
    int bytes = utf8Bytes(value);
    if (bytes > maxBytes) {
      throw invalid(
          field,
          "must be at most "
              + maxBytes
              + " bytes of UTF-8, is "
              + bytes
              + ": "
              + QuotedInput.of(value));
    }
    return value;
  }

  static String printable(String field, String value, int maxBytes) {
    text(field, value, maxBytes);
    int character;
    for (int i = 0; i < value.length(); i += Character.charCount(character)) {
      character = value.codePointAt(i);
      if (!QuotedInput.isPrintable(character)) {
        throw invalid(field, "must have printable characters only: " + QuotedInput.of(value));
      }
    }
    return value;
  }

  static String required(String field, String value) {
    if (value.isEmpty()) {
      throw invalid(field, "must not be empty");
    }
    return value;
  }

  static Map<String, String> metadata(String field, Map<String, String> value) {
    if (value.size() > MAX_METADATA_ENTRIES) {
      throw invalid(
          field, "must have at most " + MAX_METADATA_ENTRIES + " entries, has " + value.size());
    }
    if (value.containsKey("")) {
      throw invalid(field, "must not have an empty key");
    }
    int bytes = metadataBytes(value);
    int most = Limits.DEFAULTS.metadataBytes();
    if (bytes > most) {
      throw invalid(
          field,
          "must be at most " + most + " bytes of UTF-8, keys and values together; is " + bytes);
    }
    return value;
  }

  /** Returns the bytes of metadata, keys and values together, in UTF-8. */
  public static int metadataBytes(Map<String, String> metadata) {
    int bytes = 0;
    for (Map.Entry<String, String> entry : metadata.entrySet()) {
      bytes += utf8Bytes(entry.getKey()) + utf8Bytes(entry.getValue());
    }
    return bytes;
  }

  static Duration duration(
      String field, com.google.protobuf.Duration value, Duration min, Duration max) {
    if (!ProtoDurations.isWellFormed(value)) {
      throw invalid(
          field,
          "is malformed: seconds must be within ±315576000000, nanos within ±999999999, both of one sign; sent were "
              + value.getSeconds()
              + " s and "
              + value.getNanos()
              + " ns");
    }
    Duration duration = ProtoDurations.toJava(value);
    if (duration.compareTo(min) < 0 || duration.compareTo(max) > 0) {
      throw invalid(
          field, "must be " + inWords(min) + " to " + inWords(max) + ", is " + inWords(duration));
    }
    return duration;
  }

  /** The coordinator keeps it in whole milliseconds, and would cut the rest off in silence. */
  static Duration wholeMillis(String field, Duration value) {
    if (!value.equals(value.truncatedTo(ChronoUnit.MILLIS))) {
      throw invalid(field, "must be in whole milliseconds, is " + inWords(value));
    }
    return value;
  }

  private static String inWords(Duration duration) {
    long seconds = duration.toSeconds();
    long nanos = duration.minusSeconds(seconds).toNanos();
    if (nanos == 0) {
      return seconds + " s";
    }
    return seconds == 0 && nanos % 1_000_000 == 0
        ? nanos / 1_000_000 + " ms"
        : seconds + " s + " + nanos + " ns";
  }

  static int number(String field, int value, int min, int max) {
    if (value < min || value > max) {
      throw invalid(field, "must be " + min + " to " + max + ", is " + value);
    }
    return value;
  }

  /** More than a page may have counts as that much. */
  static int pageSize(String field, int value) {
    return value == 0 ? DEFAULT_PAGE : capped(field, value);
  }

  /** Unset means the default, and zero means none. */
  static int queueLimit(GetLockRequest request) {
    return request.hasQueueLimit() ? capped("queue_limit", request.getQueueLimit()) : DEFAULT_PAGE;
  }

  private static int capped(String field, int value) {
    if (value < 0) {
      throw invalid(field, "must be zero or more, is " + value);
    }
    return Math.min(value, MAX_PAGE);
  }

  static long token(String field, long value, long min) {
    if (value < min) {
      throw invalid(
          field,
          "must be a fencing token, " + (min > 0 ? "above zero" : "or zero") + "; is " + value);
    }
    return value;
  }

  /** Reads a page token. */
  public static String pageToken(String field, String value) {
    try {
      return new String(Base64.getUrlDecoder().decode(value), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw invalid(field, "must be the next_page_token of an answer: " + QuotedInput.of(value));
    }
  }

  public static String toPageToken(String last) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(last.getBytes(StandardCharsets.UTF_8));
  }

  private static int utf8Bytes(String value) {
    return value.getBytes(StandardCharsets.UTF_8).length;
  }
}
