package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.core.api.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedLease;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.commit.DoubtResolution;
import io.lockkeeper.server.zookeeper.commit.LeaseRecording;
import io.lockkeeper.server.zookeeper.record.EntryData;
import io.lockkeeper.server.zookeeper.record.ParsedPath;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what a session owns that was another coordinator's. Runs on the session's own
 * connection after a barrier on it: what it reads is as new as our claim, and nobody else writes on
 * the session since.
 */
final class SessionInventory {

  private static final int MAX_OUTSTANDING = 256;

  private final Handle handle;
  private final StoreContext context;
  private final Consumer<Found> done;
  private final Runnable failed;
  private final Deque<String> toRead = new ArrayDeque<>();
  private final List<AdoptedLease> leases = new ArrayList<>();
  private final List<AdoptedEntry> entries = new ArrayList<>();
  private int nodes;
  private int outstanding;
  private boolean over;

  /**
   * What a session owns.
   *
   * @param leases the leases on record
   * @param entries the entries
   * @param nodes how many nodes it owns in all, those included that are nothing of ours
   */
  record Found(List<AdoptedLease> leases, List<AdoptedEntry> entries, int nodes) {}

  SessionInventory(Handle handle, StoreContext context, Consumer<Found> done, Runnable failed) {
    this.handle = handle;
    this.context = context;
    this.done = done;
    this.failed = failed;
  }

  void start() {
    handle.getEphemerals(
        (rc, ctx, found) -> context.executor().execute(() -> onListed(rc, found)), null);
  }

  private void onListed(int rc, @Nullable List<String> found) {
    if (rc != Code.OK.intValue() || found == null) {
      fail();
      return;
    }
    nodes = found.size();
    for (String path : found) {
      if (isLease(path) || isEntry(path)) {
        toRead.add(path);
      } else {
        context.stats().add(StoreStats.Count.NODES_IGNORED, 1);
      }
    }
    proceed();
  }

  private boolean isLease(String path) {
    return leaseOf(path).isPresent();
  }

  private Optional<LeaseId> leaseOf(String path) {
    String parent = context.paths().leases() + "/";
    return path.startsWith(parent)
        ? LeaseId.parse(path.substring(parent.length()))
        : Optional.empty();
  }

  private boolean isEntry(String path) {
    return context.paths().place(path).filter(ParsedPath.Queued.class::isInstance).isPresent();
  }

  private void proceed() {
    while (!over && outstanding < MAX_OUTSTANDING && !toRead.isEmpty()) {
      outstanding++;
      handle.getData(
          toRead.removeFirst(),
          false,
          (rc, path, ctx, data, stat) ->
              context.executor().execute(() -> onRead(rc, path, data, stat)),
          null);
    }
    if (!over && outstanding == 0) {
      over = true;
      done.accept(new Found(leases, entries, nodes));
    }
  }

  private void onRead(int rc, String path, byte @Nullable [] data, @Nullable Stat stat) {
    outstanding--;
    if (over) {
      return;
    }
    if (rc == Code.OK.intValue() && stat != null) {
      add(path, DoubtResolution.orEmpty(data), stat);
    } else if (rc == Code.NONODE.intValue()) {
      nodes--;
    } else {
      fail();
    }
    proceed();
  }

  private void add(String path, byte[] data, Stat stat) {
    Optional<LeaseId> lease = leaseOf(path);
    if (lease.isPresent()) {
      LeaseRecording.read(lease.get(), data).ifPresent(leases::add);
      return;
    }
    Optional<ParsedPath> parsed = context.paths().place(path);
    if (parsed.isPresent() && parsed.get() instanceof ParsedPath.Queued queued) {
      entries.add(
          new AdoptedEntry(queued.lock(), queued.entry(), EntryData.read(data, stat.getCzxid())));
    }
  }

  private void fail() {
    if (!over) {
      over = true;
      failed.run();
    }
  }
}
