package io.lockkeeper.server.core.lock;

import java.time.Duration;
import java.util.Optional;

/**
 * Nobody new is granted a lock whose name begins with a prefix.
 *
 * @param prefix the prefix; empty: all locks
 * @param reason why, human-readable
 * @param requester who wants it, human-readable
 * @param duration after how long it thaws by itself; empty: never
 * @param account the tag of the account that it counts for
 */
public record Freeze(
    String prefix, String reason, String requester, Optional<Duration> duration, String account) {

  /** What is said of a prefix whose record nobody can read: it counts as frozen all the same. */
  public static final String UNREADABLE = "(cannot be read)";

  /** Makes a freeze that counts for nobody. */
  public Freeze(String prefix, String reason, String requester, Optional<Duration> duration) {
    this(prefix, reason, requester, duration, AccountTag.NOBODY);
  }

  /** Returns the same, counting for an account. */
  public Freeze countedFor(String tag) {
    return new Freeze(prefix, reason, requester, duration, tag);
  }

  /** Returns the freeze of a prefix of which nothing is known but that it is frozen. */
  public static Freeze unread(String prefix, String reason) {
    return new Freeze(prefix, reason, "", Optional.empty());
  }
}
