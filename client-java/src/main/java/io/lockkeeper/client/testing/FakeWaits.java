package io.lockkeeper.client.testing;

import io.lockkeeper.v1.LockMode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Waits that have not come to their end, and what stays in the queues until they have: all that
 * their actors hold or wait for, an actor being an owner of a lease.
 *
 * <p>Who waits twice for one lock needs the first for itself and nothing of the second, and tasks
 * without an owner may wait for a lock that another task of their lease holds: waits keep nothing
 * else in their own queue. Permits of a named owner are the exception, since they add up.
 */
final class FakeWaits {

  private final Set<FakeEntry> waits = new LinkedHashSet<>();
  private final Map<Actor, Map<FakeQueue, Integer>> countByActor = new HashMap<>();

  /** Who waits and holds; an empty owner stands for all tasks that name none. */
  private record Actor(FakeLease lease, String owner) {

    static Actor of(FakeEntry entry) {
      return new Actor(entry.creator.lease, entry.creator.request.getOwner());
    }
  }

  FakeWaits(Collection<FakeEntry> waits) {
    for (FakeEntry wait : waits) {
      this.waits.add(wait);
      countByActor
          .computeIfAbsent(Actor.of(wait), actor -> new HashMap<>())
          .merge(wait.queue, 1, Integer::sum);
    }
  }

  /** Returns whether {@code entry} stays in its queue for as long as {@code wait} is not over. */
  static boolean keeps(FakeEntry wait, FakeEntry entry) {
    return wait == entry
        || (!hasOptedOut(entry)
            && areOfOneActor(wait, entry)
            && (wait.queue != entry.queue || addsUp(entry)));
  }

  private static boolean hasOptedOut(FakeEntry entry) {
    return entry.creator.request.getSkipDeadlockCheck();
  }

  /** Returns whether an actor that waits in the entry's queue keeps the entry by that. */
  private static boolean addsUp(FakeEntry entry) {
    return entry.mode() == LockMode.LOCK_MODE_PERMITS
        && !entry.creator.request.getOwner().isEmpty();
  }

  static boolean areOfOneActor(FakeEntry one, FakeEntry other) {
    return Actor.of(one).equals(Actor.of(other));
  }

  boolean isEmpty() {
    return waits.isEmpty();
  }

  /**
   * Ends the waits in a queue that end if all is released but what the other waits keep.
   *
   * @return whether there were any
   */
  boolean end(FakeQueue queue) {
    boolean ended = false;
    List<FakeEntry> kept = new ArrayList<>();
    for (FakeEntry entry : queue.entries) {
      if (waits.contains(entry) && queue.admits(blockers(entry, kept), entry)) {
        remove(entry);
        ended = true;
      }
      if (isKept(entry)) {
        kept.add(entry);
      }
    }
    return ended;
  }

  private void remove(FakeEntry wait) {
    waits.remove(wait);
    countByActor
        .getOrDefault(Actor.of(wait), Map.of())
        .computeIfPresent(wait.queue, (queue, count) -> count == 1 ? null : count - 1);
  }

  /** Returns whether some wait {@linkplain #keeps keeps} the entry. */
  private boolean isKept(FakeEntry entry) {
    Map<FakeQueue, Integer> counts = countByActor.getOrDefault(Actor.of(entry), Map.of());
    boolean alsoHere = counts.containsKey(entry.queue);
    boolean elsewhere = counts.size() > (alsoHere ? 1 : 0);
    boolean byAnother = elsewhere || (alsoHere && addsUp(entry));
    return waits.contains(entry) || (byAnother && !hasOptedOut(entry));
  }

  /** Returns what of {@code kept} excludes the wait: of permits all, otherwise one is enough. */
  private static List<FakeEntry> blockers(FakeEntry wait, List<FakeEntry> kept) {
    return kept.stream()
        .filter(ahead -> !areOfOneActor(ahead, wait) && !isSharedRead(ahead, wait))
        .limit(wait.mode() == LockMode.LOCK_MODE_PERMITS ? kept.size() : 1)
        .toList();
  }

  private static boolean isSharedRead(FakeEntry one, FakeEntry other) {
    return one.mode() == LockMode.LOCK_MODE_READ && other.mode() == LockMode.LOCK_MODE_READ;
  }

  /** Goes from wait to wait, none of which can end, until it comes to one for the second time. */
  List<FakeEntry> cycle() {
    Set<FakeEntry> path = new LinkedHashSet<>();
    FakeEntry wait = waits.iterator().next();
    while (path.add(wait)) {
      wait = waitedFor(wait);
    }
    FakeEntry first = wait;
    return path.stream().dropWhile(w -> w != first).toList();
  }

  /** Returns a wait that keeps what another wait is for. */
  private FakeEntry waitedFor(FakeEntry wait) {
    List<FakeEntry> kept =
        wait.queue.entries.stream().takeWhile(ahead -> ahead != wait).filter(this::isKept).toList();
    FakeEntry blocker = blockers(wait, kept).get(0);
    return waits.stream().filter(other -> keeps(other, blocker)).findFirst().orElseThrow();
  }
}
