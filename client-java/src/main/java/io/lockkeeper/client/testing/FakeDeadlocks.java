package io.lockkeeper.client.testing;

import io.lockkeeper.v1.LockMode;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Finds cycles of waits between actors, an actor being an owner of a lease. Whoever waits for
 * nobody will come to its end and release what it has; those who wait for no others than these will
 * follow. Among the waits that are left there is a cycle.
 *
 * <p>Tasks without an owner may queue for a lock that another task of their lease holds: such a
 * wait keeps other locks from being released, but not that one.
 */
final class FakeDeadlocks {

  private final FakeState state;

  FakeDeadlocks(FakeState state) {
    this.state = state;
  }

  /** An acquisition to be refused, and the cycle that it stands in. */
  record Deadlock(FakeAcquisition youngest, String cycle) {}

  /** Returns whether a wait that begins may close a cycle: somebody else waits for the actor. */
  static boolean mayClose(FakeAcquisition fresh) {
    List<FakeEntry> waits = fresh.waitingEntries();
    return fresh.lease.acquisitions.values().stream()
        .flatMap(a -> a.liveEntries().stream())
        .filter(e -> waits.stream().anyMatch(wait -> keeps(wait, e)))
        .map(e -> e.queue)
        .distinct()
        .anyMatch(queue -> isAheadOfOthers(fresh, queue));
  }

  private static boolean isAheadOfOthers(FakeAcquisition fresh, FakeQueue queue) {
    return queue.entries.stream()
        .dropWhile(e -> !isOfOneActor(e.creator, fresh))
        .anyMatch(e -> !isOfOneActor(e.creator, fresh));
  }

  private static boolean isOfOneActor(FakeAcquisition one, FakeAcquisition other) {
    return one.lease == other.lease && one.request.getOwner().equals(other.request.getOwner());
  }

  /** Returns whether {@code entry} stays in its queue for as long as {@code wait} is not over. */
  private static boolean keeps(FakeEntry wait, FakeEntry entry) {
    boolean ownerless = wait.creator.request.getOwner().isEmpty();
    return wait == entry
        || (isOfOneActor(wait.creator, entry.creator) && !(ownerless && wait.queue == entry.queue));
  }

  /** Returns a cycle of waits, if there is one. */
  Optional<Deadlock> find() {
    Set<FakeEntry> waits =
        state.inUse("").stream()
            .flatMap(queue -> queue.waiters().stream())
            .filter(entry -> !entry.creator.request.getSkipDeadlockCheck())
            .collect(Collectors.toCollection(LinkedHashSet::new));
    boolean changed = true;
    while (changed) {
      changed = waits.removeIf(isOverWithout(waits));
    }
    return waits.isEmpty() ? Optional.empty() : Optional.of(toDeadlock(cycle(waits)));
  }

  /** Tells the waits that end if all is released but what the others are kept by. */
  private static Predicate<FakeEntry> isOverWithout(Set<FakeEntry> waits) {
    return wait -> wait.queue.admits(blockers(wait, waits), wait);
  }

  /** Returns what is ahead of a wait and stays there while {@code waits} are not over. */
  private static List<FakeEntry> blockers(FakeEntry wait, Set<FakeEntry> waits) {
    return wait.queue.entries.stream()
        .takeWhile(ahead -> ahead != wait)
        .filter(ahead -> !isOfOneActor(ahead.creator, wait.creator))
        .filter(ahead -> waits.stream().anyMatch(other -> keeps(other, ahead)))
        .toList();
  }

  /** Goes from wait to wait until it comes to one for the second time. */
  private static List<FakeEntry> cycle(Set<FakeEntry> waits) {
    Set<FakeEntry> path = new LinkedHashSet<>();
    FakeEntry wait = waits.iterator().next();
    while (path.add(wait)) {
      wait = waitedFor(wait, waits);
    }
    FakeEntry first = wait;
    return path.stream().dropWhile(w -> w != first).toList();
  }

  /** Returns a wait that keeps what another wait is for. */
  private static FakeEntry waitedFor(FakeEntry wait, Set<FakeEntry> waits) {
    FakeEntry blocker =
        blockers(wait, waits).stream()
            .filter(ahead -> !isSharedRead(ahead, wait))
            .findFirst()
            .orElseThrow();
    return waits.stream().filter(other -> keeps(other, blocker)).findFirst().orElseThrow();
  }

  private static boolean isSharedRead(FakeEntry one, FakeEntry other) {
    return one.mode() == LockMode.LOCK_MODE_READ && other.mode() == LockMode.LOCK_MODE_READ;
  }

  private static Deadlock toDeadlock(List<FakeEntry> cycle) {
    FakeAcquisition youngest =
        cycle.stream()
            .map(wait -> wait.creator)
            .max(Comparator.comparingLong(a -> a.number))
            .orElseThrow();
    StringBuilder words = new StringBuilder("a cycle of waits: ");
    for (FakeEntry wait : cycle) {
      words.append(actor(wait)).append(" waits for ").append(wait.queue.lock).append(" behind ");
    }
    return new Deadlock(youngest, words.append(actor(cycle.get(0))).toString());
  }

  private static String actor(FakeEntry entry) {
    FakeLease lease = entry.creator.lease;
    String owner = entry.creator.request.getOwner();
    String named = lease.holder + " (lease " + lease.tag();
    return owner.isEmpty() ? named + ")" : named + ", owner " + owner + ")";
  }
}
