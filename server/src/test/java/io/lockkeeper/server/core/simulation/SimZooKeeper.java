package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.PlannedEntry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The truth: a sequencer with sessions, ephemeral entries and markers, and nothing else. */
final class SimZooKeeper {

  /** How an entry went. */
  enum Cause {
    /** Its session ended. */
    SESSION,
    /** Whoever created it deleted it. */
    DELETED,
    /** Somebody else deleted it. */
    REMOVED
  }

  /** Who is told of every change. */
  interface Watcher {
    void onAppeared(SimNode node);

    void onVanished(SimNode node, long zxid);

    void onChanged(SimNode node, long zxid);

    void onMarked(LockName lock, MarkerName marker, long zxid);

    void onUnmarked(LockName lock, MarkerName marker, long zxid);
  }

  /** A marker that was there from one transaction to another. */
  private record Marked(MarkerName marker, long from, long gone) {}

  private static final class Directory {
    final long createdZxid;
    int counter;
    long changedAt;
    final Map<String, SimNode> nodes = new LinkedHashMap<>();
    final Map<String, Marked> markers = new LinkedHashMap<>();

    Directory(long createdZxid) {
      this.createdZxid = createdZxid;
    }

    int next() {
      int sequence = counter;
      // The real one sticks, too.
      counter += sequence == Integer.MAX_VALUE ? 0 : 1;
      return sequence;
    }
  }

  private final Sim sim;
  private final Map<LockName, Directory> directories = new TreeMap<>();
  private final Map<LockName, Integer> beginnings = new HashMap<>();
  private final Map<UUID, List<SimNode>> created = new HashMap<>();
  private final Map<LockName, List<SimNode>> past = new HashMap<>();
  private final Map<LockName, List<Marked>> pastMarkers = new TreeMap<>();
  private final Map<LockName, TreeMap<Long, OptionalInt>> limits = new HashMap<>();
  private final List<Watcher> watchers = new ArrayList<>();
  private final Set<LeaseId> leases = new LinkedHashSet<>();
  private final Map<LockName, Integer> indexes = new HashMap<>();
  private Optional<SimSession> creator = Optional.empty();
  private long zxid = 0x1_0000_0000L;

  SimZooKeeper(Sim sim) {
    this.sim = sim;
  }

  void watch(Watcher watcher) {
    watchers.add(watcher);
  }

  /** Whoever has gone is told no more. */
  void forget(Watcher watcher) {
    watchers.remove(watcher);
  }

  /** Sets where the lock's counter begins, to get near its end. */
  void beginAt(LockName lock, int counter) {
    beginnings.put(lock, counter);
  }

  long zxid() {
    return zxid;
  }

  private void begin() {
    zxid++;
    creator = Optional.empty();
    indexes.clear();
  }

  /** Whoever looks now sees whole transactions: the last one is complete. */
  void seal() {
    creator = Optional.empty();
  }

  /** A write that changes nothing. */
  void barrier() {
    begin();
  }

  private Directory directory(LockName lock) {
    return directories.computeIfAbsent(
        lock,
        name -> {
          Directory directory = new Directory(zxid);
          directory.counter = Optional.ofNullable(beginnings.remove(name)).orElse(0);
          return directory;
        });
  }

  /**
   * Creates all entries and guards of one acquisition, or nothing if what one of them is to be
   * beside is gone, or if a guard is there already. Shares its transaction, by chance, with what
   * the same session created last.
   */
  Optional<List<SimNode>> create(
      SimSession owner, StoreEffect.CreateEntries wanted, boolean checked) {
    for (PlannedEntry entry : wanted.entries()) {
      boolean refused =
          entry.beside().filter(b -> find(entry.lock(), b.entry().text()).isEmpty()).isPresent();
      if ((refused && checked) || guarded(entry.lock(), wanted.id())) {
        return Optional.empty();
      }
    }
    if (!creator.equals(Optional.of(owner)) || sim.chance(50)) {
      begin();
      creator = Optional.of(owner);
    }
    List<SimNode> nodes = new ArrayList<>();
    for (PlannedEntry entry : wanted.entries()) {
      Directory directory = directory(entry.lock());
      int next = directory.next();
      int sequence = entry.beside().map(b -> b.entry().sequence()).orElse(next);
      String text = EntryName.prefix(wanted.id(), entry.mode()) + EntryName.suffix(sequence);
      int index = indexes.merge(entry.lock(), 1, Integer::sum) - 1;
      Optional<FencingToken> kept = entry.beside().map(PlannedEntry.Beside::token);
      nodes.add(
          add(
              owner,
              entry.lock(),
              text,
              new StoreEvent.ReadEntry(wanted.details(), zxid, index, nodes.size(), kept)));
      if (wanted.lockDelayMillis() > 0) {
        directory.next();
        mark(
            entry.lock(),
            MarkerName.Guard.of(
                wanted.id(), wanted.lockDelayMillis(), wanted.details().terms().guardAccount()));
      }
    }
    sim.losses.onCreated(wanted.details().requestId());
    created.put(wanted.id(), List.copyOf(nodes));
    sim.holds.onCreated(nodes);
    return Optional.of(nodes);
  }

  private boolean guarded(LockName lock, UUID id) {
    return directories.containsKey(lock)
        && directories.get(lock).markers.values().stream()
            .anyMatch(marked -> marked.marker() instanceof MarkerName.Guard g && g.id().equals(id));
  }

  /** Creates one entry as those do who write by themselves. */
  SimNode create(SimSession owner, LockName lock, String prefix, OptionalInt explicit) {
    begin();
    int next = directory(lock).next();
    String text = prefix + EntryName.suffix(explicit.orElse(next));
    EntryDetails details = EntryDetails.foreign("", Optional.empty());
    return add(owner, lock, text, new StoreEvent.ReadEntry(details, zxid, 0, Optional.empty()));
  }

  private SimNode add(SimSession owner, LockName lock, String text, StoreEvent.ReadEntry data) {
    SimNode node = new SimNode(lock, EntryName.parse(text).orElseThrow(), data, owner);
    sim.note("ZooKeeper creates", text);
    directory(lock).nodes.put(text, node);
    owner.nodes.add(node);
    watchers.forEach(watcher -> watcher.onAppeared(node));
    return node;
  }

  private void mark(LockName lock, MarkerName marker) {
    directory(lock).markers.put(marker.text(), new Marked(marker, zxid, Long.MAX_VALUE));
    watchers.forEach(watcher -> watcher.onMarked(lock, marker, zxid));
  }

  void unmark(LockName lock, MarkerName marker) {
    Marked found =
        directories.containsKey(lock) ? directories.get(lock).markers.remove(marker.text()) : null;
    if (found != null) {
      pastMarkers
          .computeIfAbsent(lock, name -> new ArrayList<>())
          .add(new Marked(marker, found.from(), zxid));
      watchers.forEach(watcher -> watcher.onUnmarked(lock, marker, zxid));
    }
  }

  void delete(LockName lock, String text, Cause cause) {
    begin();
    find(lock, text).ifPresent(node -> remove(node, cause));
  }

  /** Deletes entries with their guards, the guards first. */
  void delete(List<EntryRef> entries) {
    begin();
    for (EntryRef ref : entries) {
      ref.guard().flatMap(MarkerName::parse).ifPresent(guard -> unmark(ref.lock(), guard));
      find(ref.lock(), ref.entry()).ifPresent(node -> remove(node, Cause.DELETED));
    }
  }

  private void remove(SimNode node, Cause cause) {
    sim.note("ZooKeeper " + cause, node.name.text());
    node.exists = false;
    node.goneZxid = zxid;
    node.cause = Optional.of(cause);
    node.owner.nodes.remove(node);
    Directory directory = directories.get(node.lock);
    directory.nodes.remove(node.name.text());
    directory.changedAt = sim.now;
    past.computeIfAbsent(node.lock, lock -> new ArrayList<>()).add(node);
    watchers.forEach(watcher -> watcher.onVanished(node, zxid));
    sim.holds.onGone(node, cause);
  }

  /** Replaces what an entry says of itself. */
  void change(SimNode node, EntryDetails details) {
    begin();
    node.change(details, zxid);
    watchers.forEach(watcher -> watcher.onChanged(node, zxid));
  }

  /** Sets a lock's limit, or takes the setting back. */
  void setLimit(LockName lock, OptionalInt limit) {
    begin();
    Directory directory = directory(lock);
    directory.changedAt = sim.now;
    List<MarkerName> old =
        markers(lock).stream().filter(MarkerName.Limit.class::isInstance).toList();
    if (limit.isPresent()) {
      String text =
          MarkerName.Limit.prefix(limit.getAsInt(), AccountTag.NOBODY)
              + EntryName.suffix(directory.next());
      MarkerName marker = MarkerName.parse(text).orElseThrow();
      if (old.contains(marker)) {
        return;
      }
      mark(lock, marker);
    }
    old.forEach(marker -> unmark(lock, marker));
    limits.computeIfAbsent(lock, name -> new TreeMap<>()).put(zxid, limit);
  }

  /** Returns every limit that was in force for a lock since a transaction, empty for none. */
  Collection<OptionalInt> limitsSince(LockName lock, long since) {
    TreeMap<Long, OptionalInt> all = limits.getOrDefault(lock, new TreeMap<>());
    List<OptionalInt> found = new ArrayList<>(all.tailMap(since, false).values());
    Map.Entry<Long, OptionalInt> before = all.floorEntry(since);
    found.add(before == null ? OptionalInt.empty() : before.getValue());
    return found;
  }

  void recordLease(SimSession owner, SessionEvent.AdoptedLease lease) {
    begin();
    owner.leases.put(lease.lease(), lease);
    leases.add(lease.lease());
  }

  boolean hasLease(LeaseId lease) {
    return leases.contains(lease);
  }

  void eraseLease(SimSession owner, LeaseId lease) {
    begin();
    owner.leases.remove(lease);
    leases.remove(lease);
  }

  /** The session ends, by expiry or by being closed: one transaction takes all that it owns. */
  void end(SimSession session) {
    if (session.alive) {
      session.alive = false;
      begin();
      new ArrayList<>(session.nodes).forEach(node -> remove(node, Cause.SESSION));
      leases.removeAll(session.leases.keySet());
    }
  }

  /** Removes empty directories: their counters begin again at zero. */
  void reap() {
    directories.values().removeIf(d -> d.nodes.isEmpty() && d.markers.isEmpty() && sim.chance(50));
  }

  List<LockName> lockList() {
    return List.copyOf(directories.keySet());
  }

  /** Returns when an entry went, or the limit was set. */
  long changedAt(LockName lock) {
    return directory(lock).changedAt;
  }

  Optional<SimNode> find(LockName lock, String text) {
    return Optional.ofNullable(directories.get(lock)).map(directory -> directory.nodes.get(text));
  }

  List<SimNode> ordered(LockName lock) {
    return directories.containsKey(lock)
        ? directories.get(lock).nodes.values().stream().sorted(SimNode.ORDER).toList()
        : List.of();
  }

  /** Returns the queue as it was after a transaction, or in the midst of it. */
  List<SimNode> orderedAsOf(LockName lock, long seenZxid) {
    List<SimNode> nodes = new ArrayList<>(past.getOrDefault(lock, List.of()));
    nodes.addAll(ordered(lock));
    nodes.removeIf(node -> node.czxid > seenZxid || node.goneZxid < seenZxid);
    nodes.sort(SimNode.ORDER);
    return nodes;
  }

  /** Returns whether somebody else has removed an entry. */
  boolean wasRemoved(LockName lock, String name) {
    return past.getOrDefault(lock, List.of()).stream()
        .anyMatch(n -> n.name.text().equals(name) && n.cause.equals(Optional.of(Cause.REMOVED)));
  }

  /** Returns whether an entry was there, and is gone. */
  boolean wasThere(LockName lock, String name) {
    return past.getOrDefault(lock, List.of()).stream().anyMatch(n -> n.name.text().equals(name));
  }

  List<MarkerName> markers(LockName lock) {
    return directories.containsKey(lock)
        ? directories.get(lock).markers.values().stream().map(Marked::marker).toList()
        : List.of();
  }

  /** Returns the markers that were there after a transaction. */
  List<MarkerName> markersAsOf(LockName lock, long seenZxid) {
    Stream<Marked> now =
        directories.containsKey(lock)
            ? directories.get(lock).markers.values().stream()
            : Stream.empty();
    return Stream.concat(pastMarkers.getOrDefault(lock, List.of()).stream(), now)
        .filter(marked -> marked.from() <= seenZxid && marked.gone() > seenZxid)
        .map(Marked::marker)
        .toList();
  }

  /** Returns the locks that had a directory after a transaction, of empty ones perhaps not all. */
  List<LockName> locksAsOf(long seenZxid) {
    Set<LockName> locks = new TreeSet<>(past.keySet());
    locks.addAll(pastMarkers.keySet());
    locks.addAll(directories.keySet());
    locks.removeIf(lock -> !wasThere(lock, seenZxid));
    return List.copyOf(locks);
  }

  private boolean wasThere(LockName lock, long seenZxid) {
    Directory now = directories.get(lock);
    return (now != null && now.createdZxid <= seenZxid)
        || !markersAsOf(lock, seenZxid).isEmpty()
        || orderedAsOf(lock, seenZxid).stream().anyMatch(node -> node.goneZxid > seenZxid);
  }

  /** Returns what was created for an acquisition, while any of it is left. */
  Optional<List<SimNode>> ofAcquisition(UUID id) {
    return Optional.ofNullable(created.get(id))
        .filter(nodes -> nodes.stream().anyMatch(node -> node.exists));
  }

  long entryCount() {
    return directories.values().stream().mapToLong(directory -> directory.nodes.size()).sum();
  }

  /** Returns whether another entry of the same request was taken away. */
  boolean hasLostSibling(SimNode node) {
    return node.name.id().map(created::get).stream()
        .flatMap(List::stream)
        .anyMatch(sibling -> !sibling.exists);
  }

  /** Returns an entry of a request, while there is one. */
  Optional<SimNode> ofRequest(SimRequest request) {
    return nodesOf(request.lease)
        .filter(node -> node.details.requestId().equals(request.id))
        .findFirst();
  }

  /** Returns whether everything that a request was granted is there. */
  boolean hasAll(SimRequest request) {
    List<AcquireCommand.WantedLock> locks = request.command.locks();
    return IntStream.range(0, request.tokens.size())
        .allMatch(
            i ->
                nodesOf(request.lease)
                    .filter(node -> node.lock.equals(locks.get(i).name()))
                    .filter(node -> node.isUsedFor(request))
                    .filter(node -> SimModes.isAlike(node.name.mode(), locks.get(i).mode()))
                    .anyMatch(node -> node.token().value() == request.tokens.get(i)));
  }

  private Stream<SimNode> nodesOf(LeaseId lease) {
    String text = lease.toString();
    return directories.values().stream()
        .flatMap(directory -> directory.nodes.values().stream())
        .filter(node -> node.details.leaseId().equals(text));
  }

  /** Returns the names of all guards. */
  List<String> guards() {
    return directories.values().stream()
        .flatMap(directory -> directory.markers.values().stream())
        .map(Marked::marker)
        .filter(MarkerName.Guard.class::isInstance)
        .map(MarkerName::text)
        .toList();
  }

  int leaseCount() {
    return leases.size();
  }
}
