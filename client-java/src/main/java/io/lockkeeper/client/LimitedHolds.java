package io.lockkeeper.client;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The holds of one client that are limited in time, for the levels that their owner adds later:
 * these are taken away with them. On the client's loop only.
 */
final class LimitedHolds {

  private final Map<Key, List<Tenure>> limited = new HashMap<>();

  /** What has levels: all of one hold have one token. */
  private record Key(String lock, long token) {
    static Key of(LockGrant grant) {
      return new Key(grant.name(), grant.fencingToken());
    }
  }

  /** Returns those that {@code grants} are nested in. */
  List<Tenure> around(List<LockGrant> grants) {
    return grants.stream()
        .flatMap(grant -> limited.getOrDefault(Key.of(grant), List.of()).stream())
        .distinct()
        .toList();
  }

  void add(Tenure tenure, List<LockGrant> grants) {
    grants.forEach(
        grant -> limited.computeIfAbsent(Key.of(grant), key -> new ArrayList<>(1)).add(tenure));
  }

  void remove(Tenure tenure, List<LockGrant> grants) {
    for (LockGrant grant : grants) {
      Key key = Key.of(grant);
      List<Tenure> left = limited.getOrDefault(key, new ArrayList<>());
      left.remove(tenure);
      if (left.isEmpty()) {
        limited.remove(key);
      }
    }
  }
}
