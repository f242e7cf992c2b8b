package io.lockkeeper.server.security;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The locks that some patterns mean together. Among its prefixes none begins with another, and so
 * the last that is not above a name is the only one that the name can begin with: a binary search
 * finds it.
 */
final class LockSet {

  private final String[] prefixes;
  private final Set<String> names;
  private final String[] starts;

  /** Unites the patterns. */
  LockSet(Collection<LockPattern> patterns) {
    List<String> kept = new ArrayList<>();
    patterns.stream()
        .filter(LockPattern::isPrefix)
        .map(LockPattern::text)
        .sorted()
        .filter(prefix -> kept.isEmpty() || !prefix.startsWith(kept.get(kept.size() - 1)))
        .forEach(kept::add);
    prefixes = kept.toArray(String[]::new);
    names =
        patterns.stream()
            .filter(pattern -> !pattern.isPrefix())
            .map(LockPattern::text)
            .filter(name -> !hasAllFrom(name))
            .collect(Collectors.toUnmodifiableSet());
    starts = Stream.concat(kept.stream(), names.stream()).sorted().toArray(String[]::new);
  }

  /**
   * Returns the first text, from {@code from} on, with which a lock of the set can begin: {@code
   * from} itself if it is one.
   */
  Optional<String> next(String from) {
    if (has(from)) {
      return Optional.of(from);
    }
    int after = -Arrays.binarySearch(starts, from) - 1;
    return after < starts.length ? Optional.of(starts[after]) : Optional.empty();
  }

  /** Returns whether it has the lock. */
  boolean has(String lock) {
    return names.contains(lock) || hasAllFrom(lock);
  }

  /** Returns whether it has all locks that begin with {@code prefix}. */
  boolean hasAllFrom(String prefix) {
    int found = Arrays.binarySearch(prefixes, prefix);
    int candidate = found >= 0 ? found : -found - 2;
    return candidate >= 0 && prefix.startsWith(prefixes[candidate]);
  }
}
