package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A store in memory that answers when it is told to: at once while it {@linkplain #flow flows}, and
 * otherwise one request at a time. Several may share a {@link FakeCluster}. The contract tests hold
 * it to the real one.
 */
final class FakeLockStore implements LockStore {

  private static final long TIMEOUT_NANOS = 30_000_000_000L;

  private final FakeCluster cluster;
  private final String id;
  private final Deque<Runnable> held = new ArrayDeque<>();
  private final Map<SessionKey, Owned> sessions = new HashMap<>();
  private final Map<String, Integer> suspected = new HashMap<>();
  private Consumer<StoreEvent> events = event -> {};
  private Consumer<Throwable> failure = cause -> {};
  private Consumer<List<Peer>> peerListener = peers -> {};
  private boolean flowing = true;
  private boolean left;

  /** A session as we know it: ours while its epoch is the same. */
  private record Owned(FakeSession session, int epoch) {}

  FakeLockStore() {
    this(new FakeCluster(), "fake");
  }

  FakeLockStore(FakeCluster cluster, String id) {
    this.cluster = cluster;
    this.id = id;
  }

  String id() {
    return id;
  }

  /** Answers everything at once from now on, beginning with what was held back. */
  void flow() {
    synchronized (cluster) {
      flowing = true;
      while (!held.isEmpty()) {
        held.removeFirst().run();
      }
    }
  }

  /** Holds every answer back from now on. */
  void hold() {
    synchronized (cluster) {
      flowing = false;
    }
  }

  int heldBack() {
    synchronized (cluster) {
      return held.size();
    }
  }

  /** Tells something that nobody asked for. */
  void tell(StoreEvent event) {
    synchronized (cluster) {
      events.accept(event);
    }
  }

  /** Says that the store has failed. */
  void fail(Throwable cause) {
    failure.accept(cause);
  }

  /** Adds an entry of somebody who does not ask through this store. */
  void addForeign(LockName lock, String text, EntryDetails details) {
    synchronized (cluster) {
      cluster.queues().addForeign(lock, text, details);
    }
  }

  /** Overwrites an entry's data as a whole, as Curator's Revoker does. */
  void revokeAsCuratorDoes(LockName lock, String entry) {
    synchronized (cluster) {
      cluster.queues().revoke(lock, entry);
    }
  }

  int entries(LockName lock) {
    synchronized (cluster) {
      return cluster.queues().entries(lock);
    }
  }

  /** Returns the markers of a lock. */
  Set<String> markers(LockName lock) {
    synchronized (cluster) {
      return cluster.queues().markers(lock);
    }
  }

  private void act(Runnable action) {
    synchronized (cluster) {
      if (flowing) {
        action.run();
      } else {
        held.addLast(action);
      }
    }
  }

  /** Acts on a session that is ours, or finds out that it is not any more. */
  private void onSession(SessionKey key, Consumer<FakeSession> action) {
    act(
        () -> {
          Optional<Owned> owned = Optional.ofNullable(sessions.get(key));
          if (owned.isPresent() && owned.get().epoch() == owned.get().session().epoch()) {
            action.accept(owned.get().session());
          } else if (owned.isPresent()) {
            end(key, true);
          }
        });
  }

  private void end(SessionKey key, boolean deposed) {
    sessions.remove(key);
    tell(new SessionEvent.SessionEnded(key, deposed));
  }

  @Override
  public void start(Consumer<StoreEvent> listener, Consumer<Throwable> onFailure) {
    events = listener;
    failure = onFailure;
    act(
        () -> {
          tell(new StoreEvent.RebuildStarted(Set.of()));
          tell(new StoreEvent.MirrorCurrent());
          cluster.join(this);
        });
  }

  @Override
  public void openSession(StoreEffect.OpenSession effect) {
    SessionKey key = effect.session();
    act(
        () -> {
          if (!left) {
            sessions.put(key, new Owned(cluster.open(id), 0));
            long now = System.nanoTime();
            tell(new SessionEvent.SessionOpened(key, TIMEOUT_NANOS, now, now));
          }
        });
  }

  @Override
  public void adoptSession(StoreEffect.AdoptSession effect) {
    SessionKey key = effect.session();
    act(
        () -> {
          Optional<FakeSession> found = cluster.find(effect.claim());
          if (found.isEmpty() || !isOrphan(found.get())) {
            tell(new SessionEvent.SessionEnded(key, found.isPresent()));
            return;
          }
          FakeSession session = found.get();
          session.takenBy(id);
          sessions.put(key, new Owned(session, session.epoch()));
          long taken = System.nanoTime();
          tell(
              new SessionEvent.SessionAdopted(
                  key,
                  TIMEOUT_NANOS,
                  System.nanoTime(),
                  taken,
                  taken,
                  false,
                  List.copyOf(session.leases().values()),
                  cluster.queues().entriesOf(session)));
        });
  }

  private boolean isOrphan(FakeSession session) {
    boolean ours =
        sessions.values().stream()
            .anyMatch(owned -> owned.session() == session && owned.epoch() == session.epoch());
    Integer suspectedEpoch = suspected.get(session.claim());
    return !ours
        && !left
        && (session.owner().equals(id)
            || cluster.member(session.owner()).isEmpty()
            || (suspectedEpoch != null && suspectedEpoch == session.epoch()));
  }

  /** Tells all sessions that nobody looks after. */
  void lookForOrphans() {
    cluster.sessions().stream()
        .filter(this::isOrphan)
        .forEach(session -> tell(new SessionEvent.OrphanFound(session.claim())));
  }

  @Override
  public void closeSession(StoreEffect.CloseSession effect) {
    onSession(effect.session(), session -> close(effect.session(), session));
  }

  private void close(SessionKey key, FakeSession session) {
    boolean empty = cluster.ownsNothing(session);
    if (empty) {
      cluster.remove(session);
    }
    end(key, !empty);
    lookForOrphans();
  }

  @Override
  public void proveSession(StoreEffect.ProveSession effect) {
    SessionKey key = effect.session();
    long sent = System.nanoTime();
    onSession(key, session -> tell(new SessionEvent.SessionProved(key, sent, sent)));
  }

  @Override
  public void createEntries(StoreEffect.CreateEntries effect) {
    onSession(effect.session(), session -> tell(cluster.queues().create(session, effect)));
  }

  @Override
  public void deleteEntries(StoreEffect.DeleteEntries effect) {
    onSession(
        effect.session(),
        session -> {
          cluster.queues().delete(effect.entries());
          tell(new StoreEvent.EntriesDeleted(effect.id()));
        });
  }

  @Override
  public void recordLease(StoreEffect.RecordLease effect) {
    SessionEvent.AdoptedLease record =
        new SessionEvent.AdoptedLease(
            effect.lease(), effect.ttlMillis(), effect.holder(), effect.secretHash());
    onSession(
        effect.session(),
        session -> {
          session.leases().put(effect.lease(), record);
          tell(new StoreEvent.LeaseRecorded(effect.lease()));
        });
  }

  @Override
  public void eraseLease(StoreEffect.EraseLease effect) {
    onSession(
        effect.session(),
        session -> {
          session.leases().remove(effect.lease());
          tell(new StoreEvent.LeaseErased(effect.lease()));
        });
  }

  @Override
  public void barrier(StoreEffect.Barrier effect) {
    act(() -> tell(new StoreEvent.BarrierPassed(effect.barrier())));
  }

  @Override
  public void readDetails(StoreEffect.ReadDetails effect) {
    LockName lock = effect.lock();
    String entry = effect.entry();
    act(() -> tell(new StoreEvent.DetailsRead(lock, entry, cluster.queues().read(lock, entry))));
  }

  @Override
  public void updateEntry(StoreEffect.UpdateEntry effect) {
    act(
        () ->
            tell(
                new UpdateEvent.EntryUpdateAnswered(
                    effect.number(), cluster.queues().update(effect))));
  }

  @Override
  public void setLimit(StoreEffect.SetLimit effect) {
    act(
        () -> {
          cluster.queues().setLimit(effect.lock(), effect.limit());
          tell(new UpdateEvent.LimitAnswered(effect.number(), true));
        });
  }

  @Override
  public void removeGuard(StoreEffect.RemoveGuard effect) {
    act(() -> cluster.queues().removeGuard(effect.lock(), effect.guard()));
  }

  @Override
  public int pathBytes(LockName lock, Mode mode) {
    return lock.encoded().length() + 80;
  }

  @Override
  public int leasePathBytes() {
    return 60;
  }

  @Override
  public void stop() {
    synchronized (cluster) {
      flowing = false;
      held.clear();
      cluster.leave(this);
    }
  }

  @Override
  public void locate(LeaseId lease, Consumer<Optional<LeaseLocation>> answer) {
    act(
        () ->
            answer.accept(
                Optional.of(
                    cluster
                        .sessionOf(lease)
                        .map(this::keeperOf)
                        .orElseGet(LeaseLocation.Unknown::new))));
  }

  private LeaseLocation keeperOf(FakeSession session) {
    if (session.owner().equals(id)) {
      return new LeaseLocation.Here();
    }
    return cluster
        .member(session.owner())
        .filter(peer -> !isOrphan(session))
        .<LeaseLocation>map(LeaseLocation.At::new)
        .orElseGet(LeaseLocation.Nowhere::new);
  }

  @Override
  public void suspect(String peer) {
    act(
        () -> {
          cluster.sessions().stream()
              .filter(session -> session.owner().equals(peer))
              .forEach(session -> suspected.put(session.claim(), session.epoch()));
          lookForOrphans();
        });
  }

  @Override
  public void watchPeers(Consumer<List<Peer>> listener) {
    act(
        () -> {
          peerListener = listener;
          tellPeers();
        });
  }

  /** Tells the peers as they are now. */
  void tellPeers() {
    peerListener.accept(cluster.peersOf(id));
  }

  @Override
  public void leave() {
    act(
        () -> {
          left = true;
          new ArrayList<>(sessions.keySet())
              .forEach(key -> closeSession(new StoreEffect.CloseSession(key)));
          cluster.leave(this);
        });
  }
}
