package io.lockkeeper.server.memory;

import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.coordinator.api.StoreView;
import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.Promises;
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
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A store in memory that answers at once, or when it is told to. Several may share an {@link
 * InMemoryCluster}. The contract tests hold it to the real one. Its sessions live until they are
 * closed or {@linkplain InMemoryCluster#expireSessions expire}.
 */
public final class InMemoryLockStore implements LockStore {

  private static final long TIMEOUT_NANOS = 30_000_000_000L;

  private final InMemoryCluster cluster;
  private final Peer self;
  private final LongSupplier clock;
  private final Deque<Runnable> held = new ArrayDeque<>();
  private final Map<SessionKey, ClaimedSession> sessions = new HashMap<>();
  private final Map<String, Integer> suspected = new HashMap<>();
  private Consumer<StoreEvent> events = event -> {};
  private Consumer<Throwable> failure = cause -> {};
  private Consumer<List<Peer>> peerListener = peers -> {};
  private boolean flowing = true;
  private boolean cutOff;
  private boolean left;

  /** A session as we know it: ours while its epoch is the same. */
  private record ClaimedSession(InMemorySession session, int epoch) {}

  /** Makes a store that is alone, on the system's clock. */
  public InMemoryLockStore() {
    this(new InMemoryCluster(), new Peer("alone", "alone.test:7420"), System::nanoTime);
  }

  /**
   * Makes one of several.
   *
   * @param self the coordinator that will use it, as its peers see it
   * @param clock the coordinator's monotonic clock
   */
  public InMemoryLockStore(InMemoryCluster cluster, Peer self, LongSupplier clock) {
    this.cluster = cluster;
    this.self = self;
    this.clock = clock;
  }

  /** Returns the coordinator that uses it. */
  Peer self() {
    return self;
  }

  /** Answers everything at once from now on, beginning with what was held back. */
  public void flow() {
    cluster.act(
        () -> {
          flowing = true;
          while (!held.isEmpty()) {
            held.removeFirst().run();
          }
        });
  }

  /** Holds every answer back from now on. */
  public void hold() {
    cluster.act(() -> flowing = false);
  }

  /** Returns how many requests wait for their answer. */
  public int heldBack() {
    synchronized (cluster) {
      return held.size();
    }
  }

  /** Tells something that nobody asked for. */
  public void tell(StoreEvent event) {
    cluster.act(() -> say(event));
  }

  private void say(StoreEvent event) {
    cluster.tellLater(() -> events.accept(event));
  }

  /** Says that the store has failed. */
  public void fail(Throwable cause) {
    failure.accept(cause);
  }

  /** Adds an entry of somebody who does not ask through this store. */
  public void addForeign(LockName lock, String text, EntryDetails details) {
    cluster.act(() -> cluster.queues().addForeign(lock, text, details));
  }

  /** Overwrites an entry's data as a whole, as Curator's Revoker does. */
  public void revokeAsCuratorDoes(LockName lock, String entry) {
    cluster.act(() -> cluster.queues().revoke(lock, entry));
  }

  /** Returns how many entries a lock has. */
  public int entries(LockName lock) {
    synchronized (cluster) {
      return cluster.queues().entries(lock);
    }
  }

  /**
   * Loses contact: sessions are told suspended, answers wait, and what others do is not seen, until
   * {@link #regainContact}.
   */
  public void loseContact() {
    cluster.act(
        () -> {
          if (!cutOff) {
            cutOff = true;
            flowing = false;
            say(new StoreEvent.MirrorStale());
            sessions.keySet().forEach(key -> say(new SessionEvent.SessionSuspended(key)));
          }
        });
  }

  /** Has contact again: sees all that there is, proves its sessions, and answers. */
  public void regainContact() {
    cluster.act(
        () -> {
          if (cutOff) {
            cutOff = false;
            cluster.listing().forEach(this::say);
            flow();
            List.copyOf(sessions.keySet())
                .forEach(key -> proveSession(new StoreEffect.ProveSession(key)));
          }
        });
  }

  /** Sees what somebody did. */
  void see(StoreEvent event) {
    if (!cutOff) {
      say(event);
    }
  }

  /** A session has expired: whoever has it is told. */
  void onExpired(InMemorySession session) {
    List.copyOf(sessions.entrySet()).stream()
        .filter(owned -> owned.getValue().session() == session)
        .forEach(owned -> end(owned.getKey(), false));
  }

  private void act(Runnable action) {
    cluster.act(
        () -> {
          if (flowing) {
            action.run();
          } else {
            held.addLast(action);
          }
        });
  }

  /** Acts on a session that is ours, or finds out that it is not any more. */
  private void onSession(SessionKey key, Consumer<InMemorySession> action) {
    act(
        () -> {
          Optional<ClaimedSession> owned = Optional.ofNullable(sessions.get(key));
          if (owned.isPresent() && owned.get().epoch() == owned.get().session().epoch()) {
            action.accept(owned.get().session());
          } else if (owned.isPresent()) {
            end(key, true);
          }
        });
  }

  private void end(SessionKey key, boolean deposed) {
    sessions.remove(key);
    say(new SessionEvent.SessionEnded(key, deposed));
  }

  @Override
  public void start(Consumer<StoreEvent> listener, Consumer<Throwable> onFailure) {
    events = listener;
    failure = onFailure;
    act(
        () -> {
          cluster.listing().forEach(this::say);
          cluster.join(this);
          lookForOrphans();
        });
  }

  @Override
  public void openSession(StoreEffect.OpenSession effect) {
    SessionKey key = effect.session();
    act(
        () -> {
          if (!left) {
            sessions.put(key, new ClaimedSession(cluster.open(self.id()), 0));
            long now = clock.getAsLong();
            say(new SessionEvent.SessionOpened(key, TIMEOUT_NANOS, now, now));
          }
        });
  }

  @Override
  public void adoptSession(StoreEffect.AdoptSession effect) {
    SessionKey key = effect.session();
    act(
        () -> {
          Optional<InMemorySession> found = cluster.find(effect.claim());
          if (found.isEmpty() || !isOrphan(found.get())) {
            say(new SessionEvent.SessionEnded(key, found.isPresent()));
            return;
          }
          InMemorySession session = found.get();
          Optional<Promises> promises = session.promises();
          session.takenBy(self.id());
          sessions.put(key, new ClaimedSession(session, session.epoch()));
          long taken = clock.getAsLong();
          say(
              new SessionEvent.SessionAdopted(
                  key,
                  session.epoch() + 1L,
                  TIMEOUT_NANOS,
                  clock.getAsLong(),
                  taken,
                  taken,
                  false,
                  promises,
                  List.copyOf(session.leases().values()),
                  cluster.queues().entriesOf(session)));
        });
  }

  private boolean isOrphan(InMemorySession session) {
    boolean ours =
        sessions.values().stream()
            .anyMatch(owned -> owned.session() == session && owned.epoch() == session.epoch());
    Integer suspectedEpoch = suspected.get(session.claim());
    return !ours
        && !left
        && (session.owner().equals(self.id())
            || cluster.member(session.owner()).isEmpty()
            || (suspectedEpoch != null && suspectedEpoch == session.epoch()));
  }

  /** Tells all sessions that nobody looks after. */
  void lookForOrphans() {
    cluster.sessions().stream()
        .filter(this::isOrphan)
        .forEach(session -> say(new SessionEvent.OrphanFound(session.claim())));
  }

  @Override
  public void closeSession(StoreEffect.CloseSession effect) {
    onSession(effect.session(), session -> close(effect.session(), session));
  }

  private void close(SessionKey key, InMemorySession session) {
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
    long sent = clock.getAsLong();
    onSession(key, session -> say(new SessionEvent.SessionProved(key, sent, sent)));
  }

  @Override
  public void createEntries(StoreEffect.CreateEntries effect) {
    onSession(effect.session(), session -> say(cluster.queues().create(session, effect)));
  }

  @Override
  public void deleteEntries(StoreEffect.DeleteEntries effect) {
    onSession(
        effect.session(),
        session -> {
          cluster.queues().delete(effect.entries());
          say(new StoreEvent.EntriesDeleted(effect.id()));
        });
  }

  @Override
  public void recordLease(StoreEffect.RecordLease effect) {
    SessionEvent.AdoptedLease record =
        new SessionEvent.AdoptedLease(
            effect.lease(),
            effect.ttlMillis(),
            effect.holder(),
            effect.secretHash(),
            effect.identity());
    onSession(
        effect.session(),
        session -> {
          if (cluster.sessionOf(effect.lease()).isPresent()) {
            say(
                new StoreEvent.LeaseRefused(
                    effect.session(), effect.lease(), "another session has it", true));
            return;
          }
          session.leases().put(effect.lease(), record);
          say(new StoreEvent.LeaseRecorded(effect.session(), effect.lease()));
        });
  }

  @Override
  public void eraseLease(StoreEffect.EraseLease effect) {
    onSession(
        effect.session(),
        session -> {
          session.leases().remove(effect.lease());
          say(new StoreEvent.LeaseErased(effect.session(), effect.lease()));
        });
  }

  @Override
  public void recordPromises(StoreEffect.RecordPromises effect) {
    onSession(effect.session(), session -> session.promises(effect.promises()));
  }

  @Override
  public void barrier(StoreEffect.Barrier effect) {
    act(() -> say(new StoreEvent.BarrierPassed(effect.barrier())));
  }

  @Override
  public void readDetails(StoreEffect.ReadDetails effect) {
    LockName lock = effect.lock();
    String entry = effect.entry();
    act(() -> say(new StoreEvent.DetailsRead(lock, entry, cluster.queues().read(lock, entry))));
  }

  @Override
  public void updateEntry(StoreEffect.UpdateEntry effect) {
    act(
        () ->
            say(
                new UpdateEvent.EntryUpdateAnswered(
                    effect.number(), cluster.queues().update(effect))));
  }

  @Override
  public void setLimit(StoreEffect.SetLimit effect) {
    act(
        () -> {
          cluster.queues().setLimit(effect);
          say(new UpdateEvent.LimitAnswered(effect.number(), true));
        });
  }

  @Override
  public void removeGuard(StoreEffect.RemoveGuard effect) {
    act(() -> cluster.queues().removeGuard(effect.lock(), effect.guard()));
  }

  @Override
  public void setFreeze(StoreEffect.SetFreeze effect) {
    act(
        () -> {
          cluster.freezes().set(effect.freeze());
          say(new FreezeEvent.Answered(effect.number(), FreezeEvent.Outcome.DONE));
        });
  }

  @Override
  public void removeFreeze(StoreEffect.RemoveFreeze effect) {
    act(
        () -> {
          FreezeEvent.Outcome outcome = cluster.freezes().remove(effect.prefix());
          say(new FreezeEvent.Answered(effect.number(), outcome));
        });
  }

  @Override
  public void thaw(StoreEffect.Thaw effect) {
    act(() -> cluster.freezes().thaw(effect.prefix(), effect.zxid()));
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
    cluster.act(
        () -> {
          flowing = false;
          held.clear();
          cluster.part(this);
        });
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

  private LeaseLocation keeperOf(InMemorySession session) {
    if (session.owner().equals(self.id())) {
      return new LeaseLocation.Here();
    }
    return cluster
        .member(session.owner())
        .filter(peer -> !isOrphan(session))
        .<LeaseLocation>map(LeaseLocation.At::new)
        .orElseGet(LeaseLocation.Nowhere::new);
  }

  @Override
  public void describe(Consumer<Optional<StoreView>> answer) {
    act(
        () ->
            answer.accept(
                Optional.of(
                    new StoreView(
                        cluster.all().stream().map(peer -> new StoreView.Member(peer, 0)).toList(),
                        cluster.sessions().stream().map(this::view).toList(),
                        List.of("memory"),
                        cutOff ? Optional.empty() : Optional.of("memory")))));
  }

  private StoreView.Session view(InMemorySession session) {
    Optional<SessionKey> own =
        sessions.entrySet().stream()
            .filter(owned -> owned.getValue().session() == session)
            .map(Map.Entry::getKey)
            .findFirst();
    return new StoreView.Session(
        session.claim(), session.owner(), session.epoch(), isOrphan(session), own);
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
    List<Peer> peers = cluster.peersOf(self.id());
    cluster.tellLater(() -> peerListener.accept(peers));
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
