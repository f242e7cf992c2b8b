package io.lockkeeper.client.testing;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Finds cycles of waits between actors, an actor being an owner of a lease. Whoever waits for
 * nobody will come to its end and release what it has; those who wait for no others than these will
 * follow. Among the waits that are left there is a cycle.
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
    return isSearched(fresh)
        && fresh.lease.acquisitions.values().stream()
            .flatMap(a -> a.liveEntries().stream())
            .filter(e -> waits.stream().anyMatch(wait -> FakeWaits.keeps(wait, e)))
            .anyMatch(FakeDeadlocks::isAheadOfOthers);
  }

  private static boolean isAheadOfOthers(FakeEntry entry) {
    List<FakeEntry> entries = entry.queue.entries;
    FakeEntry last = entries.get(entries.size() - 1);
    return !FakeWaits.areOfOneActor(last, entry)
        || entries.stream()
            .dropWhile(e -> e != entry)
            .anyMatch(e -> !FakeWaits.areOfOneActor(e, entry));
  }

  private static boolean isSearched(FakeAcquisition acquisition) {
    return !acquisition.request.getSkipDeadlockCheck();
  }

  /** Returns a cycle of waits, if there is one. */
  Optional<Deadlock> find() {
    List<FakeQueue> queues = state.inUse("");
    FakeWaits waits =
        new FakeWaits(
            queues.stream()
                .flatMap(queue -> queue.waiters().stream())
                .filter(entry -> isSearched(entry.creator))
                .toList());
    boolean changed = !waits.isEmpty();
    while (changed) {
      changed = queues.stream().filter(waits::end).count() > 0;
    }
    return waits.isEmpty() ? Optional.empty() : Optional.of(toDeadlock(waits.cycle()));
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
