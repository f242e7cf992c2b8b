package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/** The truth: a sequencer with sessions and ephemeral entries, and nothing else. */
final class SimZooKeeper {

  /** One entry. */
  static final class Node {
    final LockName lock;
    final EntryName name;
    final long czxid;
    final Session owner;
    boolean exists = true;

    Node(LockName lock, EntryName name, long czxid, Session owner) {
      this.lock = lock;
      this.name = name;
      this.czxid = czxid;
      this.owner = owner;
    }

    boolean isOf(UUID id) {
      return name.id().filter(id::equals).isPresent();
    }
  }

  /** One session and what it owns. */
  static final class Session {
    final Set<Node> nodes = new LinkedHashSet<>();
    final Set<LeaseId> leases = new LinkedHashSet<>();
    boolean alive = true;
  }

  /** Who is told of every change. */
  interface Watcher {
    void onAppeared(Node node);

    void onVanished(Node node, long zxid);
  }

  private static final class Directory {
    int counter;
    final Map<String, Node> nodes = new LinkedHashMap<>();
  }

  private static final Comparator<Node> ORDER =
      Comparator.<Node>comparingInt(n -> n.name.sequence()).thenComparingLong(n -> n.czxid);

  private final Sim sim;
  private final Map<LockName, Directory> directories = new TreeMap<>();
  private final Map<LockName, Integer> beginnings = new HashMap<>();
  private final Map<Long, Node> byCzxid = new HashMap<>();
  private final List<Watcher> watchers = new ArrayList<>();
  private final Set<LeaseId> leases = new LinkedHashSet<>();
  private long zxid = 0x1_0000_0000L;

  SimZooKeeper(Sim sim) {
    this.sim = sim;
  }

  void watch(Watcher watcher) {
    watchers.add(watcher);
  }

  /** Sets where the lock's counter begins, to get near its end. */
  void beginAt(LockName lock, int counter) {
    beginnings.put(lock, counter);
  }

  /** A write that changes nothing. */
  void barrier() {
    zxid++;
  }

  Node create(Session owner, LockName lock, String prefix) {
    zxid++;
    Directory directory = directories.get(lock);
    if (directory == null) {
      directory = new Directory();
      directory.counter = Optional.ofNullable(beginnings.remove(lock)).orElse(0);
      directories.put(lock, directory);
    }
    int sequence = directory.counter;
    // The real one sticks, too.
    directory.counter += sequence == Integer.MAX_VALUE ? 0 : 1;
    String text = prefix + String.format(Locale.ROOT, "%010d", sequence);
    Node node = new Node(lock, EntryName.parse(text).orElseThrow(), zxid, owner);
    directory.nodes.put(text, node);
    owner.nodes.add(node);
    byCzxid.put(zxid, node);
    watchers.forEach(watcher -> watcher.onAppeared(node));
    return node;
  }

  void delete(LockName lock, String text) {
    Node node = directories.containsKey(lock) ? directories.get(lock).nodes.get(text) : null;
    if (node != null) {
      zxid++;
      remove(node);
    }
  }

  private void remove(Node node) {
    node.exists = false;
    node.owner.nodes.remove(node);
    directories.get(node.lock).nodes.remove(node.name.text());
    watchers.forEach(watcher -> watcher.onVanished(node, zxid));
  }

  void recordLease(Session owner, LeaseId lease) {
    zxid++;
    owner.leases.add(lease);
    leases.add(lease);
  }

  void eraseLease(Session owner, LeaseId lease) {
    zxid++;
    owner.leases.remove(lease);
    leases.remove(lease);
  }

  /** The session ends, by expiry or by being closed: one transaction takes all that it owns. */
  void end(Session session) {
    if (session.alive) {
      session.alive = false;
      zxid++;
      new ArrayList<>(session.nodes).forEach(this::remove);
      leases.removeAll(session.leases);
    }
  }

  /** Removes empty directories: their counters begin again at zero. */
  void reap() {
    directories.values().removeIf(directory -> directory.nodes.isEmpty() && sim.chance(50));
  }

  Set<LockName> locks() {
    return Set.copyOf(directories.keySet());
  }

  List<LockName> lockList() {
    return List.copyOf(directories.keySet());
  }

  List<Node> ordered(LockName lock) {
    return directories.containsKey(lock)
        ? directories.get(lock).nodes.values().stream().sorted(ORDER).toList()
        : List.of();
  }

  Optional<Node> ofAcquisition(LockName lock, UUID id) {
    return ordered(lock).stream().filter(node -> node.isOf(id)).findFirst();
  }

  /** Returns the entry that a transaction created, whether it still exists or not. */
  Optional<Node> createdBy(long czxid) {
    return Optional.ofNullable(byCzxid.get(czxid));
  }

  long entryCount() {
    return directories.values().stream().mapToLong(directory -> directory.nodes.size()).sum();
  }

  int leaseCount() {
    return leases.size();
  }

  static int compare(Node a, Node b) {
    return ORDER.compare(a, b);
  }
}
