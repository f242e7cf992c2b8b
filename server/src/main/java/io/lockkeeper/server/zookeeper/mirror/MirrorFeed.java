package io.lockkeeper.server.zookeeper.mirror;

import io.lockkeeper.server.core.api.StoreEvent.MirrorCurrent;
import io.lockkeeper.server.core.api.StoreEvent.MirrorStale;
import io.lockkeeper.server.zookeeper.client.Connection;
import io.lockkeeper.server.zookeeper.client.Fence;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.HandleListener;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.ReachabilityLog;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.client.RootNodes;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.record.ParsedPath;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The mirror: one recursive watch on all queues and one on the freezes, turned into events in
 * ZooKeeper's order. Lives on the store's thread.
 *
 * <p>A recursive watch does not tell what happened while the connection was down. So every
 * connection begins with a rebuild, behind the watch that the client has put back by then.
 */
public final class MirrorFeed implements HandleListener {

  private static final Logger LOG = LoggerFactory.getLogger(MirrorFeed.class);
  private static final long RETRY_MILLIS = 500;
  private static final long LOOK_AGAIN_MILLIS = 5_000;

  // So many were 30 times as fast as one at a time, and more of them not much faster. Where all of
  // them are as long as they may be, the reply is still within its limit.
  private static final int MOST_LISTED_TOGETHER = 64;

  private final StoreContext context;
  private final ReachabilityLog reachability;
  private Optional<RootNodes> rootNodes = Optional.empty();
  private final FreezeFeed freezes;
  private Runnable membersChanged = () -> {};
  private final Connection connection;
  private Optional<MirrorRebuild> rebuild = Optional.empty();
  private boolean watching;
  private boolean stopped;
  private int together = MOST_LISTED_TOGETHER;
  private boolean stale = true;
  private long generation;

  public MirrorFeed(StoreContext context) {
    this.context = context;
    freezes = new FreezeFeed(context);
    connection =
        new Connection(
            context, Connection.Use.LISTENING, context.settings().times().sessionTimeout(), this);
    reachability = new ReachabilityLog(context, connection::away);
  }

  /**
   * Connects. {@code nodes} work over this session; {@code onMembers} is run when the members may
   * have changed, and after each barrier on a new connection.
   */
  public void start(RootNodes nodes, Runnable onMembers) {
    rootNodes = Optional.of(nodes);
    membersChanged = onMembers;
    reachability.start();
    open();
  }

  private void open() {
    watching = false;
    connection.open();
  }

  private Handle handle() {
    return connection().orElseThrow();
  }

  /** Returns the handle while it is connected. */
  public Optional<Handle> connection() {
    return connection.connected();
  }

  /** Returns the server that it is connected to, if it is. */
  public Optional<String> server() {
    return connection().map(Handle::server);
  }

  /** Returns the handle while it is connected and everything that happened has been seen. */
  public Optional<Handle> whole() {
    return stale ? Optional.empty() : connection();
  }

  /** Returns a number that changes with every connection that is lost. */
  long generation() {
    return generation;
  }

  @Override
  public void onConnected() {
    reachability.onConnected();
    long current = ++generation;
    RootNodes nodes = rootNodes.orElseThrow();
    nodes.ensure();
    nodes.whenReady(() -> watch(current));
  }

  private boolean isCurrent(long asked) {
    return asked == generation && connection().isPresent();
  }

  private void watch(long current) {
    if (!isCurrent(current)) {
      return;
    }
    if (watching) {
      passBarrier(current);
      return;
    }
    handle()
        .addWatch(
            context.paths().freezes(),
            AddWatchMode.PERSISTENT_RECURSIVE,
            (rc, path, ctx) ->
                context.executor().execute(() -> onWatch(current, rc, this::watchQueues)),
            null);
  }

  private void watchQueues(long current) {
    handle()
        .addWatch(
            context.paths().locks(),
            AddWatchMode.PERSISTENT_RECURSIVE,
            (rc, path, ctx) ->
                context.executor().execute(() -> onWatch(current, rc, this::onWatching)),
            null);
  }

  private void onWatching(long current) {
    watching = true;
    passBarrier(current);
  }

  private void onWatch(long current, int rc, LongConsumer next) {
    if (!isCurrent(current)) {
      return;
    }
    if (rc == Code.OK.intValue()) {
      next.accept(current);
    } else {
      warnRetry("cannot watch the queues", rc);
      context.executor().after(RETRY_MILLIS, () -> watch(current));
    }
  }

  /**
   * Writes through the quorum before anything is read: what is read after it on this connection is
   * no older, also from a server that lags behind.
   */
  private void passBarrier(long current) {
    if (!isCurrent(current)) {
      return;
    }
    List<Op> check = List.of(Op.check(context.paths().locks(), Fence.ANY));
    handle()
        .multi(
            check,
            (rc, path, ctx, results) ->
                context
                    .executor()
                    .execute(
                        () -> onBarrier(current, rc, MultiReply.of(rc, results, check.size()))),
            null);
  }

  private void onBarrier(long current, int rc, MultiReply reply) {
    if (!isCurrent(current)) {
      return;
    }
    if (reply instanceof MultiReply.Committed) {
      membersChanged.run();
      rebuild(current);
    } else {
      warnRetry("cannot write", rc);
      rootNodes.ifPresent(RootNodes::ensure);
      context.executor().after(RETRY_MILLIS, () -> passBarrier(current));
    }
  }

  private void rebuild(long current) {
    if (!isCurrent(current)) {
      return;
    }
    rebuild.ifPresent(MirrorRebuild::cancel);
    long startNanos = System.nanoTime();
    MirrorRebuild next =
        new MirrorRebuild(
            handle(),
            context,
            freezes,
            together,
            () -> onRebuilt(System.nanoTime() - startNanos),
            rc -> onRebuildFailed(current, rc));
    rebuild = Optional.of(next);
    next.start();
  }

  private void onRebuilt(long nanos) {
    stale = false;
    together = MOST_LISTED_TOGETHER;
    context.stats().rebuilt(nanos);
    LOG.atInfo()
        .addKeyValue("locks", context.directories().size())
        .addKeyValue("millis", TimeUnit.NANOSECONDS.toMillis(nanos))
        .log("all queues were read back");
    context.events().accept(new MirrorCurrent());
    lookAgainLater(generation);
  }

  private void lookAgainLater(long current) {
    if (context.problems().hasUnlisted()) {
      context.executor().after(LOOK_AGAIN_MILLIS, () -> lookAgain(current));
    }
  }

  /** Looks whether a queue that was closed to us is open by now: then all are read back. */
  private void lookAgain(long current) {
    if (!isCurrent(current)) {
      return;
    }
    NodeReader reader =
        new NodeReader(
                context, handle(), () -> lookAgainLater(current), rc -> lookAgainLater(current))
            .tolerant();
    for (String directory : context.problems().unlisted()) {
      reader.list(
          directory,
          false,
          names -> {
            if (names.isPresent()) {
              reader.cancel();
              goStale();
              rebuild(current);
            }
          });
    }
  }

  private void onRebuildFailed(long current, int rc) {
    if (isCurrent(current)) {
      warnRetry("cannot read the queues", rc);
      context.executor().after(RETRY_MILLIS, () -> rebuild(current));
    }
  }

  private static void warnRetry(String what, int rc) {
    LOG.atWarn().addKeyValue("error", ResultCode.name(rc)).log("{}, trying again", what);
  }

  @Override
  public void onDisconnected() {
    lose();
  }

  @Override
  public void onExpired() {
    lose();
    open();
  }

  /** Opens another handle, which shows the credentials as they are by now. */
  public void renew() {
    if (context.settings().access().isAuthenticated() && !stopped) {
      connection.renew();
    }
  }

  private void lose() {
    generation++;
    reachability.onDisconnected();
    if (stale && rebuild.isPresent()) {
      // It may have been a reply longer than we take.
      together = Math.max(1, together / 4);
    }
    rebuild.ifPresent(MirrorRebuild::cancel);
    rebuild = Optional.empty();
    goStale();
  }

  private void goStale() {
    if (!stale) {
      stale = true;
      context.stats().lag().forget();
      context.events().accept(new MirrorStale());
    }
  }

  @Override
  public void onNode(WatchedEvent event) {
    context.stats().lag().seen(event.getZxid());
    EventType type = event.getType();
    String path = event.getPath();
    if (type == EventType.NodeChildrenChanged && path.equals(context.paths().coordinators())) {
      membersChanged.run();
      return;
    }
    boolean changed = type == EventType.NodeDataChanged;
    if (type != EventType.NodeCreated && type != EventType.NodeDeleted && !changed) {
      return;
    }
    if (path.equals(context.paths().locks()) || path.equals(context.paths().freezes())) {
      // Each freeze writes its parent, too.
      rootNodes.filter(nodes -> !changed).ifPresent(RootNodes::ensure);
      return;
    }
    if (path.startsWith(context.paths().freezes() + "/")) {
      connection().ifPresent(handle -> freezes.onNode(handle, type, path));
      return;
    }
    Optional<ParsedPath> parsed = context.paths().place(path, context.directories()::lock);
    if (parsed.isPresent()) {
      onParsed(parsed.get(), type, event.getZxid());
    } else if (!changed) {
      ignore(path);
    }
  }

  private void onParsed(ParsedPath parsed, EventType type, long zxid) {
    boolean directory = parsed instanceof ParsedPath.QueueDirectory;
    if (type == EventType.NodeCreated) {
      if (directory) {
        context.directories().add(parsed.lock());
      } else {
        context.directories().entered(parsed.lock());
      }
    } else if (type == EventType.NodeDeleted) {
      if (directory) {
        context.directories().remove(parsed.lock(), zxid);
      } else {
        context.directories().left(parsed.lock());
      }
    }
    parsed.told(type, zxid).ifPresent(context.events());
  }

  private void ignore(String path) {
    context.stats().add(StoreStats.StoreCount.NODES_IGNORED, 1);
    context.problems().foreign(path, "it is no entry of a queue");
  }

  /** Ends the handle, and its session if it is connected. */
  public void stop(Runnable closed) {
    stopped = true;
    reachability.stop();
    // Closing waits for an answer, which a handle without a connection may not get for long.
    boolean closable = connection().isPresent();
    generation++;
    if (closable) {
      connection.close(closed);
    } else {
      connection.abandon();
      closed.run();
    }
  }
}
