package io.lockkeeper.client.internal.protocol;

import io.lockkeeper.client.LockSpec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The rules for names of locks. */
public final class LockNames {

  private static final int MAX_BYTES = 512;
  private static final int MAX_SEGMENTS = 16;

  private LockNames() {}

  /** Returns the names of {@code locks}, as messages show them. */
  public static String join(List<LockSpec> locks) {
    return locks.stream().map(LockSpec::name).collect(Collectors.joining(", "));
  }

  /** Returns how messages name a lock, or several. */
  public static String quoted(String names) {
    return "lock \"" + names + "\"";
  }

  /** Returns what is wrong with {@code name}; empty: nothing. */
  public static Optional<String> fault(String name) {
    if (name.isEmpty()) {
      return Optional.of("a lock's name must not be empty");
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
      return Optional.of("a lock's name must be valid Unicode; this one has half a surrogate pair");
    }
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MAX_BYTES) {
      return Optional.of("a lock's name may have 512 bytes of UTF-8; this one has " + bytes);
    }
    if (name.codePoints().anyMatch(Character::isISOControl)) {
      return Optional.of("a lock's name must not contain control characters");
    }
    return segmentFault(name.split("/", -1));
  }

  private static Optional<String> segmentFault(String[] segments) {
    if (segments.length > MAX_SEGMENTS) {
      return Optional.of(
          "a lock's name may have 16 segments between '/'; this one has " + segments.length);
    }
    for (String segment : segments) {
      if (segment.isEmpty() || segment.equals(".") || segment.equals("..")) {
        return Optional.of("no segment of a lock's name may be empty, '.' or '..'");
      }
    }
    return Optional.empty();
  }
}
