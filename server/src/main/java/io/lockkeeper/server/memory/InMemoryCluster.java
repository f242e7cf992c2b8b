package io.lockkeeper.server.memory;

import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What several {@link InMemoryLockStore}s have in common, as if it were in ZooKeeper: queues,
 * sessions, members. Everything is done in its monitor, and what came of it is told in the order in
 * which it was done.
 */
public final class InMemoryCluster {

  private final InMemoryQueues queues = new InMemoryQueues(this::broadcast);
  private final InMemoryFreezes freezes = new InMemoryFreezes(this::broadcast);
  private final List<InMemoryLockStore> mirrors = new ArrayList<>();
  private final Map<String, InMemoryLockStore> members = new TreeMap<>();
  private final Map<String, InMemorySession> sessions = new TreeMap<>();
  private final Deque<Runnable> tellings = new ArrayDeque<>();
  private boolean telling;
  private long sessionIds = 0x100;

  private void broadcast(StoreEvent event) {
    mirrors.forEach(mirror -> mirror.see(event));
  }

  /** Does something, and then tells what came of it; whoever hears that may do more. */
  synchronized void act(Runnable action) {
    action.run();
    if (!telling) {
      telling = true;
      try {
        for (Runnable next = tellings.poll(); next != null; next = tellings.poll()) {
          next.run();
        }
      } finally {
        telling = false;
      }
    }
  }

  /** Has something told when everything before it has been. For what is done in {@link #act}. */
  void tellLater(Runnable telling) {
    tellings.add(telling);
  }

  InMemoryQueues queues() {
    return queues;
  }

  InMemoryFreezes freezes() {
    return freezes;
  }

  /** Returns all that there is, as whoever begins to mirror it is told. */
  List<StoreEvent> listing() {
    List<StoreEvent> told = new ArrayList<>(freezes.listing());
    told.addAll(queues.listing());
    return told;
  }

  /** Returns the members. */
  List<Peer> all() {
    return members.values().stream().map(InMemoryLockStore::self).toList();
  }

  void join(InMemoryLockStore store) {
    mirrors.add(store);
    members.put(store.self().id(), store);
    tellPeers();
  }

  /** The store sees nothing any more; what its coordinator still has is an orphan. */
  void part(InMemoryLockStore store) {
    mirrors.remove(store);
    leave(store);
  }

  /** The member node goes: whatever the coordinator still has is an orphan. */
  void leave(InMemoryLockStore store) {
    if (members.remove(store.self().id(), store)) {
      tellPeers();
      members.values().forEach(InMemoryLockStore::lookForOrphans);
    }
  }

  private void tellPeers() {
    members.values().forEach(InMemoryLockStore::tellPeers);
  }

  List<Peer> peersOf(String id) {
    return members.values().stream()
        .map(InMemoryLockStore::self)
        .filter(member -> !member.id().equals(id))
        .toList();
  }

  Optional<Peer> member(String id) {
    return Optional.ofNullable(members.get(id)).map(InMemoryLockStore::self);
  }

  InMemorySession open(String owner) {
    String claim = String.format("%016x", ++sessionIds);
    InMemorySession session = new InMemorySession(claim, owner);
    sessions.put(claim, session);
    return session;
  }

  void remove(InMemorySession session) {
    sessions.remove(session.claim());
  }

  Optional<InMemorySession> find(String claim) {
    return Optional.ofNullable(sessions.get(claim));
  }

  List<InMemorySession> sessions() {
    return List.copyOf(sessions.values());
  }

  Optional<InMemorySession> sessionOf(LeaseId lease) {
    return sessions.values().stream()
        .filter(session -> session.leases().containsKey(lease))
        .findFirst();
  }

  /** Returns the leases that have a record, in the order in which they were recorded. */
  public synchronized List<LeaseId> leases() {
    return sessions.values().stream()
        .flatMap(session -> session.leases().keySet().stream())
        .toList();
  }

  /** Runs {@code action} when the first in the lock's queue has gone, once; it must not block. */
  public void whenFree(LockName lock, Runnable action) {
    act(() -> queues.whenFree(lock, action));
  }

  /** Deletes an entry of a queue, as an administrator may do in ZooKeeper. */
  public void remove(LockName lock, String entry) {
    act(() -> queues.remove(lock, entry));
  }

  /** Ends all sessions, as ZooKeeper does with those of which it has not heard for long. */
  public void expireSessions() {
    act(() -> sessions().forEach(this::expire));
  }

  private void expire(InMemorySession session) {
    remove(session);
    // Whoever had it hears why before it sees its entries go.
    members.values().forEach(member -> member.onExpired(session));
    for (AdoptedEntry entry : queues.entriesOf(session)) {
      queues.remove(entry.lock(), entry.name().text());
    }
  }

  boolean ownsNothing(InMemorySession session) {
    return session.leases().isEmpty() && !queues.owns(session);
  }
}
