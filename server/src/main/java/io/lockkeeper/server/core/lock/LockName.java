package io.lockkeeper.server.core.lock;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The name of a lock: 1 to 512 bytes of UTF-8, no control characters, at most 16 segments separated
 * by {@code /}, none of them empty, {@code .} or {@code ..}.
 *
 * <p>A name is kept in ZooKeeper as ONE znode name, percent-encoded, so that no name can reach
 * outside its directory.
 */
public final class LockName implements Comparable<LockName> {

  /** The longest name, in bytes of UTF-8. */
  public static final int MAX_BYTES = 512;

  /** The most segments that a name may have. */
  public static final int MAX_SEGMENTS = 16;

  private static final String HEX = "0123456789ABCDEF";

  private final String value;

  /** The znode name once it was asked for; the same whoever makes it. */
  private @Nullable String encoded;

  /**
   * Makes a name and checks the rules above.
   *
   * @param value the name as clients write it
   * @throws IllegalArgumentException if one is broken; the message names the rule and its limit
   */
  public LockName(String value) {
    Optional<String> problem = problemOf(value);
    if (problem.isPresent()) {
      throw new IllegalArgumentException(problem.get());
    }
    this.value = value;
  }

  /** Returns the name as clients write it. */
  public String value() {
    return value;
  }

  /**
   * Returns what is wrong with {@code value} as a name, naming the limit, or empty if it is a good
   * name.
   */
  public static Optional<String> problemOf(String value) {
    // Looked at for every event of every queue: what is plain is found good in one pass.
    if (isPlainName(value)) {
      return Optional.empty();
    }
    if (value.isEmpty()) {
      return Optional.of("must not be empty");
    }
    if (value.length() > MAX_BYTES || value.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
      return Optional.of("must be at most " + MAX_BYTES + " bytes of UTF-8");
    }
    if (value.codePoints().anyMatch(LockName::isForbidden)) {
      return Optional.of("must not have control characters or unpaired surrogates");
    }
    return problemOfSegments(value.split("/", -1));
  }

  /** Returns whether it is a good name without any dot, all of printable ASCII. */
  private static boolean isPlainName(String value) {
    int length = value.length();
    if (length == 0 || length > MAX_BYTES || value.charAt(length - 1) == '/') {
      return false;
    }
    int slashes = 0;
    char before = '/';
    for (int i = 0; i < length; i++) {
      char c = value.charAt(i);
      if (c < ' ' || c > '~' || c == '.' || (c == '/' && before == '/')) {
        return false;
      }
      slashes += c == '/' ? 1 : 0;
      before = c;
    }
    return slashes < MAX_SEGMENTS;
  }

  private static Optional<String> problemOfSegments(String[] segments) {
    if (segments.length > MAX_SEGMENTS) {
      return Optional.of("must have at most " + MAX_SEGMENTS + " segments, has " + segments.length);
    }
    for (String segment : segments) {
      if (segment.isEmpty()) {
        return Optional.of("must not have empty segments (no leading, trailing or double '/')");
      }
      if (segment.equals(".") || segment.equals("..")) {
        return Optional.of("must not have '.' or '..' as a segment");
      }
    }
    return Optional.empty();
  }

  /** Returns the first name that begins with {@code prefix}, used or not; empty if none can. */
  public static Optional<LockName> firstFrom(String prefix) {
    // No character of a name comes before the space.
    return Stream.of(prefix, prefix + " ")
        .filter(text -> problemOf(text).isEmpty())
        .findFirst()
        .map(LockName::new);
  }

  private static boolean isForbidden(int codePoint) {
    int type = Character.getType(codePoint);
    return type == Character.CONTROL || type == Character.SURROGATE;
  }

  /**
   * Returns the name whose znode name is {@code encoded}, or empty if no name encodes to exactly
   * that.
   */
  public static Optional<LockName> decode(String encoded) {
    Optional<String> value = decodeText(encoded);
    if (value.isEmpty() || problemOf(value.get()).isPresent()) {
      return Optional.empty();
    }
    LockName name = new LockName(value.get());
    return name.encoded().equals(encoded) ? Optional.of(name) : Optional.empty();
  }

  /** Returns the text that was percent-encoded, or empty if there is none that may have been. */
  private static Optional<String> decodeText(String encoded) {
    byte[] bytes = new byte[encoded.length()];
    int length = 0;
    for (int i = 0; i < encoded.length(); i++) {
      char c = encoded.charAt(i);
      if (c != '%') {
        bytes[length++] = (byte) c;
        continue;
      }
      if (i + 2 >= encoded.length()) {
        return Optional.empty();
      }
      int high = HEX.indexOf(encoded.charAt(i + 1));
      int low = HEX.indexOf(encoded.charAt(i + 2));
      bytes[length++] = (byte) ((high << 4) | low);
      i += 2;
    }
    return Optional.of(new String(bytes, 0, length, StandardCharsets.UTF_8));
  }

  /** Percent-encodes the beginning of a name: any text, also none, as names are encoded. */
  public static String encodePrefix(String prefix) {
    return encode(prefix);
  }

  /** Returns the beginning of a name that encodes to exactly {@code encoded}, if there is one. */
  public static Optional<String> decodePrefix(String encoded) {
    return decodeText(encoded).filter(prefix -> encode(prefix).equals(encoded));
  }

  /**
   * Returns the znode name: everything outside {@code [A-Za-z0-9_-]} and a non-leading {@code .} is
   * percent-encoded. Two names never encode to the same znode name.
   */
  public String encoded() {
    String known = encoded;
    if (known == null) {
      known = encode(value);
      encoded = known;
    }
    return known;
  }

  private static String encode(String value) {
    StringBuilder out = new StringBuilder(value.length() + 16);
    for (byte b : value.getBytes(StandardCharsets.UTF_8)) {
      if (isPlain(b) || (b == '.' && out.length() > 0)) {
        out.append((char) b);
      } else {
        out.append('%').append(HEX.charAt((b >> 4) & 15)).append(HEX.charAt(b & 15));
      }
    }
    return out.toString();
  }

  private static boolean isPlain(byte b) {
    return (b >= 'a' && b <= 'z')
        || (b >= 'A' && b <= 'Z')
        || (b >= '0' && b <= '9')
        || b == '_'
        || b == '-';
  }

  /** Returns the first segment: the unit of authorization and quota. */
  public String namespace() {
    int slash = value.indexOf('/');
    return slash < 0 ? value : value.substring(0, slash);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other || (other instanceof LockName name && value.equals(name.value));
  }

  @Override
  public int hashCode() {
    return value.hashCode();
  }

  /** Orders names by their UTF-16 code units. */
  @Override
  public int compareTo(LockName other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
