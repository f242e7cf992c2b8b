package io.lockkeeper.server.zookeeper.record;

import java.math.BigInteger;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads and writes the small JSON objects that nodes carry. */
public final class Json {

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  /** Half of what can be told in nanoseconds: deadlines that far away can still be compared. */
  private static final long MAX_MILLIS = Long.MAX_VALUE / 2_000_000;

  private static final Pattern NATURAL = Pattern.compile("[0-9]{1,19}");

  /** An object without fields. */
  static final JsonNode NONE = MAPPER.createObjectNode();

  private Json() {}

  public static byte[] write(Map<String, ?> object) {
    return MAPPER.writeValueAsBytes(object);
  }

  /** Returns the object that {@code bytes} hold, or empty if they hold anything else. */
  public static Optional<JsonNode> readObject(byte[] bytes) {
    if (bytes.length == 0 || bytes[0] != '{') {
      return Optional.empty();
    }
    try {
      return Optional.of(MAPPER.readTree(bytes)).filter(JsonNode::isObject);
    } catch (JacksonException notJson) {
      return Optional.empty();
    }
  }

  /** Returns the record that {@code bytes} hold, or empty if this release cannot read it. */
  public static Optional<JsonNode> readRecord(byte[] bytes) {
    return readObject(bytes).filter(RecordFormat::isReadable);
  }

  /** Returns whether {@code bytes} hold a record that only another release can read. */
  public static boolean isOfAnotherRelease(byte[] bytes) {
    return readObject(bytes).filter(RecordFormat::isOfAnotherRelease).isPresent();
  }

  /** Returns the text of a field, or an empty one. */
  public static String text(JsonNode object, String field) {
    JsonNode value = object.path(field);
    return value.isString() ? value.stringValue() : "";
  }

  /** Returns the number in a field, or zero. */
  public static long number(JsonNode object, String field) {
    JsonNode value = object.path(field);
    return value.isIntegralNumber() && value.canConvertToLong() ? value.longValue() : 0;
  }

  /**
   * Returns the number of zero or more in a field, written as a number or as a text, or empty if
   * there is none.
   */
  static Optional<Long> natural(JsonNode object, String field) {
    JsonNode value = object.path(field);
    if (value.isIntegralNumber()) {
      return Optional.of(value)
          .filter(JsonNode::canConvertToLong)
          .map(JsonNode::longValue)
          .filter(number -> number >= 0);
    }
    String text = text(object, field);
    return Optional.of(text)
        .filter(NATURAL.asMatchPredicate())
        .map(BigInteger::new)
        .filter(number -> number.bitLength() < Long.SIZE)
        .map(BigInteger::longValue);
  }

  /** Returns so many milliseconds that they can be told in nanoseconds too. */
  static long millis(Duration duration) {
    return duration.compareTo(Duration.ofMillis(MAX_MILLIS)) < 0 ? duration.toMillis() : MAX_MILLIS;
  }

  /** Returns the time in a field that holds a natural number of milliseconds. */
  static Optional<Duration> duration(JsonNode object, String field) {
    return natural(object, field)
        .map(millis -> Math.min(millis, MAX_MILLIS))
        .map(Duration::ofMillis);
  }

  /** Returns the fields of a nested object that are texts. */
  static Map<String, String> texts(JsonNode object, String field) {
    Map<String, String> texts = new TreeMap<>();
    for (Map.Entry<String, JsonNode> property : object.path(field).properties()) {
      if (property.getValue().isString()) {
        texts.put(property.getKey(), property.getValue().stringValue());
      }
    }
    return texts;
  }
}
