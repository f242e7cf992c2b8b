package io.lockkeeper.server.core.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The znode name of something in a lock's directory that is no entry of the queue: it says all in
 * its name, so that the mirror needs no read. Such names begin with a letter and therefore sort
 * after all sequence numbers for Curator's recipes, which take every child for an entry.
 *
 * <p>A marker outlives the lease of the client that made it, so its name also has the tag of the
 * account that it counts for.
 */
public sealed interface MarkerName {

  /** What the names of limits begin with. */
  String LIMIT = "limit-";

  /** What the names of guards begin with. */
  String DELAY = "delay-";

  /** Returns the znode name. */
  String text();

  /** Returns the tag of the account that it counts for. */
  String account();

  /**
   * The limit of a lock of permits: the marker with the highest sequence number counts. A
   * persistent node.
   *
   * @param text the znode name
   * @param limit how many permits there are
   * @param account the tag of the account that set it
   * @param sequence the number that ZooKeeper appended; 2147483647 past the end of its counter
   */
  record Limit(String text, int limit, String account, int sequence) implements MarkerName {
    private static final Pattern FORM =
        Pattern.compile(LIMIT + "([0-9]{1,7})-(" + AccountTag.FORM + ")-([0-9]{10}|-[0-9]{9,10})");

    /** Returns what the marker is named before ZooKeeper appends its sequence number. */
    public static String prefix(int limit, String account) {
      return LIMIT + limit + "-" + account + "-";
    }
  }

  /**
   * The lock delay of one entry: it outlives the entry of a holder who was lost, and keeps the lock
   * closed until the delay has passed. A persistent node, created and released together with its
   * entry.
   *
   * @param text the znode name
   * @param id the uuid in the entry's name
   * @param delayMillis how long the next grant waits after the holder was lost
   * @param account the tag of the account whose entry it is
   */
  record Guard(String text, UUID id, int delayMillis, String account) implements MarkerName {
    private static final Pattern FORM =
        Pattern.compile(DELAY + "([0-9]{1,7})-(" + AccountTag.FORM + ")-([0-9a-f-]{36})");

    /** Returns the guard of an entry. */
    public static Guard of(UUID id, int delayMillis, String account) {
      String text = DELAY + delayMillis + "-" + account + "-" + id;
      return new Guard(text, id, delayMillis, account);
    }

    /** Returns the guard of an entry whose lock has a delay, if it has. */
    public static Optional<Guard> of(UUID id, Duration delay, String account) {
      return delay.isZero()
          ? Optional.empty()
          : Optional.of(of(id, (int) delay.toMillis(), account));
    }
  }

  /** Returns the marker that {@code text} names, or empty if it is none. */
  static Optional<MarkerName> parse(String text) {
    if (!text.startsWith(LIMIT) && !text.startsWith(DELAY)) {
      return Optional.empty();
    }
    Matcher limit = Limit.FORM.matcher(text);
    if (limit.matches()) {
      int value = Integer.parseInt(limit.group(1));
      long sequence = Long.parseLong(limit.group(3));
      return value < 1 || sequence != (int) sequence
          ? Optional.empty()
          : Optional.of(
              new Limit(
                  text, value, limit.group(2), sequence < 0 ? Integer.MAX_VALUE : (int) sequence));
    }
    Matcher guard = Guard.FORM.matcher(text);
    return guard.matches()
        ? EntryName.uuid(guard.group(3), 0)
            .map(id -> new Guard(text, id, Integer.parseInt(guard.group(1)), guard.group(2)))
        : Optional.empty();
  }
}
