package io.lockkeeper.server.zookeeper.session;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The claims of sessions that were ours, own nothing that we understand, and were left as they are:
 * each is looked at again when its session should be gone, and less and less often if it is not.
 * Otherwise it would be adopted, found useless and left in a loop. Lives on the store's thread.
 */
final class LeftSessions {

  /** How many are remembered; what comes after them is looked at again at once. */
  static final int MAX_CLAIMS = 10_000;

  private static final int TIMEOUTS = 2;
  private static final int MAX_DOUBLED = 6;

  private final long firstNanos;
  private final Map<String, Left> claims = new HashMap<>();

  private record Left(int times, long untilNanos) {}

  LeftSessions(Duration sessionTimeout) {
    firstNanos = sessionTimeout.multipliedBy(TIMEOUTS).toNanos();
  }

  /** Takes note that the session of a claim is left as it is. */
  void add(String claim, long nowNanos) {
    Left before = claims.get(claim);
    if (before == null && claims.size() >= MAX_CLAIMS) {
      claims.values().removeIf(left -> nowNanos - left.untilNanos() >= 0);
      if (claims.size() >= MAX_CLAIMS) {
        return;
      }
    }
    int times = before == null ? 0 : Math.min(MAX_DOUBLED, before.times() + 1);
    claims.put(claim, new Left(times, nowNanos + (firstNanos << times)));
  }

  /** Takes note that there is no such session any more. */
  void remove(String claim) {
    claims.remove(claim);
  }

  /** Returns the claims that are not to be looked at now. */
  Set<String> at(long nowNanos) {
    Set<String> resting = new HashSet<>();
    claims.forEach(
        (claim, left) -> {
          if (nowNanos - left.untilNanos() < 0) {
            resting.add(claim);
          }
        });
    return resting;
  }
}
