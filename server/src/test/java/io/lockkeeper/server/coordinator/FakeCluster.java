package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What several {@link FakeLockStore}s have in common, as if it were in ZooKeeper: queues, sessions,
 * members. All of them hold its monitor while they act.
 */
final class FakeCluster {

  private final FakeLockStoreQueues queues = new FakeLockStoreQueues(this::broadcast);
  private final List<FakeLockStore> mirrors = new ArrayList<>();
  private final Map<String, FakeLockStore> members = new TreeMap<>();
  private final Map<String, FakeSession> sessions = new TreeMap<>();
  private long sessionIds = 0x100;

  private void broadcast(StoreEvent event) {
    mirrors.forEach(mirror -> mirror.tell(event));
  }

  FakeLockStoreQueues queues() {
    return queues;
  }

  void join(FakeLockStore store) {
    mirrors.add(store);
    members.put(store.id(), store);
    tellPeers();
  }

  /** The member node goes: whatever the coordinator still has is an orphan. */
  void leave(FakeLockStore store) {
    if (members.remove(store.id(), store)) {
      tellPeers();
      members.values().forEach(FakeLockStore::lookForOrphans);
    }
  }

  private void tellPeers() {
    members.values().forEach(FakeLockStore::tellPeers);
  }

  List<Peer> peersOf(String id) {
    return members.keySet().stream()
        .filter(other -> !other.equals(id))
        .map(other -> new Peer(other, address(other)))
        .toList();
  }

  private static String address(String id) {
    return id + ".test:7420";
  }

  Optional<Peer> member(String id) {
    return members.containsKey(id) ? Optional.of(new Peer(id, address(id))) : Optional.empty();
  }

  FakeSession open(String owner) {
    String claim = String.format("%016x", ++sessionIds);
    FakeSession session = new FakeSession(claim, owner);
    sessions.put(claim, session);
    return session;
  }

  void remove(FakeSession session) {
    sessions.remove(session.claim());
  }

  Optional<FakeSession> find(String claim) {
    return Optional.ofNullable(sessions.get(claim));
  }

  List<FakeSession> sessions() {
    return List.copyOf(sessions.values());
  }

  Optional<FakeSession> sessionOf(LeaseId lease) {
    return sessions.values().stream()
        .filter(session -> session.leases().containsKey(lease))
        .findFirst();
  }

  boolean ownsNothing(FakeSession session) {
    return session.leases().isEmpty() && !queues.owns(session);
  }
}
