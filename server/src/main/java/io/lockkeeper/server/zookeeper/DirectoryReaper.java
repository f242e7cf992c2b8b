package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.zookeeper.client.Fence;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.commit.DoubtResolution;
import io.lockkeeper.server.zookeeper.commit.WaitingWrites;
import io.lockkeeper.server.zookeeper.member.Rendezvous;
import io.lockkeeper.server.zookeeper.record.Directories;
import io.lockkeeper.server.zookeeper.record.Directory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/**
 * Deletes the directories of locks that nobody has used for some seconds. ZooKeeper does that too,
 * 10,000 a minute: where every job has a lock name of its own that is far too slow. Lives on the
 * store's thread.
 *
 * <p>A directory that this coordinator has created goes as soon as it has been empty for {@link
 * #IDLE_TICKS}. Any other, which its creator has left behind or which is nobody's, goes later, at
 * one coordinator after the other in an order that differs for each name, and only if it bears the
 * mark of a coordinator. ZooKeeper refuses to delete what is not empty, and whoever finds a
 * directory gone creates it again: so nothing is lost by being wrong. One transaction is under way
 * at a time, so that the writes of clients come first.
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
  private final Supplier<Set<String>> members;
  private final long idleTicks;
  private boolean busy;
  private boolean stopped;

  /**
   * Makes a reaper.
   *
   * @param connection the mirror's handle, while the mirror is whole
   * @param members the coordinators that serve
   * @param idleTicks for how many ticks a directory must be empty
   */
  DirectoryReaper(
      StoreContext context,
      Supplier<Optional<Handle>> connection,
      Supplier<Set<String>> members,
      long idleTicks) {
    this.context = context;
    this.connection = connection;
    this.members = members;
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
    Set<String> serving = members.get();
    List<Directory> due =
        directories.takeEmpty(idleTicks, BATCH, directory -> patience(directory, serving));
    List<Directory> doomed = new ArrayList<>(due.size());
    for (Directory directory : due) {
      if (directory.isMade()) {
        doomed.add(directory);
      } else {
        ask(handle.get(), directory);
      }
    }
    if (!doomed.isEmpty()) {
      busy = true;
      delete(handle.get(), doomed, 0);
    }
  }

  /** Its creator comes first, then one coordinator after the other. */
  private long patience(Directory directory, Collection<String> serving) {
    if (directory.isMade()) {
      return idleTicks;
    }
    String self = context.settings().coordinatorId();
    return idleTicks * (2 + Rendezvous.rank(directory.lock().encoded(), self, serving));
  }

  /** Asks whether a directory may go that somebody else has made: perhaps no coordinator has. */
  private void ask(Handle handle, Directory directory) {
    handle.getData(
        path(directory.lock()),
        false,
        (rc, path, ctx, data, stat) ->
            context
                .executor()
                .execute(
                    () -> {
                      boolean empty = rc == Code.OK.intValue() && stat.getNumChildren() == 0;
                      boolean marked = empty && Directory.isMarked(DoubtResolution.orEmpty(data));
                      onAsked(directory, rc, marked);
                    }),
        null);
  }

  private void onAsked(Directory directory, int rc, boolean marked) {
    if (rc == Code.NONODE.intValue()) {
      directories.remove(directory.lock());
    } else if (marked) {
      directory.made();
      directories.putBack(List.of(directory));
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
      context.stats().add(StoreStats.Count.DIRECTORIES_REAPED, doomed.size());
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
