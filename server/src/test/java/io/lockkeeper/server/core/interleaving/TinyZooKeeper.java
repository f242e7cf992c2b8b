package io.lockkeeper.server.core.interleaving;

import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** One lock and its queue, sessions with their claims, and the order of everything. */
final class TinyZooKeeper extends TinyActor {

  static final LockName LOCK = new LockName("a");

  /** A session and its claim. */
  static final class Session {
    final String claim;
    final Map<LeaseId, SessionEvent.AdoptedLease> leases = new LinkedHashMap<>();
    TinyCoordinator owner;

    /** Whether all who owned it before are dead for certain. */
    boolean alone = true;

    int epoch;
    boolean ended;

    private Session(String claim, TinyCoordinator owner) {
      this.claim = claim;
      this.owner = owner;
    }

    long state() {
      int flags = (ended ? 1 : 0) + (alone ? 2 : 0);
      return mix(mix(leases.keySet().hashCode(), epoch), mix(owner.toString().hashCode(), flags));
    }
  }

  /** An entry. */
  record Node(EntryName name, UUID id, StoreEvent.ReadEntry data, Session session) {

    boolean isOf(TinyClient client) {
      return data.details().requestId().equals(client.requestId);
    }
  }

  final List<Node> queue = new ArrayList<>();
  private final Map<String, Session> sessions = new LinkedHashMap<>();
  private final TinyWorld world;
  private long zxid = 0x1_0000_0000L;
  private int sequence;

  TinyZooKeeper(TinyWorld world) {
    this.world = world;
  }

  Session open(String claim, TinyCoordinator owner) {
    Session session = new Session(claim, owner);
    sessions.put(claim, session);
    return session;
  }

  Session claimed(String claim) {
    return sessions.get(claim);
  }

  List<Session> ownedBy(TinyCoordinator owner) {
    return sessions.values().stream()
        .filter(session -> session.owner == owner && !session.ended)
        .toList();
  }

  StoreEvent create(Session session, StoreEffect.CreateEntries effect) {
    Optional<Node> there = queue.stream().filter(node -> node.id().equals(effect.id())).findFirst();
    Node node = there.orElseGet(() -> add(session, effect));
    return new StoreEvent.EntriesCreated(
        effect.id(),
        List.of(new StoreEvent.CreatedEntry(LOCK, node.name(), node.data().czxid(), 0)));
  }

  @Override
  long state() {
    long state = mix(zxid, sequence);
    for (Node node : queue) {
      state = mix(state, node.name().hashCode());
    }
    for (Session session : sessions.values()) {
      state = mix(state, session.state());
    }
    return state;
  }

  private Node add(Session session, StoreEffect.CreateEntries effect) {
    String text =
        EntryName.prefix(effect.id(), effect.entries().get(0).mode())
            + EntryName.suffix(sequence++);
    EntryName name = EntryName.parse(text).orElseThrow();
    long created = ++zxid;
    StoreEvent.ReadEntry data =
        new StoreEvent.ReadEntry(effect.details(), created, 0, Optional.empty());
    Node node = new Node(name, effect.id(), data, session);
    world.check(
        queue.stream().noneMatch(other -> other.isOf(world.client(node))),
        "one request has two entries");
    queue.add(node);
    world.mirrored(new StoreEvent.EntryAppeared(LOCK, name, created));
    return node;
  }

  StoreEvent delete(StoreEffect.DeleteEntries effect) {
    List<String> names = effect.entries().stream().map(EntryRef::entry).toList();
    queue.stream()
        .filter(node -> node.id().equals(effect.id()) || names.contains(node.name().text()))
        .toList()
        .forEach(this::remove);
    return new StoreEvent.EntriesDeleted(effect.id());
  }

  private void remove(Node node) {
    queue.remove(node);
    world.mirrored(new StoreEvent.EntryVanished(LOCK, node.name(), ++zxid));
  }

  List<SessionEvent.AdoptedEntry> entriesOf(Session session) {
    return queue.stream()
        .filter(node -> node.session() == session)
        .map(node -> new SessionEvent.AdoptedEntry(LOCK, node.name(), node.data()))
        .toList();
  }

  /** Returns the queue as a listing shows it. */
  List<StoreEvent.ListedEntry> listed() {
    return queue.stream()
        .map(
            node ->
                new StoreEvent.ListedEntry(
                    node.name(), Optional.of(node.data().czxid()), node.data().index()))
        .toList();
  }

  Optional<StoreEvent.ReadEntry> read(String entry) {
    return queue.stream()
        .filter(node -> node.name().text().equals(entry))
        .map(Node::data)
        .findFirst();
  }

  /** Returns the entries ahead of a client's. */
  List<Node> aheadOf(TinyClient client) {
    return queue.stream().takeWhile(node -> !node.isOf(client)).toList();
  }
}
