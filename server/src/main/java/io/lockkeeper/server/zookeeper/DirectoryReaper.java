package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.zookeeper.client.Fence;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.commit.WaitingWrites;
import io.lockkeeper.server.zookeeper.record.Directories;
import io.lockkeeper.server.zookeeper.record.Directory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/**
 * Deletes the directories that this coordinator has created for entries, when they have been empty
 * for {@link #IDLE_TICKS}. ZooKeeper does that too, 10,000 a minute: where every job has a lock
 * name of its own that is far too slow. What others have created and left behind is for ZooKeeper.
 * Lives on the store's thread.
 *
 * <p>ZooKeeper refuses to delete what is not empty, and whoever finds a directory gone creates it
 * again: so nothing is lost by being wrong. One transaction is under way at a time, so that the
 * writes of clients come first.
 */
final class DirectoryReaper {

  /** How long a tick is. */
  static final long TICK_MILLIS = 200;

  /** For how many ticks a directory must be empty. */
  static final long IDLE_TICKS = 50;

  /**
   * How many go in a transaction: as many operations as a session's has at most. With the longest
   * names they are 400 KB of the 1 MiB that ZooKeeper takes.
   */
  static final int BATCH = WaitingWrites.MAX_OPERATIONS;

  private static final int MAX_REFUSED = 3;

  private final StoreContext context;
  private final Directories directories;
  private final Supplier<Optional<Handle>> connection;
  private final long idleTicks;
  private boolean busy;
  private boolean stopped;

  /**
   * Makes a reaper.
   *
   * @param connection the mirror's handle, while the mirror is whole
   * @param idleTicks for how many ticks a directory must be empty
   */
  DirectoryReaper(StoreContext context, Supplier<Optional<Handle>> connection, long idleTicks) {
    this.context = context;
    this.connection = connection;
    this.idleTicks = idleTicks;
    directories = context.directories();
  }

  void start() {
    context.executor().after(TICK_MILLIS, this::tick);
  }

  void stop() {
    stopped = true;
  }

  private void tick() {
    if (!stopped) {
      start();
      directories.tick();
      sweep();
    }
  }

  private void sweep() {
    Optional<Handle> handle = connection.get();
    if (busy || stopped || handle.isEmpty()) {
      return;
    }
    List<Directory> doomed = directories.takeEmpty(idleTicks, BATCH);
    if (!doomed.isEmpty()) {
      busy = true;
      delete(handle.get(), doomed, 0);
    }
  }

  private String path(LockName lock) {
    return context.paths().directory(lock);
  }

  private void delete(Handle handle, List<Directory> doomed, int refused) {
    List<Op> deletions = new ArrayList<>(doomed.size());
    for (Directory directory : doomed) {
      directory.doom();
      deletions.add(Op.delete(path(directory.lock()), Fence.ANY));
    }
    MultiCallback onReply =
        (rc, path, ctx, results) ->
            context
                .executor()
                .execute(
                    () ->
                        onReply(
                            handle, doomed, refused, MultiReply.of(rc, results, deletions.size())));
    handle.multi(deletions, onReply, null);
  }

  private void onReply(Handle handle, List<Directory> doomed, int refused, MultiReply reply) {
    if (reply instanceof MultiReply.Committed) {
      context.stats().add(StoreStats.StoreCount.DIRECTORIES_REAPED, doomed.size());
      doomed.forEach(directories::deleted);
      finish(doomed.size() == BATCH);
    } else if (reply instanceof MultiReply.Culprit culprit) {
      List<Directory> rest = new ArrayList<>(doomed);
      drop(rest.remove(culprit.index()), culprit.code());
      if (!rest.isEmpty() && refused < MAX_REFUSED) {
        delete(handle, rest, refused + 1);
      } else {
        directories.putBack(rest);
        finish(false);
      }
    } else {
      // Out of touch: what is there still is found by the rebuild.
      directories.putBack(doomed);
      finish(false);
    }
  }

  /** It is in use again, or holds what is not ours: its next emptying is waited for. */
  private void drop(Directory directory, int code) {
    if (code == Code.NONODE.intValue()) {
      directories.deleted(directory);
    } else {
      directory.spare();
    }
  }

  private void finish(boolean more) {
    busy = false;
    if (more) {
      sweep();
    }
  }
}
