package io.lockkeeper.server.core.queue;

import io.lockkeeper.server.core.lock.MarkerName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.UUID;

/** The markers of one lock, as the mirror has them. They outlive its entries. */
final class LockMarkers {

  private final TreeSet<MarkerName.Limit> limits =
      new TreeSet<>(
          Comparator.comparingInt(MarkerName.Limit::sequence)
              .thenComparing(MarkerName.Limit::text));
  private final Map<UUID, MarkerName.Guard> guards = new HashMap<>(2);

  /** Returns whether it was not there. */
  boolean add(MarkerName marker) {
    return marker instanceof MarkerName.Guard guard
        ? guards.putIfAbsent(guard.id(), guard) == null
        : limits.add((MarkerName.Limit) marker);
  }

  /** Returns whether it was there. */
  boolean remove(MarkerName marker) {
    return marker instanceof MarkerName.Guard guard
        ? guards.remove(guard.id(), guard)
        : limits.remove(marker);
  }

  /** Returns all of them. */
  List<MarkerName> all() {
    List<MarkerName> all = new ArrayList<>(limits);
    all.addAll(guards.values());
    return all;
  }

  boolean isEmpty() {
    return limits.isEmpty() && guards.isEmpty();
  }

  /** Returns the configured limit of permits. */
  OptionalInt limit() {
    return limits.isEmpty() ? OptionalInt.empty() : OptionalInt.of(limits.last().limit());
  }

  /** Returns the tag of the account that the configured limit counts for. */
  Optional<String> limitAccount() {
    return limits.isEmpty() ? Optional.empty() : Optional.of(limits.last().account());
  }

  Optional<MarkerName.Guard> guard(UUID entry) {
    return Optional.ofNullable(guards.get(entry));
  }

  Collection<MarkerName.Guard> guards() {
    return guards.values();
  }
}
