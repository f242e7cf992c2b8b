package io.lockkeeper.server.core.queue;

import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.UUID;

/** The queue of one lock, as the mirror has it: holders at the head, then waiters. */
public final class LockQueue {

  private final LockName lock;
  private final NavigableSet<Entry> entries = new TreeSet<>(Entry.ORDER);
  private final Map<String, Entry> byName = new HashMap<>(4);
  private Optional<LockMarkers> markers = Optional.empty();
  private List<Entry> holders = List.of();
  private int released;
  private long revision;
  private long placedAtNanos;

  LockQueue(LockName lock) {
    this.lock = lock;
  }

  public LockName lock() {
    return lock;
  }

  /** Returns whether nobody holds or waits. */
  public boolean isEmpty() {
    return entries.isEmpty();
  }

  /** Returns the markers of the lock, if it has any: they outlive its entries. */
  Optional<LockMarkers> markers() {
    return markers;
  }

  void markers(Optional<LockMarkers> value) {
    markers = value;
  }

  public int size() {
    return entries.size();
  }

  public long revision() {
    return revision;
  }

  void seen(long zxid) {
    revision = Math.max(revision, zxid);
  }

  /** Returns the entry at the head; there must be one. */
  public Entry first() {
    return entries.first();
  }

  /** Returns the entries in order. */
  public Collection<Entry> entries() {
    return entries;
  }

  Optional<Entry> find(String name) {
    return Optional.ofNullable(byName.get(name));
  }

  void add(Entry entry) {
    if (byName.putIfAbsent(entry.name().text(), entry) == null) {
      entries.add(entry);
    }
  }

  Optional<Entry> remove(String name) {
    Entry entry = byName.remove(name);
    if (entry == null) {
      return Optional.empty();
    }
    entries.remove(entry);
    released -= entry.isReleased() ? 1 : 0;
    if (entries.isEmpty()) {
      holders = List.of();
    }
    return Optional.of(entry);
  }

  /** The holder of an entry has released it: only its deletion is outstanding. */
  public void release(Entry entry) {
    released += entry.isReleased() ? 0 : 1;
    entry.markReleased();
  }

  /** An entry that was admitted waits again. */
  public void holdNoMore(Entry entry) {
    entry.holdNoMore();
    holders = holders.stream().filter(holder -> holder != entry).toList();
  }

  /** Returns the holders as of the last {@link #admit}, without those who have released. */
  public List<Entry> holders() {
    return holders;
  }

  /** Returns how many wait. */
  public int waiting() {
    return entries.size() - holders.size() - released;
  }

  /**
   * Applies the admission rule.
   *
   * @param configuredLimit the limit of permits that was configured, if one was
   * @return the entries that hold now and did not before
   */
  public List<Entry> admit(long nowNanos, OptionalInt configuredLimit) {
    List<Entry> before = holders;
    holders = Admission.holders(entries, configuredLimit);
    addThoseBehindAWaiter(before);
    List<Entry> admitted = List.of();
    for (Entry holder : holders) {
      if (!holder.holds()) {
        holder.hold(nowNanos);
        admitted = admitted.isEmpty() ? new ArrayList<>(1) : admitted;
        admitted.add(holder);
      }
    }
    return admitted;
  }

  /**
   * An entry that was placed beside a holder can wait, for the commit of a release, ahead of others
   * that hold already: those go on holding.
   */
  private void addThoseBehindAWaiter(List<Entry> before) {
    int admitted = holders.size();
    for (Entry entry : before) {
      boolean behind = admitted == 0 || Entry.ORDER.compare(holders.get(admitted - 1), entry) < 0;
      if (behind && entry.holds() && isHeldStill(entry)) {
        holders.add(entry);
      }
    }
  }

  private boolean isHeldStill(Entry entry) {
    return !entry.isReleased() && entries.contains(entry);
  }

  /** Takes those who have released off the holders, and admits nobody. */
  public void admitNobody() {
    holders = holders.stream().filter(this::isHeldStill).toList();
  }

  /**
   * Returns the entry that was created for the acquisition {@code id}. Looks from both ends, since
   * what is asked for has mostly just come or is about to go.
   */
  public Optional<Entry> entryOf(UUID id) {
    Optional<UUID> wanted = Optional.of(id);
    Iterator<Entry> fromHead = entries.iterator();
    Iterator<Entry> fromTail = entries.descendingIterator();
    for (int pairs = (entries.size() + 1) / 2; pairs > 0; pairs--) {
      Entry head = fromHead.next();
      Entry tail = fromTail.next();
      if (head.name().id().equals(wanted)) {
        return Optional.of(head);
      }
      if (tail.name().id().equals(wanted)) {
        return Optional.of(tail);
      }
    }
    return Optional.empty();
  }

  /** Returns the entries from {@code first}, or from the head, to those ahead of {@code end}. */
  public Collection<Entry> between(Optional<Entry> first, Entry end) {
    return first.isPresent() ? entries.subSet(first.get(), true, end, false) : entries.headSet(end);
  }

  /** Returns whether nobody is behind {@code entry}. */
  public boolean isLast(Entry entry) {
    return entries.last() == entry;
  }

  /** Returns the entries ahead of {@code entry}, in order. */
  public Collection<Entry> before(Entry entry) {
    return entries.headSet(entry);
  }

  /**
   * Returns how many entries are ahead of {@code entry}, holders included. Counts from both ends:
   * mostly it has just come, and so has whoever is behind it.
   */
  public int ahead(Entry entry) {
    int counted = 0;
    Iterator<Entry> fromTail = entries.descendingIterator();
    for (Entry fromHead : entries) {
      if (fromHead == entry) {
        return counted;
      }
      if (fromTail.next() == entry) {
        return entries.size() - 1 - counted;
      }
      counted++;
    }
    return counted;
  }

  /**
   * Returns about how many entries are ahead of {@code entry}: right as of some moment in the last
   * {@code patience} nanoseconds. Thousands of waiters who ask often cost one pass over the queue
   * for each such time.
   */
  public int recentlyAhead(Entry entry, long nowNanos, long patience) {
    if (!entry.hasPlace() || nowNanos - placedAtNanos >= patience) {
      int ahead = 0;
      for (Entry each : entries) {
        each.place(ahead++);
      }
      placedAtNanos = nowNanos;
    }
    return entry.place();
  }

  /** Returns whether {@code most} entries of this coordinator or more count for an account. */
  public boolean hasPlaces(String account, int most) {
    int left = most;
    Iterator<Entry> each = entries.iterator();
    while (left > 0 && each.hasNext()) {
      Optional<EntryOwner> owner = each.next().owner();
      if (owner.isPresent() && owner.get().account().equals(account)) {
        left--;
      }
    }
    return left <= 0;
  }

  /** Returns the first {@code limit} of those who wait. */
  public List<Entry> waiters(int limit) {
    return entries.stream().filter(e -> !e.holds()).limit(limit).toList();
  }
}
