package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.state.CoreState;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which locks somebody watches, or did a moment ago: whoever lost a watch goes on with it soon, and
 * wants to hear what happened meanwhile.
 */
public final class WatchedLocks {

  /** How long a lock counts as watched after its watch has ended. */
  private static final long LEFT_NANOS = 30_000_000_000L;

  /** How many watches that have ended are remembered. */
  private static final int MAX_LEFT = 1_000;

  private final CoreState core;
  private final Map<LockName, Integer> names = new HashMap<>();
  private final NavigableMap<String, Integer> prefixes = new TreeMap<>();
  private final Deque<Left> left = new ArrayDeque<>();

  private record Left(ClientEvent.WatchEnded watch, long untilNanos) {}

  public WatchedLocks(CoreState core) {
    this.core = core;
  }

  /** A watch has begun. */
  public void onBegan(ClientEvent.WatchBegan event) {
    event.names().forEach(name -> names.merge(name, 1, Integer::sum));
    if (event.names().isEmpty()) {
      prefixes.merge(event.prefix(), 1, Integer::sum);
    }
  }

  /** A watch has ended. */
  public void onEnded(ClientEvent.WatchEnded event) {
    long untilNanos = core.now + LEFT_NANOS;
    left.add(new Left(event, untilNanos));
    if (left.size() == 1) {
      core.timers.at(untilNanos, this::forget);
    }
    if (left.size() > MAX_LEFT) {
      remove(left.remove().watch());
    }
  }

  private void forget() {
    while (!left.isEmpty() && left.peek().untilNanos() - core.now <= 0) {
      remove(left.remove().watch());
    }
    if (!left.isEmpty()) {
      core.timers.at(left.peek().untilNanos(), this::forget);
    }
  }

  private void remove(ClientEvent.WatchEnded watch) {
    watch.names().forEach(name -> names.computeIfPresent(name, WatchedLocks::less));
    if (watch.names().isEmpty()) {
      prefixes.computeIfPresent(watch.prefix(), WatchedLocks::less);
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
