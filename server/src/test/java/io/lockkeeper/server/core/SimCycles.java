package io.lockkeeper.server.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
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
  }

  private final Sim sim;

  SimCycles(Sim sim) {
    this.sim = sim;
  }

  /** A request was refused since it would wait for ever: so it must have waited in a cycle. */
  void onRefused(SimCoordinator coordinator, SimHolds.Life life) {
    Map<Actor, Map<Edge, String>> waits =
        waits(lock -> sim.zooKeeper.orderedAsOf(lock, coordinator.seenZxid), true);
    Actor self = new Actor(life.ticket.lease().id().toString(), life.ticket.command().owner());
    SimRules.check(
        isInCycle(self, waits),
        () -> "no cycle of waits for " + life.request() + " of " + self + ": " + waits);
  }

  /** Nothing happens any more: nobody may wait for ever, or for nothing. */
  void onQuiet() {
    Map<Actor, Map<Edge, String>> waits = waits(sim.zooKeeper::ordered, false);
    for (Actor actor : waits.keySet()) {
      SimRules.check(!isInCycle(actor, waits), () -> "a cycle of waits was not found: " + waits);
    }
    for (SimCoordinator coordinator : sim.coordinators) {
      for (SimHolds.Life life : coordinator.lives.values()) {
        if (life.state == Acquisition.State.QUEUED) {
          checkWaits(life);
        }
      }
    }
  }

  private void checkWaits(SimHolds.Life life) {
    boolean waits = false;
    for (Hold hold : life.ticket.holds()) {
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
      List<SimNode> ahead = new ArrayList<>();
      for (SimNode node : queue) {
        boolean looked = isSearched(node, generous) && (generous || !isLimited(node));
        if (!holding.contains(node) && looked) {
          for (SimNode other : ahead) {
            int limit = limit(node, ahead, generous);
            boolean blocks = SimModes.blocks(other, node, limit);
            boolean counts = generous || !hasOptedOut(other);
            if (counts && (!holding.contains(other) || blocks)) {
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
      boolean held = node.users.stream().anyMatch(SimHolds.Life::relies);
      if (!held && !SimModes.joins(node, ahead, limit(node, ahead, generous))) {
        return holding;
      }
      holding.add(node);
    }
    return holding;
  }

  /** Whoever shares the entry may be the one whose it is. */
  private boolean hasOptedOut(SimNode node) {
    Optional<SimHolds.Life> first = node.name.id().flatMap(sim.holds::life);
    return Stream.concat(first.stream(), node.users.stream())
        .anyMatch(life -> !sim.rules.isSearched(life.request()));
  }

  /** Who has opted out is not looked for; who has gone, or is going, waits for nobody. */
  private boolean isSearched(SimNode node, boolean generous) {
    Optional<SimHolds.Life> life = node.name.id().flatMap(sim.holds::life);
    boolean waits = life.filter(l -> l.state == Acquisition.State.QUEUED).isPresent();
    return generous || (waits && sim.rules.isSearched(life.get().request()));
  }

  /** Whether a limit was set since: what that makes wait for each other is not looked for. */
  private boolean isLimited(SimNode node) {
    return sim.zooKeeper.limitsSince(node.lock, node.czxid).size() > 1;
  }

  private static boolean isInCycle(Actor start, Map<Actor, Map<Edge, String>> waits) {
    return waits.getOrDefault(start, Map.of()).keySet().stream()
        .anyMatch(first -> leadsBack(start, first, waits));
  }

  private static boolean leadsBack(Actor start, Edge first, Map<Actor, Map<Edge, String>> waits) {
    Set<Edge> seen = new HashSet<>();
    Deque<Edge> left = new ArrayDeque<>(List.of(first));
    while (!left.isEmpty()) {
      Edge edge = left.removeFirst();
      if (edge.to().equals(start)) {
        if (!edge.isAlike(first.lock())) {
          return true;
        }
      } else if (seen.add(edge)) {
        waits.getOrDefault(edge.to(), Map.of()).keySet().stream()
            .filter(next -> !edge.isAlike(next.lock()) || next.by().equals(edge.obstacle()))
            .forEach(left::addLast);
      }
    }
    return false;
  }
}
