package io.lockkeeper.server.zookeeper.record;

import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The locks whose directory is believed to exist, and which of them have been empty for a while. A
 * wrong belief costs one more round trip and nothing else.
 *
 * <p>Time is counted in ticks of the {@code DirectoryReaper}. At most {@link #MAX_EMPTY}
 * directories wait to be deleted; what is beyond that is left to ZooKeeper, which deletes empty
 * containers too, only slowly.
 */
public final class Directories {

  /** How many directories may wait to be deleted. */
  static final int MAX_EMPTY = 200_000;

  /** How many are looked at in one go: after a rebuild all are due at the same time. */
  static final int MAX_LOOKS = 4_096;

  private final Map<LockName, Directory> known = new HashMap<>();
  private final Map<String, LockName> names = new HashMap<>();
  private final Deque<Directory> empty = new ArrayDeque<>();
  private long now;

  /** Returns whether entries can be created there without creating it first. */
  public boolean contains(LockName lock) {
    Directory directory = known.get(lock);
    return directory != null && !directory.isDoomed();
  }

  /** Returns how many are believed to exist. */
  public int size() {
    return known.size();
  }

  /** Returns the lock whose directory has that znode name, or empty if no lock's has. */
  public Optional<LockName> lock(String node) {
    LockName lock = names.get(node);
    return lock != null ? Optional.of(lock) : LockName.decode(node);
  }

  /** Takes note that it exists. */
  public void add(LockName lock) {
    directory(lock).spare();
  }

  /**
   * Takes note that this coordinator has created it, as a container.
   *
   * @param zxid the transaction that created it
   */
  public void made(LockName lock, long zxid) {
    Directory directory = directory(lock);
    directory.made(zxid);
    await(directory);
  }

  private Directory directory(LockName lock) {
    Directory directory = known.get(lock);
    if (directory == null) {
      directory = new Directory(lock, now);
      known.put(lock, directory);
      names.put(lock.encoded(), lock);
    }
    return directory;
  }

  /**
   * Takes note that it was not there when somebody counted on it. What is known of it is kept: it
   * may have been created again since, and whether it is gone the mirror tells.
   */
  public void doubt(LockName lock) {
    Directory directory = known.get(lock);
    if (directory != null) {
      directory.doom();
    }
  }

  /**
   * Takes note that it was deleted. The mirror may tell so later than a session tells that it was
   * created again.
   *
   * @param zxid the transaction that deleted it
   */
  public void remove(LockName lock, long zxid) {
    Directory directory = known.get(lock);
    if (directory != null && !directory.isMadeAfter(zxid)) {
      forget(lock);
    }
  }

  private void forget(LockName lock) {
    known.remove(lock);
    names.remove(lock.encoded());
  }

  /** Takes note that a doomed directory is gone, unless it has been created again since. */
  public void deleted(Directory directory) {
    if (directory.isDoomed() && known.get(directory.lock()) == directory) {
      forget(directory.lock());
    }
  }

  /** Takes note that something was created in it. */
  public void entered(LockName lock) {
    directory(lock).entered();
  }

  /** Takes note that something in it was deleted. */
  public void left(LockName lock) {
    Directory directory = known.get(lock);
    if (directory != null && directory.left(now)) {
      await(directory);
    }
  }

  /** Takes note that it was listed, and had {@code children}. */
  public void listed(LockName lock, int children) {
    Directory directory = known.get(lock);
    if (directory != null) {
      directory.listed(children, now);
      await(directory);
    }
  }

  /** Takes a complete list of the locks that have a directory. */
  public void replaceBy(Collection<LockName> locks) {
    Map<LockName, Directory> before = new HashMap<>(known);
    known.clear();
    names.clear();
    for (LockName lock : locks) {
      Directory directory = before.get(lock);
      if (directory == null) {
        add(lock);
      } else {
        // How many children it has by now, its listing tells.
        directory.spare();
        known.put(lock, directory);
        names.put(lock.encoded(), lock);
      }
    }
  }

  private void await(Directory directory) {
    if (directory.isMade() && !directory.isQueued() && empty.size() < MAX_EMPTY) {
      directory.queuedAt(now);
      empty.addLast(directory);
    }
  }

  /** Lets one tick pass. */
  public void tick() {
    now++;
  }

  /**
   * Takes up to {@code limit} directories that this coordinator has created and that have been
   * empty for {@code idleTicks}. Each is looked at when as many ticks have passed since the last
   * time, and so may stay for up to that much longer.
   */
  public List<Directory> takeEmpty(long idleTicks, int limit) {
    List<Directory> due = new ArrayList<>();
    for (int looks = 0; looks < MAX_LOOKS && due.size() < limit; looks++) {
      if (empty.isEmpty() || !empty.getFirst().isDue(now - idleTicks)) {
        break;
      }
      Directory first = empty.removeFirst();
      first.unqueued();
      boolean exists = known.get(first.lock()) == first;
      long emptyFor = first.emptyFor(now);
      if (exists && emptyFor >= idleTicks) {
        due.add(first);
      } else if (exists && emptyFor >= 0) {
        await(first);
      }
    }
    return due;
  }

  /** Puts directories back that were taken and are there still. */
  public void putBack(Collection<Directory> taken) {
    for (Directory directory : taken) {
      directory.spare();
      if (known.get(directory.lock()) == directory) {
        await(directory);
      }
    }
  }
}
