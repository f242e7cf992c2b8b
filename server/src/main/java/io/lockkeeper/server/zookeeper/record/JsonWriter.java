package io.lockkeeper.server.zookeeper.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;

/**
 * Writes one compact JSON object, field by field: what every entry that is created carries, and so
 * without the maps and generators that a library takes. Its output is that of {@link Json#write}.
 */
final class JsonWriter {

  private static final byte[] HEX = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);
  private static final int FIRST_CAPACITY = 256;

  private byte[] bytes = new byte[FIRST_CAPACITY];
  private int length;

  JsonWriter() {
    add('{');
  }

  /**
   * Adds a field.
   *
   * @param value a text, a whole number, a truth value, or a map from texts to such
   * @throws IllegalArgumentException if it is anything else
   */
  void put(String name, Object value) {
    if (bytes[length - 1] != '{') {
      add(',');
    }
    text(name);
    add(':');
    if (value instanceof String text) {
      text(text);
    } else if (value instanceof Map<?, ?> map) {
      add('{');
      map.forEach((key, inner) -> put(key.toString(), inner));
      add('}');
    } else if (value instanceof Long || value instanceof Integer || value instanceof Boolean) {
      plain(value.toString());
    } else {
      throw new IllegalArgumentException("not written: " + value.getClass());
    }
  }

  private void plain(String text) {
    for (int i = 0; i < text.length(); i++) {
      add(text.charAt(i));
    }
  }

  private void text(String text) {
    add('"');
    int end = text.length();
    for (int i = 0; i < end; i++) {
      char c = text.charAt(i);
      if (c >= ' ' && c < 0x7F && c != '"' && c != '\\') {
        add(c);
      } else if (c < 0x80) {
        escape(c);
      } else {
        // Rare: the rest is left to the JDK's encoder.
        i = encode(text, i, end) - 1;
      }
    }
    add('"');
  }

  private void escape(char c) {
    switch (c) {
      case '"', '\\' -> escaped(c);
      case '\b' -> escaped('b');
      case '\t' -> escaped('t');
      case '\n' -> escaped('n');
      case '\f' -> escaped('f');
      case '\r' -> escaped('r');
      case 0x7F -> add(c);
      default -> {
        plain("\\u00");
        add((char) HEX[c >> 4]);
        add((char) HEX[c & 15]);
      }
    }
  }

  private void escaped(char c) {
    add('\\');
    add(c);
  }

  /** Adds the run of characters from {@code start} on that are not ASCII; returns its end. */
  private int encode(String text, int start, int limit) {
    int end = start;
    while (end < limit && text.charAt(end) >= 0x80) {
      end++;
    }
    for (byte each : text.substring(start, end).getBytes(StandardCharsets.UTF_8)) {
      add((char) (each & 0xFF));
    }
    return end;
  }

  private void add(char c) {
    if (length == bytes.length) {
      bytes = Arrays.copyOf(bytes, length * 2);
    }
    bytes[length++] = (byte) c;
  }

  /** Ends the object and returns it. */
  byte[] toBytes() {
    add('}');
    return Arrays.copyOf(bytes, length);
  }
}
