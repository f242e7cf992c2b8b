package io.lockkeeper.server.core.lock;

import java.util.Optional;
import java.util.UUID;

/**
 * The znode name of one entry in a lock's queue, in the form that Curator's own recipes write:
 * {@code _c_<uuid>-lock-0000000012}. The uuid is absent in entries of clients that write without
 * it.
 *
 * @param text the znode name
 * @param id the uuid, if the name has one
 * @param mode what is asked for
 * @param sequence the number that ZooKeeper appended; compared as a number, never as text;
 *     2147483647 for all that were created past the end of ZooKeeper's counter
 */
public record EntryName(String text, Optional<UUID> id, Mode mode, int sequence) {

  /** Where ZooKeeper's counter of a directory sticks. */
  static final int STUCK = Integer.MAX_VALUE;

  /** How many characters ZooKeeper appends. */
  static final int SEQUENCE_CHARS = 10;

  private static final String ID_MARK = "_c_";
  private static final int ID_CHARS = 36;
  private static final int MARKER_AFTER_ID = ID_MARK.length() + ID_CHARS + 1;

  /**
   * Returns the entry name that {@code text} is, or empty if it has not the form of one. Past its
   * end ZooKeeper's counter sticks, but creations that meet in one transaction, or before the first
   * of them is applied, get negative numbers: those all say no more than that the end was reached.
   */
  public static Optional<EntryName> parse(String text) {
    int end = text.length() - SEQUENCE_CHARS;
    if (end < 1 || !isNumber(text, end)) {
      return Optional.empty();
    }
    long number = Long.parseLong(text, end, text.length(), 10);
    Optional<EntryName> name = of(text, end, number);
    // The sign of a number of ten digits stands before them, where a marker may have a dash too.
    return name.isPresent() || number < 0 || text.charAt(end - 1) != '-'
        ? name
        : of(text, end - 1, -number);
  }

  /**
   * Returns the name that ZooKeeper gave to an entry that was created with the prefix of {@code id}
   * and {@code mode}: what {@link #parse} makes of it.
   *
   * @throws IllegalArgumentException if it is not such a name
   */
  public static EntryName of(String text, UUID id, Mode mode) {
    int prefix = prefixLength(mode);
    if (text.length() < prefix + SEQUENCE_CHARS || !isNumber(text, prefix)) {
      throw new IllegalArgumentException("not an entry's name: " + text);
    }
    long number = Long.parseLong(text, prefix, text.length(), 10);
    return new EntryName(text, Optional.of(id), mode, number < 0 ? STUCK : (int) number);
  }

  private static Optional<EntryName> of(String text, int end, long number) {
    if (number != (int) number) {
      return Optional.empty();
    }
    int sequence = number < 0 ? STUCK : (int) number;
    Optional<UUID> id = idOf(text);
    String marker = text.substring(id.isPresent() ? Math.min(MARKER_AFTER_ID, end) : 0, end);
    Optional<Mode> mode = Kinds.parse(marker);
    return mode.isPresent()
        ? Optional.of(new EntryName(text, id, mode.get(), sequence))
        : Optional.empty();
  }

  private static boolean isNumber(String text, int from) {
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean sign = c == '-' && i == from;
      if (!sign && (c < '0' || c > '9')) {
        return false;
      }
    }
    return true;
  }

  private static Optional<UUID> idOf(String text) {
    if (!text.startsWith(ID_MARK)
        || text.length() < MARKER_AFTER_ID
        || text.charAt(MARKER_AFTER_ID - 1) != '-') {
      return Optional.empty();
    }
    return uuid(text, ID_MARK.length());
  }

  /**
   * Returns the uuid that the 36 characters from {@code start} on are: stricter than {@link
   * UUID#fromString}.
   */
  static Optional<UUID> uuid(String text, int start) {
    long high = 0;
    long low = 0;
    for (int i = 0; i < ID_CHARS; i++) {
      boolean dash = i == 8 || i == 13 || i == 18 || i == 23;
      char c = text.charAt(start + i);
      int digit = c > 'f' ? -1 : Character.digit(c, 16);
      if (dash ? c != '-' : digit < 0) {
        return Optional.empty();
      }
      if (!dash) {
        high = high << 4 | low >>> 60;
        low = low << 4 | digit;
      }
    }
    return Optional.of(new UUID(high, low));
  }

  /**
   * Returns whether ZooKeeper's counter was at its end: from there on equal numbers mean nothing.
   */
  public boolean isStuck() {
    return sequence == STUCK;
  }

  /** Returns whether it has the very number of another: one was placed beside the other. */
  public boolean isAtPlaceOf(EntryName other) {
    return sequence == other.sequence && !isStuck();
  }

  /** Returns what an entry is named before ZooKeeper appends its sequence number. */
  public static String prefix(UUID id, Mode mode) {
    return ID_MARK + id + "-" + mode.marker();
  }

  /** Returns how long {@link #prefix} is. */
  public static int prefixLength(Mode mode) {
    return MARKER_AFTER_ID + mode.marker().length();
  }

  /** Returns the sequence number as ZooKeeper writes it. */
  public static String suffix(int sequence) {
    return String.format("%010d", sequence);
  }

  @Override
  public String toString() {
    return text;
  }
}
