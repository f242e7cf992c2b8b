package io.lockkeeper.bench.zookeeper;

import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;

/** What one recursive watch has told, as a coordinator hears of everybody's writes. */
final class SeenWrites {

  private static final Queue<Expected> NONE = new ConcurrentLinkedQueue<>();

  private final Map<String, Queue<Expected>> byDirectory = new ConcurrentHashMap<>();

  private SeenWrites() {}

  /** Something that goes on when the last of several things has happened. */
  static final class Expected {
    private final AtomicInteger left;
    private final Runnable then;

    Expected(int things, Runnable then) {
      this.left = new AtomicInteger(things);
      this.then = then;
    }

    void happened() {
      if (left.decrementAndGet() == 0) {
        then.run();
      }
    }
  }

  /** Watches all that is written. */
  static SeenWrites watch(Connections connections) throws InterruptedException, KeeperException {
    SeenWrites seen = new SeenWrites();
    connections.ensure(SingleWrites.ROOT);
    connections.of(0).addWatch(SingleWrites.ROOT, seen::on, AddWatchMode.PERSISTENT_RECURSIVE);
    return seen;
  }

  /** The next write of an entry in the directory is one of what is expected. */
  void expect(String directory, Expected expected) {
    byDirectory.computeIfAbsent(directory, first -> new ConcurrentLinkedQueue<>()).add(expected);
  }

  private void on(WatchedEvent event) {
    if (event.getType() == EventType.NodeCreated || event.getType() == EventType.NodeDeleted) {
      String path = event.getPath();
      String directory = path.substring(0, path.lastIndexOf('/'));
      Queue<Expected> queue = byDirectory.getOrDefault(directory, NONE);
      Optional.ofNullable(queue.poll()).ifPresent(Expected::happened);
    }
  }
}
