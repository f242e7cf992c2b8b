package io.lockkeeper.server.core.lock;

import java.util.HexFormat;
import java.util.Optional;

/**
 * The name of a lease: 128 random bits. The first half is public, the {@linkplain #tag() tag}; the
 * whole is known only to those who may act under the lease.
 *
 * @param high the public half
 * @param low the other half
 */
public record LeaseId(long high, long low) {

  private static final int DIGITS = 32;

  /**
   * Returns the lease id that the 32 lower-case hexadecimal digits name, or empty if the text is
   * not such.
   */
  public static Optional<LeaseId> parse(String text) {
    if (text.length() != DIGITS || !text.chars().allMatch(LeaseId::isDigit)) {
      return Optional.empty();
    }
    return Optional.of(
        new LeaseId(
            Long.parseUnsignedLong(text, 0, DIGITS / 2, 16),
            Long.parseUnsignedLong(text, DIGITS / 2, DIGITS, 16)));
  }

  private static boolean isDigit(int c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  }

  /**
   * Returns the public short name: 16 hexadecimal digits, the first half of the uuid of every entry
   * of the lease.
   */
  public String tag() {
    return tagOf(high);
  }

  /** Returns the tag whose bits are {@code high}. */
  public static String tagOf(long high) {
    return HexFormat.of().toHexDigits(high);
  }

  @Override
  public String toString() {
    return tagOf(high).concat(tagOf(low));
  }
}
