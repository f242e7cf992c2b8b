package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.StoreEvent.BarrierFailed;
import io.lockkeeper.server.core.StoreEvent.BarrierPassed;
import io.lockkeeper.server.core.StoreEvent.DetailsRead;
import io.lockkeeper.server.core.StoreEvent.EntryAppeared;
import io.lockkeeper.server.core.StoreEvent.EntryVanished;
import io.lockkeeper.server.core.StoreEvent.MirrorCurrent;
import io.lockkeeper.server.core.StoreEvent.MirrorStale;
import io.lockkeeper.server.zookeeper.StorePaths.Place;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The mirror session: one recursive watch on all queues, turned into events in ZooKeeper's order.
 * Lives on the store's thread.
 *
 * <p>A recursive watch does not tell what happened while the connection was down. So every
 * connection begins with a rebuild, behind the watch that the client has put back by then.
 */
final class MirrorFeed implements HandleListener {

  private static final Logger LOG = LoggerFactory.getLogger(MirrorFeed.class);
  private static final long RETRY_MILLIS = 500;
  private static final int MAX_WARNED = 1_000;

  private final StoreContext context;
  private final Set<String> warned = new HashSet<>();
  private final Reachability reachability;
  private Optional<Layout> layout = Optional.empty();
  private Optional<Handle> handle = Optional.empty();
  private Optional<MirrorRebuild> rebuild = Optional.empty();
  private boolean connected;
  private boolean watching;
  private boolean stale = true;
  private long generation;

  MirrorFeed(StoreContext context) {
    this.context = context;
    reachability = new Reachability(context);
  }

  /** Connects. {@code nodes} work over this session. */
  void start(Layout nodes) {
    layout = Optional.of(nodes);
    reachability.start();
    open();
  }

  private void open() {
    watching = false;
    handle = Optional.of(context.connector().open(context.settings().sessionTimeout(), this));
  }

  /** Returns the handle while it is connected. */
  Optional<Handle> connection() {
    return connected ? handle : Optional.empty();
  }

  /** Returns a number that changes with every connection that is lost. */
  long generation() {
    return generation;
  }

  @Override
  public void onConnected() {
    connected = true;
    reachability.onConnected();
    long current = ++generation;
    Layout nodes = layout.orElseThrow();
    nodes.ensure();
    nodes.whenReady(() -> watch(current));
  }

  private void watch(long current) {
    if (current != generation || !connected) {
      return;
    }
    if (watching) {
      rebuild(current);
      return;
    }
    Handle asked = handle.orElseThrow();
    asked.addWatch(
        context.paths().locks(),
        AddWatchMode.PERSISTENT_RECURSIVE,
        (rc, path, ctx) -> context.thread().execute(() -> onWatch(current, rc)),
        null);
  }

  private void onWatch(long current, int rc) {
    if (current != generation || !connected) {
      return;
    }
    if (rc == Code.OK.intValue()) {
      watching = true;
      rebuild(current);
    } else {
      warnRetry("cannot watch the queues", rc);
      context.thread().after(RETRY_MILLIS, () -> watch(current));
    }
  }

  private void rebuild(long current) {
    if (current != generation || !connected) {
      return;
    }
    rebuild.ifPresent(MirrorRebuild::cancel);
    MirrorRebuild next =
        new MirrorRebuild(
            handle.orElseThrow(), context, this::onRebuilt, rc -> onRebuildFailed(current, rc));
    rebuild = Optional.of(next);
    next.start();
  }

  private void onRebuilt() {
    stale = false;
    context.stats().add(StoreStats.Count.REBUILDS, 1);
    context.events().accept(new MirrorCurrent());
  }

  private void onRebuildFailed(long current, int rc) {
    if (current == generation && connected) {
      warnRetry("cannot read the queues", rc);
      context.thread().after(RETRY_MILLIS, () -> rebuild(current));
    }
  }

  private static void warnRetry(String what, int rc) {
    LOG.atWarn().addKeyValue("error", Verdict.name(rc)).log("{}, trying again", what);
  }

  @Override
  public void onDisconnected() {
    lose();
  }

  @Override
  public void onExpired() {
    lose();
    handle.ifPresent(Handle::silence);
    open();
  }

  private void lose() {
    connected = false;
    generation++;
    reachability.onDisconnected();
    rebuild.ifPresent(MirrorRebuild::cancel);
    rebuild = Optional.empty();
    if (!stale) {
      stale = true;
      context.events().accept(new MirrorStale());
    }
  }

  @Override
  public void onNode(WatchedEvent event) {
    EventType type = event.getType();
    if (type != EventType.NodeCreated && type != EventType.NodeDeleted) {
      return;
    }
    String path = event.getPath();
    if (path.equals(context.paths().locks())) {
      layout.ifPresent(Layout::ensure);
      return;
    }
    Optional<Place> place = context.paths().place(path);
    if (place.isEmpty()) {
      ignore(path);
    } else if (place.get().entry().isEmpty()) {
      onDirectory(place.get().lock(), type == EventType.NodeCreated);
    } else {
      onEntry(place.get(), type == EventType.NodeCreated, event.getZxid());
    }
  }

  private void onDirectory(LockName lock, boolean created) {
    if (created) {
      context.directories().add(lock);
    } else {
      context.directories().remove(lock);
    }
  }

  private void onEntry(Place place, boolean created, long zxid) {
    var entry = place.entry().orElseThrow();
    context
        .events()
        .accept(
            created
                ? new EntryAppeared(place.lock(), entry, zxid)
                : new EntryVanished(place.lock(), entry, zxid));
  }

  private void ignore(String path) {
    context.stats().add(StoreStats.Count.NODES_IGNORED, 1);
    if (warned.size() < MAX_WARNED && warned.add(path)) {
      LOG.atWarn().addKeyValue("path", path).log("ignoring a node that is no entry of a queue");
    }
  }

  /** Writes through the quorum; the answer comes after every event of what was committed before. */
  void barrier(long number) {
    Optional<Handle> current = connection();
    if (current.isEmpty()) {
      context.events().accept(new BarrierFailed(number));
      return;
    }
    List<Op> check = List.of(Op.check(context.paths().locks(), -1));
    current
        .get()
        .multi(
            check,
            (rc, path, ctx, results) -> {
              boolean passed =
                  MultiReply.of(rc, results, check.size()) instanceof MultiReply.Committed;
              context
                  .thread()
                  .execute(
                      () ->
                          context
                              .events()
                              .accept(
                                  passed ? new BarrierPassed(number) : new BarrierFailed(number)));
            },
            null);
  }

  /** Reads one entry. */
  void read(LockName lock, String entry) {
    Optional<Handle> current = connection();
    if (current.isEmpty()) {
      context.events().accept(new DetailsRead(lock, entry, Optional.empty()));
      return;
    }
    current
        .get()
        .getData(
            context.paths().entry(lock, entry),
            false,
            (rc, path, ctx, data, stat) ->
                context
                    .thread()
                    .execute(
                        () ->
                            context
                                .events()
                                .accept(
                                    new DetailsRead(
                                        lock,
                                        entry,
                                        rc == Code.OK.intValue()
                                            ? Optional.of(
                                                EntryData.read(
                                                    DoubtResolution.orEmpty(data), stat.getCzxid()))
                                            : Optional.empty()))),
            null);
  }

  /** Ends the handle and its session, which owns nothing. */
  void stop(Runnable closed) {
    reachability.stop();
    connected = false;
    generation++;
    if (handle.isPresent()) {
      context.connector().close(handle.get(), closed);
    } else {
      closed.run();
    }
  }
}
