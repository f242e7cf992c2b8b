package io.lockkeeper.server.core;

import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The znode name of one entry in a lock's queue, in the form that Curator's own recipes write:
 * {@code _c_<uuid>-lock-0000000012}. The uuid is absent in entries of clients that write without
 * it.
 *
 * @param text the znode name
 * @param id the uuid, if the name has one
 * @param mode the kind of hold
 * @param sequence the number that ZooKeeper appended; compared as a number, never as text
 */
public record EntryName(String text, Optional<UUID> id, Mode mode, int sequence) {

  private static final Pattern FORM =
      Pattern.compile(
          "(?:_c_(?<id>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})-)?"
              + "(?<marker>lock-|__READ__|__WRIT__|permit-(?<k>[0-9]{1,7})-(?<n>[0-9]{1,7})-)"
              + "(?<sequence>-?[0-9]{10})");

  /** Returns the entry name that {@code text} is, or empty if it has not the form of one. */
  public static Optional<EntryName> parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    long sequence = Long.parseLong(matcher.group("sequence"));
    if (sequence != (int) sequence) {
      return Optional.empty();
    }
    Optional<UUID> id = Optional.ofNullable(matcher.group("id")).map(UUID::fromString);
    return modeOf(matcher).map(mode -> new EntryName(text, id, mode, (int) sequence));
  }

  private static Optional<Mode> modeOf(Matcher matcher) {
    return switch (matcher.group("marker")) {
      case "lock-" -> Optional.of(Mode.EXCLUSIVE);
      case "__READ__" -> Optional.of(Mode.READ);
      case "__WRIT__" -> Optional.of(Mode.WRITE);
      default -> permitsOf(matcher);
    };
  }

  private static Optional<Mode> permitsOf(Matcher matcher) {
    int permits = Integer.parseInt(matcher.group("k"));
    int limit = Integer.parseInt(matcher.group("n"));
    return permits < 1 || permits > limit
        ? Optional.empty()
        : Optional.of(new Mode.Permits(permits, limit));
  }

  /** Returns what an entry is named before ZooKeeper appends its sequence number. */
  public static String prefix(UUID id, Mode mode) {
    return "_c_" + id + "-" + mode.marker();
  }

  @Override
  public String toString() {
    return text;
  }
}
