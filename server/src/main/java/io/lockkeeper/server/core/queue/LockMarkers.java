package io.lockkeeper.server.core.queue;

import io.lockkeeper.server.core.lock.MarkerName;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.UUID;

/** The markers of one lock, as the mirror has them. They outlive the queue. */
final class LockMarkers {

  private final TreeSet<MarkerName.Limit> limits =
      new TreeSet<>(
          Comparator.comparingInt(MarkerName.Limit::sequence)
              .thenComparing(MarkerName.Limit::text));
  private final Map<UUID, MarkerName.Guard> guards = new HashMap<>(2);

  void add(MarkerName marker) {
    if (marker instanceof MarkerName.Limit limit) {
      limits.add(limit);
    } else if (marker instanceof MarkerName.Guard guard) {
      guards.put(guard.id(), guard);
    }
  }

  /** Returns whether it was there. */
  boolean remove(MarkerName marker) {
    return marker instanceof MarkerName.Guard guard
        ? guards.remove(guard.id()) != null
        : limits.remove(marker);
  }

  /** Makes the markers what a listing found. */
  void replaceBy(List<MarkerName> found) {
    limits.clear();
    guards.clear();
    found.forEach(this::add);
  }

  boolean isEmpty() {
    return limits.isEmpty() && guards.isEmpty();
  }

  /** Returns the configured limit of permits. */
  OptionalInt limit() {
    return limits.isEmpty() ? OptionalInt.empty() : OptionalInt.of(limits.last().limit());
  }

  Optional<MarkerName.Guard> guard(UUID entry) {
    return Optional.ofNullable(guards.get(entry));
  }

  Collection<MarkerName.Guard> guards() {
    return guards.values();
  }
}
