package io.lockkeeper.server.zookeeper.commit;

import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.ReadEntry;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.EntryData;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds out which of the writes in doubt were done, where to repeat them would do harm. Runs on the
 * session's own connection after a barrier on it, when nothing is in flight: then all that was sent
 * before has been done, or never will be, and what the session owns is what was done.
 *
 * <p>A listing of the session's own nodes answers for all of a kind; it is short, because a session
 * owns little. Each entry that is found is read once, for its creation zxid and its index.
 */
public final class DoubtResolution {

  private final StoreContext context;
  private final GroupCommit commit;
  private final NodeReader reader;
  private final Runnable done;

  public DoubtResolution(
      Handle handle, StoreContext context, GroupCommit commit, Runnable done, Runnable failed) {
    this.context = context;
    this.commit = commit;
    this.done = done;
    reader = new NodeReader(context, handle, done, rc -> failed.run());
  }

  /** Begins, and ends at once where nothing in doubt has to be looked for. */
  public void start() {
    boolean leases = commit.inDoubt().stream().anyMatch(DoubtResolution::isOfLease);
    boolean entries = commit.inDoubt().stream().anyMatch(EntryCreation.class::isInstance);
    if (leases) {
      reader.listOwned(context.paths().leases(), this::onLeases);
    }
    if (entries) {
      reader.listOwned(context.paths().locks(), this::onOwned);
    }
    if (!leases && !entries) {
      done.run();
    }
  }

  private static boolean isOfLease(Write write) {
    return write instanceof LeaseErasure
        || (write instanceof LeaseRecording recording && recording.isTaken());
  }

  private void onLeases(List<String> listed) {
    Set<String> found = Set.copyOf(listed);
    for (Write write : commit.inDoubt()) {
      if (write instanceof LeaseRecording recording && recording.isTaken()) {
        look(recording, found.contains(recording.path()));
      } else if (write instanceof LeaseErasure erasure && !found.contains(erasure.path())) {
        // It was done. Since then another coordinator may have opened a lease of that id.
        commit.foundDone(erasure, erasure.doneAlready().orElseThrow());
      }
    }
  }

  private void look(LeaseRecording recording, boolean ours) {
    if (ours) {
      commit.foundDone(recording, recording.doneAlready().orElseThrow());
    } else {
      commit.foundBroken(recording, "", 0);
    }
  }

  private void onOwned(List<String> found) {
    Map<String, String> byPrefix = new HashMap<>();
    for (String path : found) {
      int end = path.length() - StorePaths.SEQUENCE_CHARS;
      if (end > 0) {
        byPrefix.put(path.substring(0, end), path);
        // Past its end the counter may yield negative numbers: one more character.
        byPrefix.putIfAbsent(path.substring(0, end - 1), path);
      }
    }
    for (Write write : commit.inDoubt()) {
      if (write instanceof EntryCreation create) {
        look(create, byPrefix);
      }
    }
  }

  private void look(EntryCreation create, Map<String, String> byPrefix) {
    List<String> paths = new ArrayList<>();
    for (String prefix : create.prefixes()) {
      String path = byPrefix.get(prefix);
      if (path != null) {
        paths.add(path);
      }
    }
    if (paths.size() == create.entries().size()) {
      new Reading(create, paths).start();
    } else if (!paths.isEmpty()) {
      // They were created together, so somebody has removed the others since.
      giveUp(create, paths);
    }
  }

  private void giveUp(EntryCreation create, List<String> left) {
    commit.foundBroken(
        create, "somebody else removed an entry while its creation was in doubt", left.size());
    commit.add(EntryDeletion.remains(create.guards(), left));
  }

  /** Reads the entries of one acquisition that were found. */
  private final class Reading {
    private final EntryCreation create;
    private final List<String> paths;
    private final Map<Integer, CreatedEntry> read = new HashMap<>();
    private int left;
    private boolean vanished;

    Reading(EntryCreation create, List<String> paths) {
      this.create = create;
      this.paths = paths;
      left = paths.size();
    }

    void start() {
      for (int i = 0; i < paths.size(); i++) {
        int part = i;
        reader.read(paths.get(i), node -> onRead(part, node));
      }
    }

    private void onRead(int part, Optional<NodeReader.Node> node) {
      if (node.isEmpty()) {
        vanished = true;
      } else {
        ReadEntry entry = EntryData.read(node.get().data(), node.get().stat().getCzxid());
        read.put(part, create.created(part, paths.get(part), entry.czxid(), entry.index()));
      }
      onOneLess();
    }

    private void onOneLess() {
      left--;
      if (left > 0) {
        return;
      }
      if (!vanished) {
        List<CreatedEntry> entries = new ArrayList<>();
        for (int i = 0; i < paths.size(); i++) {
          entries.add(read.get(i));
        }
        commit.foundDone(create, new EntriesCreated(create.id(), entries));
      } else if (paths.size() > 1) {
        giveUp(create, paths);
      }
      // A single entry that is gone again is created anew, and refused if its guard is there.
    }
  }
}
