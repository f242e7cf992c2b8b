package io.lockkeeper.server.core.deadlock;

import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.lock.Occupancy;
import io.lockkeeper.server.core.queue.Admission;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionState;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * One search for a cycle of waits that begins and ends with one acquisition. Goes breadth first
 * through actors (a lease and an owner in it) and looks at a bounded number of entries.
 *
 * <p>A lease whose acquisitions name no owner is one actor, and yet may be several tasks: so that
 * it waits for a lock that it also holds, or waits for further ahead, makes no cycle. Neither does
 * it for a named owner that asked for one lock twice before it had it: the first of the two needs
 * nothing of the second. Permits are the exception, since they add up.
 *
 * <p>A waiter waits for every entry ahead of it that waits itself, since nobody overtakes, or with
 * which it cannot hold together.
 */
final class WaitSearch {

  private static final int MAX_LOOKS = 100_000;

  private final CoreState core;
  private final Acquisition start;
  private final boolean coarse;
  private final long youngest;
  private final Map<Visit, WaitEdge> cameBy = new HashMap<>();
  private final Deque<Visit> toVisit = new ArrayDeque<>();
  private final Set<NodeKey> undescribed = new LinkedHashSet<>();
  private final Map<LockInMode, Entry> lookedUpTo = new HashMap<>();
  private final Map<LockName, Set<Entry>> opening = new HashMap<>();
  private Optional<Map<Long, List<EntryOfLock>>> others = Optional.empty();
  private int looks;
  private boolean mayChange;

  /**
   * Who waits and holds. An empty name stands for all of the lease that name no owner; no name at
   * all, for everybody of the lease, where nobody knows better yet.
   */
  private record Actor(long lease, Optional<String> owner) {

    boolean isUnnamed() {
      return owner.filter(String::isEmpty).isPresent();
    }
  }

  /**
   * An actor, and the entry by which the search met it, if its other waits in that queue mean
   * nothing.
   */
  private record Visit(Actor actor, Optional<EntryOfLock> met) {

    boolean follows(EntryOfLock wait) {
      return met.filter(m -> m.lock().equals(wait.lock()) && m.entry() != wait.entry()).isEmpty();
    }
  }

  /** Where waits are alike. */
  private record LockInMode(LockName lock, Mode mode) {}

  /** An entry and its lock. */
  private record EntryOfLock(LockName lock, Entry entry) {}

  /**
   * One wait of a cycle.
   *
   * @param waiter who waits
   * @param lock for which lock
   * @param entry by which entry
   * @param obstacle because of which entry ahead of it
   */
  record WaitEdge(Object waiter, LockName lock, Entry entry, Entry obstacle) {}

  WaitSearch(CoreState core, Acquisition start, boolean coarse) {
    this.core = core;
    this.start = start;
    this.coarse = coarse;
    youngest = start.holds().stream().mapToLong(Hold::czxid).max().orElse(Long.MAX_VALUE);
  }

  /**
   * Returns a cycle that begins with a wait of the first acquisition, or empty if there is none.
   */
  Optional<List<WaitEdge>> cycle() {
    return waitsOf(start).stream().flatMap(first -> cycle(first).stream()).findFirst();
  }

  private Optional<List<WaitEdge>> cycle(EntryOfLock first) {
    cameBy.clear();
    toVisit.clear();
    lookedUpTo.clear();
    Visit self = new Visit(actor(start), Optional.empty());
    boolean found = look(self, first, first, self);
    while (!toVisit.isEmpty() && looks < MAX_LOOKS && (coarse || !found)) {
      Visit visit = toVisit.removeFirst();
      for (EntryOfLock wait : waitsOf(visit.actor())) {
        found |= visit.follows(wait) && look(visit, wait, first, self);
      }
    }
    return found ? Optional.of(path(self)) : Optional.empty();
  }

  /** Whoever is met twice makes a cycle without whoever began: one of those in it ends it. */
  private boolean isDetour(WaitEdge last, Visit self) {
    Set<Actor> met = new HashSet<>();
    WaitEdge edge = last;
    while (edge != null) {
      Visit at = (Visit) edge.waiter();
      if (!met.add(at.actor())) {
        return true;
      }
      edge = at.equals(self) ? null : cameBy.get(at);
    }
    return false;
  }

  /** Looks at everything that a cycle could be made of; returns whether there may be one. */
  boolean mayBe() {
    return waitsOf(start).stream().filter(first -> cycle(first).isPresent()).count() > 0;
  }

  /** Returns the entries of others that the search came by and whose data is not known. */
  List<NodeKey> undescribed() {
    return List.copyOf(undescribed);
  }

  /**
   * Returns whether another search may find what this one has not: it came by an acquisition of
   * ours whose creation is not answered yet, or seen, and what that waits for is not known before;
   * or by a cycle that must end first.
   */
  boolean mayChange() {
    return mayChange;
  }

  /** Follows one wait; returns whether it leads back to where the search began. */
  private boolean look(Visit waiter, EntryOfLock wait, EntryOfLock first, Visit self) {
    boolean own = isOfSelf(wait.entry());
    for (Entry ahead : unseen(wait, own)) {
      looks++;
      Optional<Actor> actor = looks > MAX_LOOKS ? Optional.empty() : actor(wait.lock(), ahead);
      if (actor.isEmpty() || actor.get().equals(waiter.actor()) || !blocks(ahead, wait)) {
        continue;
      }
      boolean alike = actor.get().isUnnamed() || !addsUp(ahead, wait);
      WaitEdge edge = new WaitEdge(waiter, wait.lock(), wait.entry(), ahead);
      if (!actor.get().equals(self.actor())) {
        EntryOfLock met = new EntryOfLock(wait.lock(), ahead);
        Visit next = new Visit(actor.get(), alike ? Optional.of(met) : Optional.empty());
        if (cameBy.putIfAbsent(next, edge) == null) {
          toVisit.addLast(next);
        }
      } else if (!coarse && isDetour(edge, self)) {
        mayChange = true;
      } else if (!alike || !wait.lock().equals(first.lock())) {
        cameBy.putIfAbsent(self, edge);
        if (!coarse) {
          return true;
        }
      }
    }
    return cameBy.containsKey(self);
  }

  /**
   * Returns the entries ahead that no wait of the same mode was behind already: what waits in one
   * mode waits for the same.
   */
  private Collection<Entry> unseen(EntryOfLock wait, boolean own) {
    Optional<LockQueue> queue = core.mirror.queue(wait.lock());
    if (queue.isEmpty() || own) {
      return queue.map(q -> q.before(wait.entry())).orElse(List.of());
    }
    LockInMode lock = new LockInMode(wait.lock(), wait.entry().mode());
    Optional<Entry> last = Optional.ofNullable(lookedUpTo.get(lock));
    if (last.filter(l -> Entry.ORDER.compare(l, wait.entry()) >= 0).isPresent()) {
      return List.of();
    }
    lookedUpTo.put(lock, wait.entry());
    return queue.get().between(last, wait.entry());
  }

  private boolean isOfSelf(Entry entry) {
    return Acquisition.of(entry).filter(acquisition -> acquisition == start).isPresent();
  }

  private boolean blocks(Entry ahead, EntryOfLock wait) {
    if (!holds(wait.lock(), ahead)) {
      return true;
    }
    return excludes(ahead, wait);
  }

  private boolean addsUp(Entry ahead, EntryOfLock wait) {
    return !ahead.mode().isReentrant() && excludes(ahead, wait);
  }

  private boolean excludes(Entry ahead, EntryOfLock wait) {
    Occupancy alone = Occupancy.free(core.mirror.limit(wait.lock())).plus(ahead.name());
    return !alone.admits(wait.entry().name());
  }

  /** Returns whether an entry holds, or will when the delay is over that keeps its lock closed. */
  private boolean holds(LockName lock, Entry entry) {
    return entry.holds() || opening.computeIfAbsent(lock, this::opening).contains(entry);
  }

  private Set<Entry> opening(LockName lock) {
    return core.mirror
        .queue(lock)
        .map(queue -> Set.copyOf(Admission.holdersToBe(queue.entries(), core.mirror.limit(lock))))
        .orElse(Set.of());
  }

  /** Returns whose an entry is, or empty if it is on its way out or nobody's we could know. */
  private Optional<Actor> actor(LockName lock, Entry entry) {
    if (entry.isReleased()) {
      return Optional.empty();
    }
    if (Acquisition.of(entry).isPresent()) {
      mayChange |= !Acquisition.of(entry).get().isAnswered();
      AcquisitionState state = Acquisition.of(entry).get().state();
      return state.isHeld() || state.isWaiting()
          ? Acquisition.of(entry).filter(t -> !t.command().unsearched()).map(this::actor)
          : Optional.empty();
    }
    if (entry.details().filter(EntryDetails::unsearched).isPresent()) {
      return Optional.empty();
    }
    if (!entry.isDescribed()) {
      undescribed.add(new NodeKey(lock, entry.name().text()));
    }
    boolean usable = coarse || entry.isDescribed();
    Optional<Long> tag = entry.name().id().map(UUID::getMostSignificantBits);
    mayChange |= tag.filter(core.leasesByTag::containsKey).isPresent();
    return tag.filter(lease -> usable)
        .map(lease -> new Actor(lease, coarse ? Optional.empty() : ownerOf(entry)));
  }

  private static Optional<String> ownerOf(Entry entry) {
    return entry.details().map(EntryDetails::owner);
  }

  /** A lease is served by one coordinator as a whole, so of our own all is known. */
  private Actor actor(Acquisition acquisition) {
    return new Actor(acquisition.lease().id().high(), Optional.of(acquisition.command().owner()));
  }

  private List<EntryOfLock> waitsOf(Acquisition acquisition) {
    mayChange |= acquisition.holds().stream().anyMatch(hold -> hold.entryIn(core.mirror).isEmpty());
    return acquisition.holds().stream()
        .flatMap(
            hold ->
                hold.entryIn(core.mirror).stream()
                    .filter(entry -> !holds(hold.lock(), entry))
                    .map(entry -> new EntryOfLock(hold.lock(), entry)))
        .toList();
  }

  /** The youngest entry of a cycle closes it: who came later looks for its own. */
  private List<EntryOfLock> waitsOf(Actor actor) {
    return allWaitsOf(actor).stream()
        .filter(placed -> placed.entry().czxid().orElse(0) <= youngest)
        .toList();
  }

  private List<EntryOfLock> allWaitsOf(Actor actor) {
    Optional<Lease> lease = Optional.ofNullable(core.leasesByTag.get(actor.lease()));
    return lease.map(own -> waitsOf(own, actor)).orElseGet(() -> waitsOfOthers(actor));
  }

  private List<EntryOfLock> waitsOf(Lease lease, Actor actor) {
    looks += lease.acquisitions().size();
    return lease.acquisitions().values().stream()
        .filter(
            acquisition -> acquisition.state().isWaiting() && !acquisition.command().unsearched())
        .filter(acquisition -> actor(acquisition).equals(actor))
        .flatMap(acquisition -> waitsOf(acquisition).stream())
        .toList();
  }

  private List<EntryOfLock> waitsOfOthers(Actor actor) {
    if (others.isEmpty()) {
      others = Optional.of(index());
    }
    return others.get().getOrDefault(actor.lease(), List.of()).stream()
        .filter(placed -> actor(placed.lock(), placed.entry()).filter(actor::equals).isPresent())
        .filter(placed -> placed.entry().details().filter(EntryDetails::unsearched).isEmpty())
        .toList();
  }

  /** Returns the waiting entries that others serve, by lease. */
  private Map<Long, List<EntryOfLock>> index() {
    Map<Long, List<EntryOfLock>> byLease = new HashMap<>();
    for (LockQueue queue : core.mirror.all()) {
      for (Entry entry : queue.entries()) {
        if (Acquisition.of(entry).isEmpty() && !holds(queue.lock(), entry)) {
          entry
              .name()
              .id()
              .ifPresent(
                  id ->
                      byLease
                          .computeIfAbsent(id.getMostSignificantBits(), l -> new ArrayList<>())
                          .add(new EntryOfLock(queue.lock(), entry)));
        }
      }
    }
    return byLease;
  }

  private List<WaitEdge> path(Visit self) {
    List<WaitEdge> backwards = new ArrayList<>();
    WaitEdge edge = cameBy.get(self);
    while (edge != null) {
      backwards.add(0, edge);
      edge = edge.waiter().equals(self) ? null : cameBy.get(edge.waiter());
    }
    return backwards;
  }
}
