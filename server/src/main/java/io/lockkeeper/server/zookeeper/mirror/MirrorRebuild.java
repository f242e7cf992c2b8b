package io.lockkeeper.server.zookeeper.mirror;

import io.lockkeeper.server.core.api.StoreEvent.ListedEntry;
import io.lockkeeper.server.core.api.StoreEvent.QueueListed;
import io.lockkeeper.server.core.api.StoreEvent.ReadEntry;
import io.lockkeeper.server.core.api.StoreEvent.RebuildStarted;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.commit.DoubtResolution;
import io.lockkeeper.server.zookeeper.record.EntryData;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntConsumer;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Reads all queues back, a bounded number at a time. Each listing is told at the place of its reply
 * among the watch's events, so that events before it are in it and events after it are not.
 *
 * <p>Where sequence numbers tie, the creations are read and the queue is then listed once more,
 * because the first listing's place has passed by then. What ties in that listing and was not in
 * the one before was told by the watch with its creation, so that listings come to an end.
 */
final class MirrorRebuild {

  private static final int MAX_OUTSTANDING = 256;
  private static final int MAX_LISTINGS = 5;

  private final Handle handle;
  private final StoreContext context;
  private final Runnable done;
  private final IntConsumer failed;
  private final Deque<LockName> toList = new ArrayDeque<>();
  private int outstanding;
  private boolean over;

  MirrorRebuild(Handle handle, StoreContext context, Runnable done, IntConsumer failed) {
    this.handle = handle;
    this.context = context;
    this.done = done;
    this.failed = failed;
  }

  /** Makes the rebuild tell nothing more. */
  void cancel() {
    over = true;
  }

  void start() {
    handle.getChildren(
        context.paths().locks(),
        false,
        (rc, path, ctx, names) -> context.executor().execute(() -> onLocks(rc, orNone(names))),
        null);
  }

  private static List<String> orNone(@org.jspecify.annotations.Nullable List<String> names) {
    return names == null ? List.of() : names;
  }

  private void onLocks(int rc, List<String> names) {
    if (over) {
      return;
    }
    if (rc != Code.OK.intValue()) {
      fail(rc);
      return;
    }
    Set<LockName> locks = new LinkedHashSet<>();
    for (String name : names) {
      Optional<LockName> lock = LockName.decode(name);
      lock.ifPresent(locks::add);
      if (lock.isEmpty()) {
        context.stats().add(StoreStats.Count.NODES_IGNORED, 1);
      }
    }
    context.directories().replaceBy(locks);
    context.events().accept(new RebuildStarted(locks));
    toList.addAll(locks);
    proceed();
  }

  private void proceed() {
    while (!over && outstanding < MAX_OUTSTANDING && !toList.isEmpty()) {
      outstanding++;
      new Listing(toList.removeFirst()).list();
    }
    if (!over && outstanding == 0) {
      over = true;
      done.run();
    }
  }

  private void fail(int rc) {
    if (!over) {
      over = true;
      failed.accept(rc);
    }
  }

  /** The listing of one queue. */
  private final class Listing {
    private final LockName lock;
    private final Map<String, ReadEntry> creations = new HashMap<>();
    private int listings;
    private int reads;

    Listing(LockName lock) {
      this.lock = lock;
    }

    void list() {
      listings++;
      handle.getChildren(
          context.paths().directory(lock),
          false,
          (rc, path, ctx, names) -> context.executor().execute(() -> onListed(rc, orNone(names))),
          null);
    }

    private void onListed(int rc, List<String> names) {
      if (over) {
        return;
      }
      if (rc != Code.OK.intValue() && rc != Code.NONODE.intValue()) {
        fail(rc);
        return;
      }
      List<EntryName> entries = new ArrayList<>();
      List<MarkerName> markers = new ArrayList<>();
      for (String name : names) {
        Optional<MarkerName> marker = MarkerName.parse(name);
        marker.ifPresent(markers::add);
        if (marker.isEmpty()) {
          EntryName.parse(name).ifPresent(entries::add);
        }
      }
      int known = entries.size() + markers.size();
      context.directories().listed(lock, names.size());
      context.stats().add(StoreStats.Count.NODES_IGNORED, names.size() - known);
      Set<String> unread = TieBreaks.in(entries);
      unread.removeAll(creations.keySet());
      if (unread.isEmpty() || listings >= MAX_LISTINGS) {
        tell(entries, markers);
      } else {
        reads = unread.size();
        new HashSet<>(unread).forEach(this::read);
      }
    }

    private void read(String entry) {
      handle.getData(
          context.paths().entry(lock, entry),
          false,
          (rc, path, ctx, data, stat) ->
              context
                  .executor()
                  .execute(
                      () -> {
                        if (rc == Code.OK.intValue()) {
                          byte[] own = DoubtResolution.orEmpty(data);
                          creations.put(entry, EntryData.read(own, stat.getCzxid()));
                        }
                        onRead(rc);
                      }),
          null);
    }

    private void onRead(int rc) {
      if (over) {
        return;
      }
      if (rc != Code.OK.intValue() && rc != Code.NONODE.intValue()) {
        fail(rc);
        return;
      }
      reads--;
      if (reads == 0) {
        list();
      }
    }

    private void tell(List<EntryName> entries, List<MarkerName> markers) {
      List<ListedEntry> listed = new ArrayList<>();
      for (EntryName entry : entries) {
        Optional<ReadEntry> read = Optional.ofNullable(creations.get(entry.text()));
        int index = read.map(ReadEntry::index).orElse(0);
        listed.add(new ListedEntry(entry, read.map(ReadEntry::czxid), index));
      }
      context.events().accept(new QueueListed(lock, listed, markers));
      outstanding--;
      proceed();
    }
  }
}
