package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.EntryName;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.MarkerName;
import io.lockkeeper.server.core.StoreEvent;
import io.lockkeeper.server.core.StoreEvent.EntryAppeared;
import io.lockkeeper.server.core.StoreEvent.EntryChanged;
import io.lockkeeper.server.core.StoreEvent.EntryVanished;
import io.lockkeeper.server.core.StoreEvent.MarkerAppeared;
import io.lockkeeper.server.core.StoreEvent.MarkerVanished;
import java.util.Optional;
import org.apache.zookeeper.Watcher.Event.EventType;

/** What a path below the locks path names. */
sealed interface Place {

  /** Returns whose it is. */
  LockName lock();

  /** Returns what the mirror is told when this happens there, if it is told anything. */
  Optional<StoreEvent> told(EventType type, long zxid);

  /**
   * The directory of a lock.
   *
   * @param lock the lock
   */
  record Directory(LockName lock) implements Place {
    @Override
    public Optional<StoreEvent> told(EventType type, long zxid) {
      return Optional.empty();
    }
  }

  /**
   * An entry of a queue.
   *
   * @param lock the lock
   * @param entry the znode name
   */
  record Queued(LockName lock, EntryName entry) implements Place {
    @Override
    public Optional<StoreEvent> told(EventType type, long zxid) {
      return switch (type) {
        case NodeCreated -> Optional.of(new EntryAppeared(lock, entry, zxid));
        case NodeDeleted -> Optional.of(new EntryVanished(lock, entry, zxid));
        case NodeDataChanged -> Optional.of(new EntryChanged(lock, entry, zxid));
        case None,
            NodeChildrenChanged,
            DataWatchRemoved,
            ChildWatchRemoved,
            PersistentWatchRemoved ->
            Optional.empty();
      };
    }
  }

  /**
   * A marker beside a queue.
   *
   * @param lock the lock
   * @param marker the marker
   */
  record Marked(LockName lock, MarkerName marker) implements Place {
    @Override
    public Optional<StoreEvent> told(EventType type, long zxid) {
      return switch (type) {
        case NodeCreated -> Optional.of(new MarkerAppeared(lock, marker, zxid));
        case NodeDeleted -> Optional.of(new MarkerVanished(lock, marker, zxid));
        case None,
            NodeDataChanged,
            NodeChildrenChanged,
            DataWatchRemoved,
            ChildWatchRemoved,
            PersistentWatchRemoved ->
            Optional.empty();
      };
    }
  }
}
