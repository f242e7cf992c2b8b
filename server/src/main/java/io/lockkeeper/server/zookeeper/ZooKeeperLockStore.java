package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.coordinator.api.StoreHealth;
import io.lockkeeper.server.coordinator.api.StoreObserver;
import io.lockkeeper.server.coordinator.api.StoreView;
import io.lockkeeper.server.coordinator.serial.BatchConsumer;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.client.Connector;
import io.lockkeeper.server.zookeeper.client.HighestZxid;
import io.lockkeeper.server.zookeeper.client.RootNodes;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreExecutor;
import io.lockkeeper.server.zookeeper.client.StoreProblems;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.client.StoreStats.StoreCount;
import io.lockkeeper.server.zookeeper.client.UnusableEnsemble;
import io.lockkeeper.server.zookeeper.commit.EntryCreation;
import io.lockkeeper.server.zookeeper.commit.EntryDeletion;
import io.lockkeeper.server.zookeeper.commit.LeaseErasure;
import io.lockkeeper.server.zookeeper.commit.LeaseRecording;
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
  private final HighestZxid highestZxid;
  private final Pace pace;
  private final StorePaths paths;
  private final StoreStats stats;
  private final StoreProblems problems = new StoreProblems();
  private final StoreExecutor executor = new StoreExecutor();
  private final Connector connector;
  private final StoreShutdown ending;
  private Optional<StoreParts> parts = Optional.empty();
  // What one batch of the coordinator asks for is one task here, and so one transaction.
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
    this(settings, onUnusable, StoreObserver.NONE, new HighestZxid(0));
  }

  /**
   * Makes one that is measured by {@code observer}.
   *
   * @param highestZxid what the ensemble must be above
   */
  public ZooKeeperLockStore(
      ZooKeeperSettings settings,
      Consumer<String> onUnusable,
      StoreObserver observer,
      HighestZxid highestZxid) {
    this(
        settings,
        onUnusable,
        observer,
        highestZxid,
        new Pace(SCAN_MILLIS, DirectoryReaper.IDLE_TICKS));
  }

  ZooKeeperLockStore(ZooKeeperSettings settings, Consumer<String> onUnusable, Pace pace) {
    this(settings, onUnusable, StoreObserver.NONE, new HighestZxid(0), pace);
  }

  private ZooKeeperLockStore(
      ZooKeeperSettings settings,
      Consumer<String> onUnusable,
      StoreObserver observer,
      HighestZxid highestZxid,
      Pace pace) {
    this.stats = new StoreStats(observer);
    this.highestZxid = highestZxid;
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
            settings,
            paths,
            executor,
            connector,
            new Directories(),
            stats,
            events,
            onUnusable,
            problems,
            highestZxid);
    executor.execute(() -> assemble(context));
  }

  private void assemble(StoreContext context) {
    MirrorFeed mirror = new MirrorFeed(context);
    RootNodes rootNodes = new RootNodes(context, mirror::connection, mirror::renew);
    MemberNode member = new MemberNode(context, rootNodes);
    ClaimRemoval claims =
        new ClaimRemoval(context, () -> mirror.connection().or(member::connection));
    SessionContext services = new SessionContext(context, rootNodes, claims, member);
    SessionConnections sessions = new SessionConnections(services, mirror::connection);
    OrphanedSessions orphans = new OrphanedSessions(context, sessions::ours, sessions::adoptions);
    Members members = new Members(context, mirror::connection, member, orphans, pace.scanMillis());
    DirectoryReaper reaper = new DirectoryReaper(context, mirror::whole, pace.reapTicks());
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
  public void openSession(StoreEffect.OpenSession effect) {
    onThread(p -> p.sessions().open(effect.session()));
  }

  @Override
  public void adoptSession(StoreEffect.AdoptSession effect) {
    onThread(p -> p.sessions().adopt(effect.session(), effect.claim(), p.members()));
  }

  @Override
  public void closeSession(StoreEffect.CloseSession effect) {
    onSession(effect.session(), SessionConnection::close);
  }

  @Override
  public void proveSession(StoreEffect.ProveSession effect) {
    onSession(effect.session(), SessionConnection::proveNow);
  }

  @Override
  public void createEntries(StoreEffect.CreateEntries effect) {
    onParts(
        effect.session(),
        (live, p) ->
            live.commit().add(new EntryCreation(paths, p.context().directories(), effect)));
  }

  @Override
  public void deleteEntries(StoreEffect.DeleteEntries effect) {
    onSession(
        effect.session(),
        live -> live.commit().add(EntryDeletion.of(paths, effect.id(), effect.entries())));
  }

  @Override
  public void recordLease(StoreEffect.RecordLease effect) {
    onSession(effect.session(), live -> live.commit().add(new LeaseRecording(paths, effect)));
  }

  @Override
  public void eraseLease(StoreEffect.EraseLease effect) {
    onSession(effect.session(), live -> live.commit().add(new LeaseErasure(paths, effect)));
  }

  @Override
  public void recordPromises(StoreEffect.RecordPromises effect) {
    onSession(effect.session(), session -> session.promises(effect.promises()));
  }

  private void onSession(SessionKey key, Consumer<SessionConnection> action) {
    onParts(key, (session, unused) -> action.accept(session));
  }

  private void onParts(SessionKey key, BiConsumer<SessionConnection, StoreParts> action) {
    onThread(p -> p.sessions().find(key).ifPresent(session -> action.accept(session, p)));
  }

  @Override
  public void barrier(StoreEffect.Barrier effect) {
    onThread(p -> p.reads().barrier(effect.barrier()));
  }

  @Override
  public void readDetails(StoreEffect.ReadDetails effect) {
    onThread(p -> p.reads().read(effect.lock(), effect.entry()));
  }

  @Override
  public void updateEntry(StoreEffect.UpdateEntry effect) {
    onThread(p -> p.changes().update(effect));
  }

  @Override
  public void setLimit(StoreEffect.SetLimit effect) {
    onThread(p -> p.changes().setLimit(effect));
  }

  @Override
  public void removeGuard(StoreEffect.RemoveGuard effect) {
    onThread(p -> p.reads().removeGuard(effect.lock(), effect.guard()));
  }

  @Override
  public void setFreeze(StoreEffect.SetFreeze effect) {
    onThread(p -> p.changes().setFreeze(effect));
  }

  @Override
  public void removeFreeze(StoreEffect.RemoveFreeze effect) {
    onThread(p -> p.changes().removeFreeze(effect));
  }

  @Override
  public void thaw(StoreEffect.Thaw effect) {
    onThread(p -> p.changes().thaw(effect));
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
  public void describe(Consumer<Optional<StoreView>> answer) {
    executor.execute(
        () ->
            answer.accept(
                parts.flatMap(
                    p ->
                        p.members()
                            .view(p.sessions().claims())
                            .map(seen -> seen.over(servers(), p.mirror().server())))));
  }

  private List<String> servers() {
    return List.of(settings.connectString().split(","));
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
          p.sessions().leave(p.member()::leave);
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

  @Override
  public StoreHealth health() {
    return problems.health();
  }

  /**
   * Returns what the store has counted so far, by {@link StoreCount#key}. May be called on any
   * thread.
   */
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
