package io.lockkeeper.client.testing;

import io.lockkeeper.v1.LockMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Finds cycles of waits between actors, an actor being an owner of a lease. Whoever waits for
 * nobody will come to its end and release what it has; those who wait for no others than these will
 * follow. Among those who are left there is a cycle.
 */
final class FakeDeadlocks {

  private final FakeState state;

  FakeDeadlocks(FakeState state) {
    this.state = state;
  }

  /** An acquisition to be refused, and the cycle that it stands in. */
  record Deadlock(FakeAcquisition youngest, String cycle) {}

  private record Actor(FakeLease lease, String owner) {
    static Actor of(FakeAcquisition acquisition) {
      return new Actor(acquisition.lease, acquisition.request.getOwner());
    }

    static Actor of(FakeEntry entry) {
      return of(entry.creator);
    }

    @Override
    public String toString() {
      String tag = lease.holder + " (lease " + lease.tag();
      return owner.isEmpty() ? tag + ")" : tag + ", owner " + owner + ")";
    }
  }

  /** One actor waits for another in some queue. */
  private record Wait(FakeEntry entry, Actor waiting, Actor waitedFor) {
    @Override
    public String toString() {
      return waiting + " waits for " + entry.queue.lock + " behind " + waitedFor;
    }
  }

  /** Returns whether somebody else waits behind the actor of an acquisition that begins to wait. */
  static boolean mayClose(FakeAcquisition waiting) {
    Actor actor = Actor.of(waiting);
    return waiting.lease.acquisitions.values().stream()
        .filter(a -> Actor.of(a).equals(actor))
        .flatMap(a -> a.liveEntries().stream())
        .map(e -> e.queue)
        .distinct()
        .anyMatch(queue -> isAheadOfOthers(actor, queue));
  }

  private static boolean isAheadOfOthers(Actor actor, FakeQueue queue) {
    return queue.entries.stream()
        .dropWhile(e -> !Actor.of(e).equals(actor))
        .anyMatch(e -> !Actor.of(e).equals(actor));
  }

  /** Returns a cycle of waits, if there is one. */
  Optional<Deadlock> find() {
    Map<Actor, List<FakeEntry>> stuck = new LinkedHashMap<>();
    for (FakeQueue queue : state.inUse("")) {
      queue.waiters().stream()
          .filter(FakeDeadlocks::isLookedAt)
          .forEach(e -> stuck.computeIfAbsent(Actor.of(e), a -> new ArrayList<>()).add(e));
    }
    boolean changed = stuck.size() > 1;
    while (changed) {
      changed =
          stuck.values().removeIf(waits -> waits.stream().noneMatch(isBlockedBy(stuck.keySet())));
    }
    return stuck.size() < 2 ? Optional.empty() : Optional.of(toDeadlock(cycle(stuck)));
  }

  /** Returns whether an entry that somebody else holds or asks for may be part of a cycle. */
  private static boolean isLookedAt(FakeEntry entry) {
    return entry.sharers.stream().anyMatch(a -> !a.request.getSkipDeadlockCheck());
  }

  /** Tells the entries that what these actors have keeps waiting. */
  private static Predicate<FakeEntry> isBlockedBy(Set<Actor> actors) {
    return waiting -> !waiting.queue.admits(ahead(waiting, actors), waiting);
  }

  /** Returns what those actors have ahead of the entry. */
  private static List<FakeEntry> ahead(FakeEntry waiting, Set<Actor> of) {
    Actor self = Actor.of(waiting);
    return waiting.queue.entries.stream()
        .takeWhile(e -> e != waiting)
        .filter(e -> isLookedAt(e) && !Actor.of(e).equals(self) && of.contains(Actor.of(e)))
        .toList();
  }

  /** Goes from wait to wait until it comes to an actor for the second time. */
  private static List<Wait> cycle(Map<Actor, List<FakeEntry>> stuck) {
    Map<Actor, Wait> path = new LinkedHashMap<>();
    Actor actor = stuck.keySet().iterator().next();
    while (!path.containsKey(actor)) {
      Wait wait = wait(stuck, actor);
      path.put(actor, wait);
      actor = wait.waitedFor();
    }
    Actor first = actor;
    return path.values().stream().dropWhile(w -> !w.waiting().equals(first)).toList();
  }

  private static Wait wait(Map<Actor, List<FakeEntry>> stuck, Actor actor) {
    FakeEntry blocked =
        stuck.getOrDefault(actor, List.of()).stream()
            .filter(isBlockedBy(stuck.keySet()))
            .findFirst()
            .orElseThrow();
    // A read waits for no other read.
    FakeEntry blocker =
        ahead(blocked, stuck.keySet()).stream()
            .filter(
                e ->
                    blocked.mode() != LockMode.LOCK_MODE_READ
                        || e.mode() != LockMode.LOCK_MODE_READ)
            .findFirst()
            .orElseThrow();
    return new Wait(blocked, actor, Actor.of(blocker));
  }

  private static Deadlock toDeadlock(List<Wait> cycle) {
    FakeAcquisition youngest =
        cycle.stream()
            .map(w -> w.entry().creator)
            .max(Comparator.comparingLong(a -> a.number))
            .orElseThrow();
    List<String> waits = cycle.stream().map(Wait::toString).toList();
    return new Deadlock(youngest, "a cycle of waits: " + String.join("; ", waits));
  }
}
