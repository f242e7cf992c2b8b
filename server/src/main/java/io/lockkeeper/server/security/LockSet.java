package io.lockkeeper.server.security;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The locks that some patterns mean together. Among its prefixes none begins with another, and so
 * the last that is not above a name is the only one that the name can begin with: a binary search
 * finds it.
 */
final class LockSet {

  private final String[] prefixes;
  private final Set<String> names;

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
