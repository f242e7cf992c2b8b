package io.lockkeeper.server.coordinator.watch;

import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Which locks somebody watches, or did a moment ago: whoever lost a watch goes on with it soon, and
 * wants to hear what happened meanwhile. On the event loop only.
 */
final class WatchedLocks {

  /** How long a lock counts as watched after its watch has ended. */
  private static final long LEFT_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** How many watches that have ended are remembered. */
  private static final int MAX_LEFT = 1_000;

  private final Map<LockName, Integer> names = new HashMap<>();
  private final NavigableMap<String, Integer> prefixes = new TreeMap<>();
  private final Deque<Left> left = new ArrayDeque<>();

  private record Left(WatchFilter filter, long atNanos) {}

  /** A watch has begun. */
  void add(WatchFilter filter) {
    filter.names().forEach(name -> names.merge(name, 1, Integer::sum));
    if (filter.names().isEmpty()) {
      prefixes.merge(filter.prefix(), 1, Integer::sum);
    }
  }

  /** A watch has ended. */
  void leave(WatchFilter filter, long nowNanos) {
    left.add(new Left(filter, nowNanos));
    if (left.size() > MAX_LEFT) {
      remove(left.remove().filter());
    }
  }

  /** Forgets the watches that ended long ago. */
  void forget(long nowNanos) {
    while (!left.isEmpty() && nowNanos - left.peek().atNanos() > LEFT_NANOS) {
      remove(left.remove().filter());
    }
  }

  private void remove(WatchFilter filter) {
    filter.names().forEach(name -> names.computeIfPresent(name, WatchedLocks::less));
    if (filter.names().isEmpty()) {
      prefixes.computeIfPresent(filter.prefix(), WatchedLocks::less);
    }
  }

  private static <K> @Nullable Integer less(K key, int count) {
    return count > 1 ? Integer.valueOf(count - 1) : null;
  }

  /** Returns whether a lock is watched. */
  boolean contains(LockName lock) {
    return names.containsKey(lock) || isUnderPrefix(lock.value());
  }

  private boolean isUnderPrefix(String name) {
    String prefix = prefixes.floorKey(name);
    while (prefix != null && !name.startsWith(prefix)) {
      // What is a prefix of the name, and before this one, is a prefix of what both begin with.
      prefix = prefixes.floorKey(name.substring(0, commonLength(name, prefix)));
    }
    return prefix != null;
  }

  private static int commonLength(String one, String other) {
    int most = Math.min(one.length(), other.length());
    for (int i = 0; i < most; i++) {
      if (one.charAt(i) != other.charAt(i)) {
        return i;
      }
    }
    return most;
  }
}
