package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** Looks at ZooKeeper itself, past any server. */
public final class Znodes implements AutoCloseable {

  private static final String LOCKS = "/lockkeeper/locks";
  private static final int SESSION_TIMEOUT_MILLIS = 20_000;

  private final ZooKeeper zookeeper;
  private final String locks;

  private Znodes(ZooKeeper zookeeper, String locks) {
    this.zookeeper = zookeeper;
    this.locks = locks;
  }

  /** Connects. */
  public static Znodes at(String connectString) {
    return at(connectString, LOCKS);
  }

  /** Connects, to look at queues that are elsewhere. */
  public static Znodes at(String connectString, String locksPath) {
    try {
      return new Znodes(
          new ZooKeeper(connectString, SESSION_TIMEOUT_MILLIS, event -> {}), locksPath);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the directory of a lock where servers keep them by default. */
  public static String directory(String lock) {
    return LOCKS + "/" + encoded(lock);
  }

  /** Returns the directory of a lock. */
  public String pathOf(String lock) {
    return locks + "/" + encoded(lock);
  }

  private static String encoded(String lock) {
    return lock.replace("/", "%2F");
  }

  /** Returns the entries of a lock's queue, in no order; none if the directory is gone. */
  public List<String> entries(String lock) {
    return children(pathOf(lock));
  }

  /** Returns how many entries all queues have whose locks' names begin so. */
  public int countEntries(String lockPrefix) {
    String prefix = encoded(lockPrefix);
    return children(locks).stream()
        .filter(name -> name.startsWith(prefix))
        .mapToInt(name -> children(locks + "/" + name).size())
        .sum();
  }

  /**
   * Returns what completes with {@link System#nanoTime} when a node has been deleted, as soon as
   * ZooKeeper tells.
   */
  public CompletableFuture<Long> deletionOf(String path) {
    CompletableFuture<Long> deleted = new CompletableFuture<>();
    try {
      if (zookeeper.exists(path, event -> onEvent(event, deleted)) == null) {
        throw new IllegalStateException("there is no " + path);
      }
      return deleted;
    } catch (KeeperException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static void onEvent(WatchedEvent event, CompletableFuture<Long> deleted) {
    if (event.getType() == EventType.NodeDeleted) {
      deleted.complete(System.nanoTime());
    }
  }

  /** Queues an entry of somebody else's, as Curator's mutex writes it, and returns its path. */
  public String queueForeignEntry(String lock) {
    String directory = pathOf(lock);
    String path = directory + "/_c_" + UUID.randomUUID() + "-lock-";
    try {
      if (zookeeper.exists(directory, false) == null) {
        zookeeper.create(directory, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
      }
      return zookeeper.create(
          path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
    } catch (KeeperException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Returns whether a node is there. */
  public boolean exists(String path) {
    try {
      return zookeeper.exists(path, false) != null;
    } catch (KeeperException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Deletes a node. */
  public void delete(String path) {
    try {
      zookeeper.delete(path, -1);
    } catch (KeeperException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Returns the names of the nodes below another; none if that is not there. */
  public List<String> children(String path) {
    try {
      return zookeeper.getChildren(path, false);
    } catch (KeeperException.NoNodeException e) {
      return List.of();
    } catch (KeeperException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    try {
      zookeeper.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
