package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.Gathering;
import io.lockkeeper.server.coordinator.LockStore;
import io.lockkeeper.server.coordinator.Peer;
import io.lockkeeper.server.coordinator.Whereabouts;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The queues in ZooKeeper, over its asynchronous API alone. All state lives on a {@link
 * StoreThread}; ZooKeeper's callbacks only hand over to it. Events are given to their consumer
 * there, which must not block.
 */
public final class ZooKeeperLockStore implements LockStore {

  private static final long SCAN_MILLIS = 1_000;

  private final ZooKeeperSettings settings;
  private final Consumer<String> onUnusable;
  private final Pace pace;
  private final StorePaths paths;
  private final StoreStats stats = new StoreStats();
  private final StoreThread thread = new StoreThread();
  private final Connector connector;
  private final StoreEnding ending;
  private Optional<StoreParts> parts = Optional.empty();
  // What one turn of the coordinator asks for is one task here, and so one transaction.
  private final Gathering<Consumer<StoreParts>> wishes =
      new Gathering<>(
          actions -> thread.execute(() -> parts.ifPresent(p -> actions.forEach(a -> a.accept(p)))));

  /** How often peers are looked for, and how long directories must be empty, in ticks. */
  record Pace(long scanMillis, long reapTicks) {}

  /**
   * Makes a store that does not connect yet.
   *
   * @param settings where ZooKeeper is and what to expect of it
   * @param onUnusable told once, on a thread of the store, why this ensemble cannot be used at all;
   *     the process should end
   */
  public ZooKeeperLockStore(ZooKeeperSettings settings, Consumer<String> onUnusable) {
    this(settings, onUnusable, new Pace(SCAN_MILLIS, Reaper.IDLE_TICKS));
  }

  ZooKeeperLockStore(ZooKeeperSettings settings, Consumer<String> onUnusable, Pace pace) {
    this.settings = settings;
    this.pace = pace;
    this.onUnusable = new UnusableOnce(onUnusable);
    paths = new StorePaths(settings);
    connector = new Connector(settings, thread);
    ending = new StoreEnding(thread, connector);
  }

  @Override
  public void start(Consumer<StoreEvent> events, Consumer<Throwable> onFailure) {
    thread.onFailure(onFailure);
    StoreContext context =
        new StoreContext(
            settings, paths, thread, connector, new Directories(), stats, events, onUnusable);
    thread.execute(() -> assemble(context));
  }

  private void assemble(StoreContext context) {
    MirrorFeed mirror = new MirrorFeed(context);
    Layout layout = new Layout(context, mirror::connection);
    MemberNode member = new MemberNode(context, layout);
    ClaimRemoval claims =
        new ClaimRemoval(context, () -> mirror.connection().or(member::connection));
    SessionServices services = new SessionServices(context, layout, claims, member);
    LockSessions sessions = new LockSessions(services, mirror::connection);
    Orphans orphans = new Orphans(context, sessions::ours, sessions::adoptions);
    Peers peers = new Peers(context, mirror::connection, member, orphans, pace.scanMillis());
    Reaper reaper = new Reaper(context, mirror::whole, peers::candidates, pace.reapTicks());
    parts =
        Optional.of(
            new StoreParts(
                context,
                mirror,
                new MirrorQuestions(context, mirror::connection),
                new Errands(context, mirror::connection),
                sessions,
                member,
                peers,
                reaper));
    mirror.start(layout, peers::scan);
    member.start();
    peers.start();
    reaper.start();
  }

  @Override
  public void openSession(SessionKey key) {
    onThread(p -> p.sessions().open(key));
  }

  @Override
  public void adoptSession(SessionKey session, String claim) {
    onThread(p -> p.sessions().adopt(session, claim, p.peers()));
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

  private void onParts(SessionKey key, BiConsumer<StoreSession, StoreParts> action) {
    onThread(p -> p.sessions().find(key).ifPresent(session -> action.accept(session, p)));
  }

  @Override
  public void barrier(long barrier) {
    onThread(p -> p.questions().barrier(barrier));
  }

  @Override
  public void readDetails(LockName lock, String entry) {
    onThread(p -> p.questions().read(lock, entry));
  }

  @Override
  public void amend(long number, LockName lock, EntryName entry, Amendment amendment) {
    onThread(p -> p.errands().amend(number, lock, entry.text(), amendment));
  }

  @Override
  public void setLimit(long number, LockName lock, OptionalInt limit) {
    onThread(p -> p.errands().setLimit(number, lock, limit));
  }

  @Override
  public void removeGuard(LockName lock, MarkerName.Guard guard) {
    onThread(p -> p.questions().removeGuard(lock, guard));
  }

  private void onThread(Consumer<StoreParts> action) {
    wishes.accept(action);
  }

  @Override
  public void locate(LeaseId lease, Consumer<Optional<Whereabouts>> answer) {
    thread.execute(
        () ->
            parts.ifPresentOrElse(
                p -> p.errands().locate(lease, p.peers(), answer),
                () -> answer.accept(Optional.empty())));
  }

  @Override
  public void suspect(String id) {
    onThread(p -> p.peers().suspect(id));
  }

  @Override
  public void watchPeers(Consumer<List<Peer>> listener) {
    onThread(p -> p.peers().watch(listener));
  }

  @Override
  public void leave() {
    onThread(
        p -> {
          p.peers().leave();
          p.sessions().leave();
          p.member().leave();
        });
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
    ending.stop(() -> parts, () -> parts = Optional.empty());
  }

  /**
   * Ends all handles and threads at once, because the state is in doubt, here or in what uses this
   * store: looks at no state, and closes no session, not even one that is believed to own nothing.
   */
  public void abandon() {
    ending.abandon();
  }
}
