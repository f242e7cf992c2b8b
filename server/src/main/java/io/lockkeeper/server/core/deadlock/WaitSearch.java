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
  private final Map<Stop, Step> cameBy = new HashMap<>();
  private final Deque<Stop> toVisit = new ArrayDeque<>();
  private final Set<NodeKey> undescribed = new LinkedHashSet<>();
  private final Map<Place, Entry> lookedUpTo = new HashMap<>();
  private final Map<LockName, Set<Entry>> opening = new HashMap<>();
  private Optional<Map<Long, List<Placed>>> others = Optional.empty();
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
  private record Stop(Actor actor, Optional<Placed> met) {

    boolean follows(Placed wait) {
      return met.filter(m -> m.lock().equals(wait.lock()) && m.entry() != wait.entry()).isEmpty();
    }
  }

  /** Where waits are alike. */
  private record Place(LockName lock, Mode mode) {}

  /** An entry and its lock. */
  private record Placed(LockName lock, Entry entry) {}

  /**
   * One wait of a cycle.
   *
   * @param waiter who waits
   * @param lock for which lock
   * @param entry by which entry
   * @param obstacle because of which entry ahead of it
   */
  record Step(Object waiter, LockName lock, Entry entry, Entry obstacle) {}

  WaitSearch(CoreState core, Acquisition start, boolean coarse) {
    this.core = core;
    this.start = start;
    this.coarse = coarse;
    youngest = start.holds().stream().mapToLong(Hold::czxid).max().orElse(Long.MAX_VALUE);
  }

  /**
   * Returns a cycle that begins with a wait of the first acquisition, or empty if there is none.
   */
  Optional<List<Step>> cycle() {
    return waitsOf(start).stream().flatMap(first -> cycle(first).stream()).findFirst();
  }

  private Optional<List<Step>> cycle(Placed first) {
    cameBy.clear();
    toVisit.clear();
    lookedUpTo.clear();
    Stop self = new Stop(actor(start), Optional.empty());
    boolean found = look(self, first, first, self);
    while (!toVisit.isEmpty() && looks < MAX_LOOKS && (coarse || !found)) {
      Stop stop = toVisit.removeFirst();
      for (Placed wait : waitsOf(stop.actor())) {
        found |= stop.follows(wait) && look(stop, wait, first, self);
      }
    }
    return found ? Optional.of(path(self)) : Optional.empty();
  }

  /** Whoever is met twice makes a cycle without whoever began: one of those in it ends it. */
  private boolean isDetour(Step last, Stop self) {
    Set<Actor> met = new HashSet<>();
    Step step = last;
    while (step != null) {
      Stop at = (Stop) step.waiter();
      if (!met.add(at.actor())) {
        return true;
      }
      step = at.equals(self) ? null : cameBy.get(at);
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
  private boolean look(Stop waiter, Placed wait, Placed first, Stop self) {
    boolean own = isOfSelf(wait.entry());
    for (Entry ahead : unseen(wait, own)) {
      looks++;
      Optional<Actor> actor = looks > MAX_LOOKS ? Optional.empty() : actor(wait.lock(), ahead);
      if (actor.isEmpty() || actor.get().equals(waiter.actor()) || !blocks(ahead, wait)) {
        continue;
      }
      boolean alike = actor.get().isUnnamed() || !addsUp(ahead, wait);
      Step step = new Step(waiter, wait.lock(), wait.entry(), ahead);
      if (!actor.get().equals(self.actor())) {
        Placed met = new Placed(wait.lock(), ahead);
        Stop next = new Stop(actor.get(), alike ? Optional.of(met) : Optional.empty());
        if (cameBy.putIfAbsent(next, step) == null) {
          toVisit.addLast(next);
        }
      } else if (!coarse && isDetour(step, self)) {
        mayChange = true;
      } else if (!alike || !wait.lock().equals(first.lock())) {
        cameBy.putIfAbsent(self, step);
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
  private Collection<Entry> unseen(Placed wait, boolean own) {
    Optional<LockQueue> queue = core.mirror.queue(wait.lock());
    if (queue.isEmpty() || own) {
      return queue.map(q -> q.before(wait.entry())).orElse(List.of());
    }
    Place place = new Place(wait.lock(), wait.entry().mode());
    Optional<Entry> last = Optional.ofNullable(lookedUpTo.get(place));
    if (last.filter(l -> Entry.ORDER.compare(l, wait.entry()) >= 0).isPresent()) {
      return List.of();
    }
    lookedUpTo.put(place, wait.entry());
    return queue.get().between(last, wait.entry());
  }

  private boolean isOfSelf(Entry entry) {
    return Acquisition.of(entry).filter(acquisition -> acquisition == start).isPresent();
  }

  private boolean blocks(Entry ahead, Placed wait) {
    if (!holds(wait.lock(), ahead)) {
      return true;
    }
    return excludes(ahead, wait);
  }

  private boolean addsUp(Entry ahead, Placed wait) {
    return !ahead.mode().isReentrant() && excludes(ahead, wait);
  }

  private boolean excludes(Entry ahead, Placed wait) {
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

  private List<Placed> waitsOf(Acquisition acquisition) {
    mayChange |= acquisition.holds().stream().anyMatch(hold -> hold.entryIn(core.mirror).isEmpty());
    return acquisition.holds().stream()
        .flatMap(
            hold ->
                hold.entryIn(core.mirror).stream()
                    .filter(entry -> !holds(hold.lock(), entry))
                    .map(entry -> new Placed(hold.lock(), entry)))
        .toList();
  }

  /** The youngest entry of a cycle closes it: who came later looks for its own. */
  private List<Placed> waitsOf(Actor actor) {
    return allWaitsOf(actor).stream()
        .filter(placed -> placed.entry().czxid().orElse(0) <= youngest)
        .toList();
  }

  private List<Placed> allWaitsOf(Actor actor) {
    Optional<Lease> lease = Optional.ofNullable(core.leasesByTag.get(actor.lease()));
    return lease.map(own -> waitsOf(own, actor)).orElseGet(() -> waitsOfOthers(actor));
  }

  private List<Placed> waitsOf(Lease lease, Actor actor) {
    looks += lease.acquisitions().size();
    return lease.acquisitions().values().stream()
        .filter(
            acquisition -> acquisition.state().isWaiting() && !acquisition.command().unsearched())
        .filter(acquisition -> actor(acquisition).equals(actor))
        .flatMap(acquisition -> waitsOf(acquisition).stream())
        .toList();
  }

  private List<Placed> waitsOfOthers(Actor actor) {
    if (others.isEmpty()) {
      others = Optional.of(index());
    }
    return others.get().getOrDefault(actor.lease(), List.of()).stream()
        .filter(placed -> actor(placed.lock(), placed.entry()).filter(actor::equals).isPresent())
        .filter(placed -> placed.entry().details().filter(EntryDetails::unsearched).isEmpty())
        .toList();
  }

  /** Returns the waiting entries that others serve, by lease. */
  private Map<Long, List<Placed>> index() {
    Map<Long, List<Placed>> byLease = new HashMap<>();
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
                          .add(new Placed(queue.lock(), entry)));
        }
      }
    }
    return byLease;
  }

  private List<Step> path(Stop self) {
    List<Step> backwards = new ArrayList<>();
    Step step = cameBy.get(self);
    while (step != null) {
      backwards.add(0, step);
      step = step.waiter().equals(self) ? null : cameBy.get(step.waiter());
    }
    return backwards;
  }
}
