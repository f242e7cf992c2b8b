package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.state.AcquisitionState;
import io.lockkeeper.server.core.state.Hold;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/** Looks for cycles of waits in the truth, as dumb as can be. */
final class SimCycles {

  /** A lease and an owner in it; an empty owner is all of the lease that name none. */
  private record Actor(String lease, String owner) {

    /** Whether it may be several tasks, so that a wait for a lock of its own makes no cycle. */
    boolean isUnnamed() {
      return owner.isEmpty();
    }

    @Override
    public String toString() {
      return lease.substring(0, Math.min(4, lease.length())) + "/" + owner;
    }
  }

  /** How long it takes at most until everybody knows of a change, and a lock delay is over. */
  private static final long SETTLING = 8 * Sim.SECOND;

  /** A wait for somebody, in the queue of a lock. */
  private record Edge(LockName lock, EntryName by, Actor to, EntryName obstacle, boolean addsUp) {

    /** Whether a wait in the same lock means nothing. */
    boolean isAlike(LockName other) {
      return lock.equals(other) && (to.isUnnamed() || !addsUp);
    }

    /** Whether who is waited for waits in turn for a reason that goes on with this one. */
    boolean isFollowedBy(Edge next) {
      return !isAlike(next.lock) || next.by.equals(obstacle);
    }
  }

  private final Sim sim;

  SimCycles(Sim sim) {
    this.sim = sim;
  }

  /** A request was refused since it would wait for ever: so it must have waited in a cycle. */
  void onRefused(SimCoordinator coordinator, SimHolds.Life life) {
    Map<Actor, Map<Edge, String>> waits =
        waits(lock -> sim.zooKeeper.orderedAsOf(lock, coordinator.seenZxid), true);
    Actor self =
        new Actor(life.acquisition.lease().id().toString(), life.acquisition.command().owner());
    SimRules.check(
        isInCycle(self, waits),
        () ->
            "no cycle of waits for "
                + life.request()
                + " of "
                + self
                + ", told "
                + life.acquisition.lastNotice()
                + ": "
                + waits);
  }

  /** Nothing happens any more: nobody may wait for ever, or for nothing. */
  void onQuiet() {
    Map<Actor, Map<Edge, String>> waits = waits(sim.zooKeeper::ordered, false);
    for (Actor actor : waits.keySet()) {
      SimRules.check(!isInCycle(actor, waits), () -> "a cycle of waits was not found: " + waits);
    }
    for (SimCoordinator coordinator : sim.coordinators) {
      for (SimHolds.Life life : coordinator.lives.values()) {
        if (life.state == AcquisitionState.State.QUEUED) {
          checkWaits(life);
        }
      }
    }
  }

  private void checkWaits(SimHolds.Life life) {
    boolean waits = false;
    for (Hold hold : life.acquisition.holds()) {
      Optional<SimNode> node = sim.zooKeeper.find(hold.lock(), hold.name().text());
      SimRules.check(node.isPresent(), () -> "waits without an entry: " + life.request());
      waits |= sim.now - sim.zooKeeper.changedAt(hold.lock()) < SETTLING;
      waits |= !holding(sim.zooKeeper.ordered(hold.lock()), false).contains(node.orElseThrow());
    }
    boolean forNothing = !waits;
    SimRules.check(!forNothing, () -> "waits for nothing: " + life.request());
  }

  /** Returns whom every actor waits for. */
  private Map<Actor, Map<Edge, String>> waits(
      Function<LockName, List<SimNode>> queues, boolean generous) {
    Map<Actor, Map<Edge, String>> waits = new LinkedHashMap<>();
    for (LockName lock : sim.locks) {
      List<SimNode> queue = queues.apply(lock);
      Set<SimNode> holding = holding(queue, generous);
      Set<SimNode> mayHold = generous ? holding : mayHold(queue);
      List<SimNode> ahead = new ArrayList<>();
      for (SimNode node : queue) {
        boolean looked = isSearched(node, generous) && (generous || !isLimited(node));
        if (!holding.contains(node) && looked) {
          for (SimNode other : ahead) {
            // Of one holder alone: what others name who are ahead, too, may be gone by then.
            int limit = limit(node, generous ? ahead : List.of(other), generous);
            boolean blocks = SimModes.blocks(other, node, limit);
            // What was given back is about to go; a level that was placed since closes nothing new.
            boolean since = Long.compare(other.czxid, node.czxid) > 0;
            boolean gone = since || hasOptedOut(other) || sim.holds.isReleased(other);
            boolean counts = generous || !gone;
            if (counts && (!mayHold.contains(other) || blocks)) {
              add(waits, node, other, blocks && !other.name.mode().isReentrant());
            }
          }
        }
        ahead.add(node);
      }
    }
    return waits;
  }

  private static void add(
      Map<Actor, Map<Edge, String>> waits, SimNode waiter, SimNode other, boolean addsUp) {
    Actor from = actor(waiter);
    Actor to = actor(other);
    if (!from.equals(to) && !from.lease().isEmpty() && !to.lease().isEmpty()) {
      waits
          .computeIfAbsent(from, actor -> new LinkedHashMap<>())
          .putIfAbsent(
              new Edge(waiter.lock, waiter.name, to, other.name, addsUp),
              waiter + " waits in " + waiter.lock + " for " + other);
    }
  }

  private static Actor actor(SimNode node) {
    return new Actor(node.details.leaseId(), node.details.owner());
  }

  private int limit(SimNode node, List<SimNode> ahead, boolean generous) {
    return generous ? sim.modes.smallestLimit(node, ahead) : sim.modes.limitNow(node, ahead);
  }

  private Set<SimNode> holding(List<SimNode> queue, boolean generous) {
    Set<SimNode> holding = new LinkedHashSet<>();
    for (SimNode node : queue) {
      List<SimNode> ahead = List.copyOf(holding);
      // What was granted since, a coordinator that is behind could not know.
      boolean held = !generous && node.users.stream().anyMatch(SimHolds.Life::relies);
      if (!held && !SimModes.joins(node, ahead, limit(node, ahead, generous))) {
        return holding;
      }
      holding.add(node);
    }
    return holding;
  }

  /** Who holds goes on holding when the limit shrinks: so may all who were let in before. */
  private Set<SimNode> mayHold(List<SimNode> queue) {
    Set<SimNode> holding = new LinkedHashSet<>(holding(queue, false));
    List<SimNode> ahead = new ArrayList<>();
    for (SimNode node : queue) {
      if (!holding.contains(node) && !SimModes.joins(node, ahead, sim.modes.largestLimit(node))) {
        return holding;
      }
      holding.add(node);
      ahead.add(node);
    }
    return holding;
  }

  /** Whoever shares the entry may be the one whose it is. */
  private boolean hasOptedOut(SimNode node) {
    return Stream.concat(lives(node).stream(), node.users.stream())
        .anyMatch(life -> !sim.rules.isSearched(life.request()));
  }

  /**
   * A request that has opted out is not looked for, and one that has gone, or is going, waits for
   * nobody. A client that claims to hold the lock may be right.
   */
  private boolean isSearched(SimNode node, boolean generous) {
    boolean claimed = lives(node).stream().anyMatch(life -> life.acquisition.isClaimed());
    boolean waits =
        lives(node).stream()
            .filter(life -> life.state == AcquisitionState.State.QUEUED)
            .anyMatch(life -> sim.rules.isSearched(life.request()));
    return generous || (waits && !claimed);
  }

  private List<SimHolds.Life> lives(SimNode node) {
    return node.name.id().map(sim.holds::lives).orElse(List.of());
  }

  /** Whether a limit was set since: what that makes wait for each other is not looked for. */
  private boolean isLimited(SimNode node) {
    return sim.zooKeeper.limitsSince(node.lock, node.czxid).size() > 1;
  }

  private static boolean isInCycle(Actor start, Map<Actor, Map<Edge, String>> all) {
    Map<Actor, Map<Edge, String>> waits = new LinkedHashMap<>(all);
    waits.keySet().retainAll(waitingFor(start, all));
    return waits.getOrDefault(start, Map.of()).keySet().stream()
        .anyMatch(
            first -> leadsBack(start, first, first, Set.of(), leadingBack(start, first, waits)));
  }

  /**
   * Returns the edges that lead back if somebody may be passed twice: no others do if nobody may.
   * There are too many ways through a crowd to try all of them.
   */
  private static Map<Actor, Set<Edge>> leadingBack(
      Actor start, Edge first, Map<Actor, Map<Edge, String>> waits) {
    Map<Actor, Set<Edge>> found = new LinkedHashMap<>();
    boolean more = true;
    while (more) {
      more = false;
      for (Map.Entry<Actor, Map<Edge, String>> entry : waits.entrySet()) {
        Set<Edge> edges = found.computeIfAbsent(entry.getKey(), actor -> new LinkedHashSet<>());
        for (Edge edge : entry.getValue().keySet()) {
          more |= !edges.contains(edge) && leadsOn(start, first, edge, found) && edges.add(edge);
        }
      }
    }
    return found;
  }

  /** Returns all who wait for somebody, however far away: nobody else is part of a cycle. */
  private static Set<Actor> waitingFor(Actor start, Map<Actor, Map<Edge, String>> waits) {
    Set<Actor> found = new HashSet<>();
    boolean more = true;
    while (more) {
      more = false;
      for (Map.Entry<Actor, Map<Edge, String>> entry : waits.entrySet()) {
        more |=
            !found.contains(entry.getKey())
                && entry.getValue().keySet().stream()
                    .anyMatch(edge -> edge.to().equals(start) || found.contains(edge.to()))
                && found.add(entry.getKey());
      }
    }
    return found;
  }

  private static boolean leadsOn(
      Actor start, Edge first, Edge edge, Map<Actor, Set<Edge>> leadingBack) {
    return edge.to().equals(start)
        ? !edge.isAlike(first.lock())
        : leadingBack.getOrDefault(edge.to(), Set.of()).stream().anyMatch(edge::isFollowedBy);
  }

  /**
   * Follows waits from {@code edge} on. Nobody is passed twice: what comes by somebody again is a
   * cycle of his own, and counts only if it is one.
   */
  private static boolean leadsBack(
      Actor start, Edge first, Edge edge, Set<Actor> passed, Map<Actor, Set<Edge>> leadingBack) {
    if (edge.to().equals(start) || passed.contains(edge.to())) {
      return edge.to().equals(start) && !edge.isAlike(first.lock());
    }
    Set<Actor> more = new HashSet<>(passed);
    more.add(edge.to());
    return leadingBack.getOrDefault(edge.to(), Set.of()).stream()
        .filter(edge::isFollowedBy)
        .anyMatch(next -> leadsBack(start, first, next, more, leadingBack));
  }
}
