package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.coordinator.serial.BatchConsumer;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.client.Connector;
import io.lockkeeper.server.zookeeper.client.RootNodes;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreExecutor;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.client.UnusableEnsemble;
import io.lockkeeper.server.zookeeper.commit.CreateEntries;
import io.lockkeeper.server.zookeeper.commit.DeleteEntries;
import io.lockkeeper.server.zookeeper.commit.EraseLease;
import io.lockkeeper.server.zookeeper.commit.RecordLease;
import io.lockkeeper.server.zookeeper.member.MemberNode;
import io.lockkeeper.server.zookeeper.member.Members;
import io.lockkeeper.server.zookeeper.member.OrphanedSessions;
import io.lockkeeper.server.zookeeper.mirror.MirrorFeed;
import io.lockkeeper.server.zookeeper.mirror.MirrorReads;
import io.lockkeeper.server.zookeeper.record.Directories;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import io.lockkeeper.server.zookeeper.session.ClaimRemoval;
import io.lockkeeper.server.zookeeper.session.SessionConnection;
import io.lockkeeper.server.zookeeper.session.SessionConnections;
import io.lockkeeper.server.zookeeper.session.SessionContext;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The queues in ZooKeeper, over its asynchronous API alone. All state lives on a {@link
 * StoreExecutor}; ZooKeeper's callbacks only hand over to it. Events are given to their consumer
 * there, which must not block.
 */
public final class ZooKeeperLockStore implements LockStore {

  private static final long SCAN_MILLIS = 1_000;

  private final ZooKeeperSettings settings;
  private final Consumer<String> onUnusable;
  private final Pace pace;
  private final StorePaths paths;
  private final StoreStats stats = new StoreStats();
  private final StoreExecutor executor = new StoreExecutor();
  private final Connector connector;
  private final StoreShutdown ending;
  private Optional<StoreParts> parts = Optional.empty();
  // What one turn of the coordinator asks for is one task here, and so one transaction.
  private final BatchConsumer<Consumer<StoreParts>> wishes =
      new BatchConsumer<>(
          actions ->
              executor.execute(() -> parts.ifPresent(p -> actions.forEach(a -> a.accept(p)))));

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
    this(settings, onUnusable, new Pace(SCAN_MILLIS, DirectoryReaper.IDLE_TICKS));
  }

  ZooKeeperLockStore(ZooKeeperSettings settings, Consumer<String> onUnusable, Pace pace) {
    this.settings = settings;
    this.pace = pace;
    this.onUnusable = new UnusableEnsemble(onUnusable);
    paths = new StorePaths(settings);
    connector = new Connector(settings, executor);
    ending = new StoreShutdown(executor, connector);
  }

  @Override
  public void start(Consumer<StoreEvent> events, Consumer<Throwable> onFailure) {
    executor.onFailure(onFailure);
    StoreContext context =
        new StoreContext(
            settings, paths, executor, connector, new Directories(), stats, events, onUnusable);
    executor.execute(() -> assemble(context));
  }

  private void assemble(StoreContext context) {
    MirrorFeed mirror = new MirrorFeed(context);
    RootNodes rootNodes = new RootNodes(context, mirror::connection);
    MemberNode member = new MemberNode(context, rootNodes);
    ClaimRemoval claims =
        new ClaimRemoval(context, () -> mirror.connection().or(member::connection));
    SessionContext services = new SessionContext(context, rootNodes, claims, member);
    SessionConnections sessions = new SessionConnections(services, mirror::connection);
    OrphanedSessions orphans = new OrphanedSessions(context, sessions::ours, sessions::adoptions);
    Members members = new Members(context, mirror::connection, member, orphans, pace.scanMillis());
    DirectoryReaper reaper =
        new DirectoryReaper(context, mirror::whole, members::candidates, pace.reapTicks());
    parts =
        Optional.of(
            new StoreParts(
                context,
                mirror,
                new MirrorReads(context, mirror::connection),
                new RetriedChanges(context, mirror::connection),
                sessions,
                member,
                members,
                reaper));
    mirror.start(rootNodes, members::scan);
    member.start();
    members.start();
    reaper.start();
  }

  @Override
  public void openSession(SessionKey key) {
    onThread(p -> p.sessions().open(key));
  }

  @Override
  public void adoptSession(SessionKey session, String claim) {
    onThread(p -> p.sessions().adopt(session, claim, p.members()));
  }

  @Override
  public void closeSession(SessionKey key) {
    onSession(key, SessionConnection::close);
  }

  @Override
  public void proveSession(SessionKey key) {
    onSession(key, SessionConnection::proveNow);
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

  private void onSession(SessionKey key, Consumer<SessionConnection> action) {
    onParts(key, (session, unused) -> action.accept(session));
  }

  private void onParts(SessionKey key, BiConsumer<SessionConnection, StoreParts> action) {
    onThread(p -> p.sessions().find(key).ifPresent(session -> action.accept(session, p)));
  }

  @Override
  public void barrier(long barrier) {
    onThread(p -> p.reads().barrier(barrier));
  }

  @Override
  public void readDetails(LockName lock, String entry) {
    onThread(p -> p.reads().read(lock, entry));
  }

  @Override
  public void amend(long number, LockName lock, EntryName entry, EntryUpdate update) {
    onThread(p -> p.changes().amend(number, lock, entry.text(), update));
  }

  @Override
  public void setLimit(long number, LockName lock, OptionalInt limit) {
    onThread(p -> p.changes().setLimit(number, lock, limit));
  }

  @Override
  public void removeGuard(LockName lock, MarkerName.Guard guard) {
    onThread(p -> p.reads().removeGuard(lock, guard));
  }

  private void onThread(Consumer<StoreParts> action) {
    wishes.accept(action);
  }

  @Override
  public void locate(LeaseId lease, Consumer<Optional<LeaseLocation>> answer) {
    executor.execute(
        () ->
            parts.ifPresentOrElse(
                p -> p.changes().locate(lease, p.members(), answer),
                () -> answer.accept(Optional.empty())));
  }

  @Override
  public void suspect(String id) {
    onThread(p -> p.members().suspect(id));
  }

  @Override
  public void watchPeers(Consumer<List<Peer>> listener) {
    onThread(p -> p.members().watch(listener));
  }

  @Override
  public void leave() {
    onThread(
        p -> {
          p.members().leave();
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
