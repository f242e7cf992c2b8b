package io.lockkeeper.server.zookeeper.mirror;

import io.lockkeeper.server.core.api.StoreEvent.ListedEntry;
import io.lockkeeper.server.core.api.StoreEvent.QueueListed;
import io.lockkeeper.server.core.api.StoreEvent.ReadEntry;
import io.lockkeeper.server.core.api.StoreEvent.RebuildStarted;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.record.EntryData;
import java.util.ArrayList;
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

  private static final int MAX_LISTINGS = 5;

  private final StoreContext context;
  private final Handle handle;
  private final FreezeFeed freezes;
  private final int together;
  private final NodeReader reader;

  /**
   * Prepares.
   *
   * @param together how many queues are listed with one reply
   * @param done runs when all were told
   * @param failed hears ZooKeeper's result code of the first failure
   */
  MirrorRebuild(
      Handle handle,
      StoreContext context,
      FreezeFeed freezes,
      int together,
      Runnable done,
      IntConsumer failed) {
    this.context = context;
    this.handle = handle;
    this.freezes = freezes;
    this.together = together;
    reader = new NodeReader(context, handle, done, failed).tolerant();
  }

  /** Makes the rebuild tell nothing more. */
  void cancel() {
    reader.cancel();
  }

  void start() {
    freezes.readAll(handle, reader);
    reader.listMany(
        context.paths().locks(),
        names -> names.ifPresentOrElse(this::onLocks, () -> reader.fail(Code.NONODE.intValue())));
  }

  private void onLocks(List<String> names) {
    Set<LockName> locks = new LinkedHashSet<>();
    for (String name : names) {
      Optional<LockName> lock = context.directories().lock(name);
      lock.ifPresent(locks::add);
      if (lock.isEmpty()) {
        context.problems().foreign(context.paths().locks() + "/" + name, "no lock has such a name");
        context.stats().add(StoreStats.StoreCount.NODES_IGNORED, 1);
      }
    }
    context.directories().replaceBy(locks);
    context.events().accept(new RebuildStarted(locks));
    reader.listEach(
        List.copyOf(locks),
        together,
        context.paths()::directory,
        (lock, entries) -> new Listing(lock).onFirst(entries));
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

    void onFirst(List<String> names) {
      listings++;
      onListed(names);
    }

    private void listAgain() {
      listings++;
      reader.list(
          context.paths().directory(lock), false, names -> onListed(names.orElse(List.of())));
    }

    private void onListed(List<String> names) {
      List<EntryName> entries = new ArrayList<>();
      List<MarkerName> markers = new ArrayList<>();
      for (String name : names) {
        Optional<MarkerName> marker = MarkerName.parse(name);
        marker.ifPresent(markers::add);
        if (marker.isEmpty()) {
          EntryName.parse(name).ifPresentOrElse(entries::add, () -> ignore(name));
        }
      }
      int known = entries.size() + markers.size();
      context.directories().listed(lock, names.size());
      context.stats().add(StoreStats.StoreCount.NODES_IGNORED, names.size() - known);
      Set<String> unread = TieBreaks.in(entries);
      unread.removeAll(creations.keySet());
      if (unread.isEmpty() || listings >= MAX_LISTINGS) {
        tell(entries, markers);
      } else {
        reads = unread.size();
        new HashSet<>(unread).forEach(this::read);
      }
    }

    private void ignore(String name) {
      context.problems().foreign(context.paths().entry(lock, name), "it is no entry of a queue");
    }

    private void read(String entry) {
      reader.read(
          context.paths().entry(lock, entry),
          node -> {
            node.ifPresent(
                found ->
                    creations.put(entry, EntryData.read(found.data(), found.stat().getCzxid())));
            reads--;
            if (reads == 0) {
              listAgain();
            }
          });
    }

    private void tell(List<EntryName> entries, List<MarkerName> markers) {
      List<ListedEntry> listed = new ArrayList<>();
      for (EntryName entry : entries) {
        Optional<ReadEntry> read = Optional.ofNullable(creations.get(entry.text()));
        int index = read.map(ReadEntry::index).orElse(0);
        listed.add(new ListedEntry(entry, read.map(ReadEntry::czxid), index));
      }
      context.events().accept(new QueueListed(lock, listed, markers));
    }
  }
}
