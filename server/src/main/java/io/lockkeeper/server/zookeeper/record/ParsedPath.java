package io.lockkeeper.server.zookeeper.record;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.EntryAppeared;
import io.lockkeeper.server.core.api.StoreEvent.EntryChanged;
import io.lockkeeper.server.core.api.StoreEvent.EntryVanished;
import io.lockkeeper.server.core.api.StoreEvent.MarkerAppeared;
import io.lockkeeper.server.core.api.StoreEvent.MarkerVanished;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import java.util.Optional;
import org.apache.zookeeper.Watcher.Event.EventType;

/** What a path below the locks path names. */
public sealed interface ParsedPath {

  /** Returns whose it is. */
  LockName lock();

  /** Returns what the mirror is told when this happens there, if it is told anything. */
  Optional<StoreEvent> told(EventType type, long zxid);

  /**
   * The directory of a lock.
   *
   * @param lock the lock
   */
  record QueueDirectory(LockName lock) implements ParsedPath {
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
  record QueueEntry(LockName lock, EntryName entry) implements ParsedPath {
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
  record Marked(LockName lock, MarkerName marker) implements ParsedPath {
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
