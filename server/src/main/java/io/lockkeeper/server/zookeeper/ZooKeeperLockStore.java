package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.LockStore;
import io.lockkeeper.server.core.Amendment;
import io.lockkeeper.server.core.EntryDetails;
import io.lockkeeper.server.core.EntryName;
import io.lockkeeper.server.core.EntryRef;
import io.lockkeeper.server.core.LeaseId;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.MarkerName;
import io.lockkeeper.server.core.Mode;
import io.lockkeeper.server.core.PlannedEntry;
import io.lockkeeper.server.core.SessionKey;
import io.lockkeeper.server.core.StoreEvent;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queues in ZooKeeper, over its asynchronous API alone. One thread holds all state; ZooKeeper's
 * callbacks only hand over to it. Events are given to their consumer on that thread, which must not
 * block.
 */
public final class ZooKeeperLockStore implements LockStore {

  private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperLockStore.class);
  private static final long STOP_MILLIS = 3_000;
  private static final long SWEEP_MILLIS = 10_000;

  private final ZooKeeperSettings settings;
  private final Consumer<String> onUnusable;
  private final long sweepMillis;
  private final StorePaths paths;
  private final StoreStats stats = new StoreStats();
  private final StoreThread thread = new StoreThread();
  private final Connector connector;
  private final Map<SessionKey, StoreSession> sessions = new HashMap<>();
  private final AtomicBoolean stopped = new AtomicBoolean();
  private Optional<Parts> parts = Optional.empty();

  private record Parts(
      StoreContext context,
      MirrorFeed mirror,
      MirrorQuestions questions,
      Errands errands,
      Layout layout,
      ClaimRemoval claims,
      MemberNode member,
      ClaimSweep sweep) {}

  /**
   * Makes a store that does not connect yet.
   *
   * @param settings where ZooKeeper is and what to expect of it
   * @param onUnusable told once, on a thread of the store, why this ensemble cannot be used at all;
   *     the process should end
   */
  public ZooKeeperLockStore(ZooKeeperSettings settings, Consumer<String> onUnusable) {
    this(settings, onUnusable, SWEEP_MILLIS);
  }

  ZooKeeperLockStore(ZooKeeperSettings settings, Consumer<String> onUnusable, long sweepMillis) {
    this.settings = settings;
    this.sweepMillis = sweepMillis;
    AtomicBoolean told = new AtomicBoolean();
    this.onUnusable =
        problem -> {
          LOG.atError().addKeyValue("problem", problem).log("this ZooKeeper cannot be used");
          if (told.compareAndSet(false, true)) {
            onUnusable.accept(problem);
          }
        };
    paths = new StorePaths(settings);
    connector = new Connector(settings, thread);
  }

  @Override
  public void start(Consumer<StoreEvent> events) {
    StoreContext context =
        new StoreContext(
            settings, paths, thread, connector, new Directories(), stats, events, onUnusable);
    thread.execute(() -> assemble(context));
  }

  private void assemble(StoreContext context) {
    MirrorFeed mirror = new MirrorFeed(context);
    Layout layout = new Layout(context, mirror::connection);
    ClaimRemoval claims = new ClaimRemoval(context, mirror::connection);
    MemberNode member = new MemberNode(context, layout);
    ClaimSweep sweep = new ClaimSweep(context, mirror, this::ownClaims, sweepMillis);
    parts =
        Optional.of(
            new Parts(
                context,
                mirror,
                new MirrorQuestions(context, mirror::connection),
                new Errands(context, mirror::connection),
                layout,
                claims,
                member,
                sweep));
    mirror.start(layout);
    member.start();
    sweep.start();
  }

  private Set<String> ownClaims() {
    Set<String> names = new HashSet<>();
    sessions.values().forEach(session -> session.claimName().ifPresent(names::add));
    return names;
  }

  @Override
  public void openSession(SessionKey key) {
    thread.execute(
        () ->
            parts.ifPresent(
                p -> {
                  sessions.values().removeIf(StoreSession::hasEnded);
                  sessions.computeIfAbsent(
                      key, k -> new StoreSession(k, p.context(), p.layout(), p.claims()));
                }));
  }

  @Override
  public void closeSession(SessionKey key) {
    onSession(key, StoreSession::close);
  }

  @Override
  public void proveSession(SessionKey key) {
    onSession(key, StoreSession::proveNow);
  }

  @Override
  public void createEntries(
      SessionKey session,
      UUID id,
      List<PlannedEntry> entries,
      EntryDetails details,
      int lockDelayMillis) {
    onParts(
        session,
        (live, p) -> {
          Directories known = p.context().directories();
          live.commit().add(new CreateEntries(paths, known, id, entries, details, lockDelayMillis));
        });
  }

  @Override
  public void deleteEntries(SessionKey session, UUID id, List<EntryRef> entries) {
    onSession(session, live -> live.commit().add(DeleteEntries.of(paths, id, entries)));
  }

  @Override
  public void recordLease(
      SessionKey session, LeaseId lease, long ttlMillis, String holder, String secretHash) {
    onSession(
        session,
        live -> live.commit().add(new RecordLease(paths, lease, ttlMillis, holder, secretHash)));
  }

  @Override
  public void eraseLease(SessionKey session, LeaseId lease) {
    onSession(session, live -> live.commit().add(new EraseLease(paths, lease)));
  }

  private void onSession(SessionKey key, Consumer<StoreSession> action) {
    onParts(key, (session, unused) -> action.accept(session));
  }

  private void onParts(SessionKey key, java.util.function.BiConsumer<StoreSession, Parts> action) {
    thread.execute(
        () -> {
          StoreSession session = sessions.get(key);
          // One that has ended has answered everything by that.
          if (session != null && !session.hasEnded()) {
            parts.ifPresent(p -> action.accept(session, p));
          }
        });
  }

  @Override
  public void barrier(long barrier) {
    onMirror(p -> p.questions().barrier(barrier));
  }

  @Override
  public void readDetails(LockName lock, String entry) {
    onMirror(p -> p.questions().read(lock, entry));
  }

  @Override
  public void amend(long number, LockName lock, EntryName entry, Amendment amendment) {
    onMirror(p -> p.errands().amend(number, lock, entry.text(), amendment));
  }

  @Override
  public void setLimit(long number, LockName lock, OptionalInt limit) {
    onMirror(p -> p.errands().setLimit(number, lock, limit));
  }

  @Override
  public void removeGuard(LockName lock, MarkerName.Guard guard) {
    onMirror(p -> p.questions().removeGuard(lock, guard));
  }

  private void onMirror(Consumer<Parts> action) {
    thread.execute(() -> parts.ifPresent(action));
  }

  @Override
  public int pathBytes(LockName lock, Mode mode) {
    return paths.pathBytes(lock, mode);
  }

  @Override
  public int leasePathBytes() {
    return paths.leasePathBytes();
  }

  /** Returns what the store has counted so far, by name. May be called on any thread. */
  public Map<String, Long> stats() {
    return stats.snapshot();
  }

  @Override
  public void stop() {
    if (!stopped.compareAndSet(false, true)) {
      return;
    }
    try {
      CountDownLatch sessionsDown = new CountDownLatch(1);
      thread.execute(() -> stopSessions(sessionsDown));
      await(sessionsDown);
      CountDownLatch allDown = new CountDownLatch(1);
      thread.execute(() -> stopParts(allDown));
      await(allDown);
      connector.stop(STOP_MILLIS);
      thread.stop(STOP_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    if (!latch.await(STOP_MILLIS, TimeUnit.MILLISECONDS)) {
      LOG.atWarn().log("ZooKeeper sessions take too long to close, going on without them");
    }
  }

  private void stopSessions(CountDownLatch down) {
    Countdown all = new Countdown(sessions.size(), down::countDown);
    sessions.values().forEach(session -> session.shutDown(all::one));
    sessions.clear();
  }

  private void stopParts(CountDownLatch down) {
    if (parts.isEmpty()) {
      down.countDown();
      return;
    }
    Parts running = parts.get();
    parts = Optional.empty();
    running.sweep().stop();
    Countdown both = new Countdown(2, down::countDown);
    running.member().stop(both::one);
    running.mirror().stop(both::one);
  }

  @Override
  public void adoptSession(SessionKey session, String claim) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void locate(
      LeaseId lease,
      java.util.function.Consumer<java.util.Optional<io.lockkeeper.server.coordinator.Whereabouts>>
          answer) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void suspect(String id) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void watchPeers(
      java.util.function.Consumer<java.util.List<io.lockkeeper.server.coordinator.Peer>> listener) {
    listener.accept(java.util.List.of());
  }

  @Override
  public void leave() {
    throw new UnsupportedOperationException();
  }
}
