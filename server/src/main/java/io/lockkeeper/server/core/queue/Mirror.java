package io.lockkeeper.server.core.queue;

import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.NodeKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The coordinator's copy of all queues, fed by one watch. It decides alone: once it has seen an
 * entry's creation it has seen everything ahead of it, so that being late can delay a grant and
 * never make one wrong.
 */
public final class Mirror {

  private static final int REMEMBERED_DEPARTURES = 65_536;

  /**
   * What a marker and its lock's directory take beside their names, about: so short names count.
   */
  private static final int MARKER_BYTES = 256;

  /**
   * How the last holder of a lock ended.
   *
   * @param end how
   * @param atNanos when it stopped holding; empty where another coordinator served it
   */
  public record Departure(HoldEnd end, OptionalLong atNanos) {}

  private final NavigableMap<LockName, LockQueue> queues = new TreeMap<>();

  /** The same, found without comparing names along a path of the tree. */
  private final Map<LockName, LockQueue> queuesByName = new HashMap<>();

  private final Map<LockName, Departure> lastDepartures =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<LockName, Departure> eldest) {
          return size() > REMEMBERED_DEPARTURES;
        }
      };

  /** The locks that have markers. */
  private final Set<LockName> marked = new LinkedHashSet<>();

  /** What the markers of each account take, by its tag. */
  private final Map<String, Long> markerBytes = new HashMap<>();

  /** Nodes that are known to be gone, with their creation zxids. */
  private final Map<NodeKey, Long> deleted = new HashMap<>();

  private boolean current;
  private long revision;
  private long arrivals;
  private int entryCount;
  private int markerCount;
  private long nameBytes;

  /** Returns whether grants can be made from it. */
  public boolean isCurrent() {
    return current;
  }

  /** Returns the newest zxid that it has seen. */
  public long revision() {
    return revision;
  }

  public int entryCount() {
    return entryCount;
  }

  /** Returns how many entries and markers there are. */
  public int nodeCount() {
    return entryCount + markerCount;
  }

  public boolean hasMarkers() {
    return markerCount > 0;
  }

  /** Returns about how many bytes the markers of an account take, by its tag. */
  public long markerBytes(String account) {
    return markerBytes.getOrDefault(account, 0L);
  }

  /** Returns how many bytes the names of the locks in use take in ZooKeeper's list of them. */
  public long nameBytes() {
    return nameBytes;
  }

  public NavigableMap<LockName, LockQueue> queues() {
    return queues;
  }

  public Optional<LockQueue> queue(LockName lock) {
    return Optional.ofNullable(queuesByName.get(lock));
  }

  private LockQueue queueOrNew(LockName lock) {
    LockQueue queue = queuesByName.get(lock);
    if (queue == null) {
      queue = new LockQueue(lock);
      queuesByName.put(lock, queue);
      queues.put(lock, queue);
      nameBytes += listedBytes(lock);
    }
    return queue;
  }

  private void dropUnused(LockQueue queue) {
    LockName lock = queue.lock();
    if (queue.isEmpty() && queue.markers().isEmpty() && queuesByName.remove(lock) != null) {
      queues.remove(lock);
      nameBytes -= listedBytes(lock);
    }
  }

  /** Returns what the name takes in ZooKeeper's list of all locks: the text, and its length. */
  private static int listedBytes(LockName lock) {
    return lock.encoded().length() + Integer.BYTES;
  }

  public Optional<Entry> find(LockName lock, String entry) {
    LockQueue queue = queuesByName.get(lock);
    return queue == null ? Optional.empty() : queue.find(entry);
  }

  /** Returns what whoever is first in a lock's queue asked for: it makes the lock's kind. */
  public Optional<Mode> firstMode(LockName lock) {
    LockQueue queue = queuesByName.get(lock);
    return queue == null || queue.isEmpty() ? Optional.empty() : Optional.of(queue.first().mode());
  }

  /** Returns how the last holder of a lock ended, as far as this coordinator knows. */
  public Optional<Departure> lastDeparture(LockName lock) {
    return Optional.ofNullable(lastDepartures.get(lock));
  }

  /** Remembers how the last holder of a lock ended. */
  public void noteDeparture(LockName lock, Departure departure) {
    if (departure.end() == HoldEnd.UNKNOWN) {
      lastDepartures.remove(lock);
    } else {
      lastDepartures.put(lock, departure);
    }
  }

  /** Returns the new entry, or empty if it was there, or is known to be gone again. */
  public Optional<Entry> appeared(LockName lock, EntryName name, long zxid, long nowNanos) {
    revision = Math.max(revision, zxid);
    if (isDeleted(lock, name.text())) {
      return Optional.empty();
    }
    LockQueue queue = queueOrNew(lock);
    queue.seen(zxid);
    return add(queue, name, zxid, 0, nowNanos);
  }

  private Optional<Entry> add(
      LockQueue queue, EntryName name, long zxid, int index, long nowNanos) {
    if (queue.find(name.text()).isPresent()) {
      return Optional.empty();
    }
    Entry entry = new Entry(name, zxid, index, arrivals++, nowNanos, !isCurrent());
    queue.add(entry);
    entryCount++;
    return Optional.of(entry);
  }

  /**
   * Returns the entry that is gone, or empty if it was not there.
   *
   * @param zxid the transaction that deleted it, zero where the watch has not told that
   */
  public Optional<Entry> vanished(LockName lock, String name, long zxid) {
    revision = Math.max(revision, zxid);
    stopSuppressing(lock, name, zxid);
    LockQueue queue = queuesByName.get(lock);
    if (queue == null) {
      return Optional.empty();
    }
    queue.seen(zxid);
    Optional<Entry> entry = queue.remove(name);
    if (entry.isPresent()) {
      entryCount--;
    }
    dropUnused(queue);
    return entry;
  }

  /** Stops grants until the rebuild is complete. */
  public void markStale() {
    current = false;
    // Holders may come and go unseen: how the last one ended is no longer known.
    lastDepartures.clear();
  }

  /** Drops the queues of locks that have no directory any more. */
  public void beginRebuild(Set<LockName> existing) {
    for (LockQueue queue : new ArrayList<>(queues.values())) {
      if (!existing.contains(queue.lock())) {
        listed(queue.lock(), List.of(), List.of(), 0);
      }
    }
  }

  /** Makes one queue what a listing found; entries that were known stay the same objects. */
  public void listed(
      LockName lock,
      List<StoreEvent.ListedEntry> found,
      List<MarkerName> foundMarkers,
      long nowNanos) {
    LockQueue queue = queueOrNew(lock);
    queue.markers().ifPresent(known -> known.all().forEach(marker -> remove(queue, marker)));
    for (MarkerName marker : foundMarkers) {
      if (!isDeleted(lock, marker.text())) {
        add(queue, marker);
      }
    }
    Set<String> names = new HashSet<>();
    for (StoreEvent.ListedEntry entry : found) {
      if (!isDeleted(lock, entry.name().text())) {
        names.add(entry.name().text());
      }
    }
    for (Entry known : new ArrayList<>(queue.entries())) {
      if (!names.contains(known.name().text())) {
        queue.remove(known.name().text());
        entryCount--;
      }
    }
    for (StoreEvent.ListedEntry entry : found) {
      if (names.contains(entry.name().text())) {
        add(queue, entry.name(), entry.czxid().orElse(0L), entry.index(), nowNanos);
      }
    }
    dropUnused(queue);
  }

  private void add(LockQueue queue, MarkerName marker) {
    LockMarkers markers = queue.markers().orElseGet(LockMarkers::new);
    if (markers.add(marker)) {
      count(queue.lock(), marker, 1);
    }
    queue.markers(Optional.of(markers));
    marked.add(queue.lock());
  }

  /** Returns whether it was there. */
  private boolean remove(LockQueue queue, MarkerName marker) {
    boolean removed = queue.markers().filter(markers -> markers.remove(marker)).isPresent();
    if (removed) {
      count(queue.lock(), marker, -1);
    }
    if (queue.markers().filter(LockMarkers::isEmpty).isPresent()) {
      queue.markers(Optional.empty());
      marked.remove(queue.lock());
    }
    return removed;
  }

  private void count(LockName lock, MarkerName marker, int sign) {
    markerCount += sign;
    long bytes = (long) lock.encoded().length() + marker.text().length() + MARKER_BYTES;
    markerBytes.compute(
        marker.account(),
        (account, before) -> {
          long after = (before == null ? 0 : before) + sign * bytes;
          return after == 0 ? null : Long.valueOf(after);
        });
  }

  /** Returns whether the marker is there: not if it is known to be gone again. */
  public boolean markerAppeared(LockName lock, MarkerName marker, long zxid) {
    revision = Math.max(revision, zxid);
    boolean there = !isDeleted(lock, marker.text());
    if (there) {
      LockQueue queue = queueOrNew(lock);
      queue.seen(zxid);
      add(queue, marker);
    }
    return there;
  }

  /**
   * Returns whether the marker was there.
   *
   * @param zxid the transaction that deleted it, zero where the watch has not told that
   */
  public boolean markerVanished(LockName lock, MarkerName marker, long zxid) {
    revision = Math.max(revision, zxid);
    stopSuppressing(lock, marker.text(), zxid);
    LockQueue queue = queuesByName.get(lock);
    if (queue == null) {
      return false;
    }
    queue.seen(zxid);
    boolean removed = remove(queue, marker);
    dropUnused(queue);
    return removed;
  }

  /**
   * A node is gone for certain, and the watch may still tell that it appeared, or a listing from a
   * server that lags behind show it: neither is believed until the watch has told that it vanished.
   *
   * @param czxid its creation zxid: what vanished before that is another of the same name
   */
  public void suppress(LockName lock, String name, long czxid) {
    deleted.put(new NodeKey(lock, name), czxid);
  }

  private void stopSuppressing(LockName lock, String name, long vanishedZxid) {
    if (!deleted.isEmpty()) {
      deleted.computeIfPresent(
          new NodeKey(lock, name), (node, czxid) -> vanishedZxid > czxid ? null : czxid);
    }
  }

  private boolean isDeleted(LockName lock, String name) {
    return !deleted.isEmpty() && deleted.containsKey(new NodeKey(lock, name));
  }

  /** Returns the nodes that are known to be gone and of which the watch has not told. */
  public Map<NodeKey, Long> suppressed() {
    return Map.copyOf(deleted);
  }

  /** What the watch tells from now on is newer than the deletion of these nodes. */
  public void stopSuppressing(Map<NodeKey, Long> nodes) {
    nodes.forEach(deleted::remove);
  }

  /** Returns the limit of permits that was configured for a lock. */
  public OptionalInt limit(LockName lock) {
    Optional<LockMarkers> found = markers(lock);
    return found.isPresent() ? found.get().limit() : OptionalInt.empty();
  }

  /** Returns the tag of the account that the configured limit of a lock counts for. */
  public Optional<String> limitAccount(LockName lock) {
    return markers(lock).flatMap(LockMarkers::limitAccount);
  }

  /** Returns the guards of a lock, those of entries that exist included. */
  public Collection<MarkerName.Guard> guards(LockName lock) {
    return markers(lock).map(LockMarkers::guards).orElse(List.of());
  }

  /** Returns the guard of an acquisition's entry. */
  public Optional<MarkerName.Guard> guard(LockName lock, UUID id) {
    Optional<LockMarkers> found = markers(lock);
    return found.isPresent() ? found.get().guard(id) : Optional.empty();
  }

  private Optional<LockMarkers> markers(LockName lock) {
    LockQueue queue = queuesByName.get(lock);
    return queue == null ? Optional.empty() : queue.markers();
  }

  /** Returns the locks that have markers. */
  public Set<LockName> marked() {
    return new LinkedHashSet<>(marked);
  }

  /** Remembers the newest transaction that was seen. */
  public void seen(LockName lock, long zxid) {
    revision = Math.max(revision, zxid);
    queue(lock).ifPresent(queue -> queue.seen(zxid));
  }

  /** Allows grants again. */
  public void markCurrent() {
    current = true;
  }

  /** Returns the queues of the locks in use, some of which may have markers alone. */
  public Collection<LockQueue> all() {
    return queues.values();
  }
}
