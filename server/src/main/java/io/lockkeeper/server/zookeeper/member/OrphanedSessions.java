package io.lockkeeper.server.zookeeper.member;

import io.lockkeeper.server.core.api.SessionEvent.OrphanFound;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.VersionedClaim;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The sessions that nobody looks after, and when it is our turn to adopt each. So that they spread
 * over the coordinators, each waits a little longer than those that come before it in the session's
 * own order. Lives on the store's thread.
 */
public final class OrphanedSessions {

  /** How many adoptions there are at a time: each takes a handle with threads of its own. */
  static final int MAX_ADOPTIONS = 16;

  private static final long RANK_MILLIS = 300;
  private static final int MAX_RANK = 16;
  private static final long FULL_MILLIS = 50;

  private final StoreContext context;
  private final Supplier<Set<String>> ours;
  private final Supplier<Integer> adoptions;
  private final Map<String, Orphan> orphans = new HashMap<>();
  private boolean waiting;
  private boolean stopped;

  private record Orphan(int version, long dueNanos) {}

  /**
   * Tells orphans.
   *
   * @param ours the claims that are ours, or about to be ours or to go
   * @param adoptions how many adoptions are under way
   */
  public OrphanedSessions(
      StoreContext context, Supplier<Set<String>> ours, Supplier<Integer> adoptions) {
    this.context = context;
    this.ours = ours;
    this.adoptions = adoptions;
  }

  void stop() {
    stopped = true;
    orphans.clear();
  }

  /** Takes all orphans as they were seen just now, and who may adopt them; tells those due. */
  void update(Map<String, VersionedClaim> found, Collection<String> candidates) {
    orphans.keySet().retainAll(found.keySet());
    found.forEach(
        (name, claim) -> {
          Orphan known = orphans.get(name);
          if (known == null || known.version() != claim.version()) {
            orphans.put(name, new Orphan(claim.version(), dueNanos(name, claim, candidates)));
          }
        });
    tell();
  }

  private long dueNanos(String name, VersionedClaim claim, Collection<String> candidates) {
    long now = System.nanoTime();
    ZooKeeperSettings.Member self = context.settings().member();
    boolean own =
        claim.record().owner().equals(self.coordinatorId())
            || claim.record().isPredecessor(self.coordinatorId(), self.home());
    // However many claim to be members: in the end each of us tries.
    int rank =
        own ? 0 : Math.min(MAX_RANK, Rendezvous.rank(name, self.coordinatorId(), candidates));
    long millis = RANK_MILLIS * rank;
    if (millis > 0) {
      context.executor().after(millis + 1, this::tell);
    }
    return now + TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** Forgets an orphan that somebody has taken; if it still has nobody, it is found again. */
  void forget(String name) {
    orphans.remove(name);
  }

  private void tell() {
    if (stopped) {
      return;
    }
    long now = System.nanoTime();
    Set<String> taken = ours.get();
    List<String> due =
        orphans.entrySet().stream()
            .filter(orphan -> now - orphan.getValue().dueNanos() >= 0)
            .map(Map.Entry::getKey)
            .filter(name -> !taken.contains(name))
            .sorted()
            .toList();
    int room = Math.max(0, MAX_ADOPTIONS - adoptions.get());
    due.stream().limit(room).forEach(name -> context.events().accept(new OrphanFound(name)));
    if (due.size() > room && !waiting) {
      waiting = true;
      context
          .executor()
          .after(
              FULL_MILLIS,
              () -> {
                waiting = false;
                tell();
              });
    }
  }
}
