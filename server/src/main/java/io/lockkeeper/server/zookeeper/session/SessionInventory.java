package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.core.api.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedLease;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.commit.LeaseRecording;
import io.lockkeeper.server.zookeeper.record.EntryData;
import io.lockkeeper.server.zookeeper.record.ParsedPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Finds out what a session owns that was another coordinator's. Runs on the session's own
 * connection after a barrier on it: what it reads is as new as our claim, and nobody else writes on
 * the session since.
 */
final class SessionInventory {

  private final StoreContext context;
  private final NodeReader reader;
  private final List<AdoptedLease> leases = new ArrayList<>();
  private final List<AdoptedEntry> entries = new ArrayList<>();
  private int nodes;

  /**
   * What a session owns.
   *
   * @param leases the leases on record
   * @param entries the entries
   * @param nodes how many nodes it owns in all, those included that are nothing of ours
   */
  record Found(List<AdoptedLease> leases, List<AdoptedEntry> entries, int nodes) {}

  SessionInventory(Handle handle, StoreContext context, Consumer<Found> done, Runnable failed) {
    this.context = context;
    reader =
        new NodeReader(
                context,
                handle,
                () -> done.accept(new Found(leases, entries, nodes)),
                rc -> failed.run())
            .tolerant();
  }

  void start() {
    reader.listOwned("/", this::onListed);
  }

  private void onListed(List<String> found) {
    nodes = found.size();
    List<String> ours = new ArrayList<>();
    for (String path : found) {
      if (isLease(path) || isEntry(path)) {
        ours.add(path);
      } else {
        context.stats().add(StoreStats.StoreCount.NODES_IGNORED, 1);
        context.problems().foreign(path, "it is on one of our sessions, and is nothing of ours");
      }
    }
    reader.readEach(ours, node -> node.ifPresentOrElse(this::add, () -> nodes--));
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
    return context.paths().place(path).filter(ParsedPath.QueueEntry.class::isInstance).isPresent();
  }

  private void add(NodeReader.Node node) {
    Optional<LeaseId> lease = leaseOf(node.path());
    if (lease.isPresent()) {
      LeaseRecording.read(lease.get(), node.data())
          .ifPresentOrElse(
              leases::add,
              () -> context.problems().foreign(node.path(), "no lease can be read from it"));
      return;
    }
    Optional<ParsedPath> parsed = context.paths().place(node.path());
    if (parsed.isPresent() && parsed.get() instanceof ParsedPath.QueueEntry queued) {
      entries.add(
          new AdoptedEntry(
              queued.lock(), queued.entry(), EntryData.read(node.data(), node.stat().getCzxid())));
    }
  }
}
