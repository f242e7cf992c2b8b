package io.lockkeeper.server.zookeeper;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that our transactions under way write, check or delete. What the watch tells of them
 * may wait for the answer that is on its heels: together they cost one turn instead of one each.
 *
 * <p>Nodes are known by their paths without the sequence number, or without as many characters at
 * the end. So two of them may be known alike: a node of somebody else that is taken for ours waits
 * as long as ours would, and one of ours that was forgotten with another's answer is told at once.
 * Neither does harm. Safe on any thread.
 */
final class OwnWrites {

  private final Set<String> underWay = ConcurrentHashMap.newKeySet();

  /**
   * Returns how the node at {@code path} is known. Where the counter is past its end and the number
   * negative, a node is known otherwise with its number than without: such events do not wait.
   */
  static String known(String path) {
    return path.substring(0, Math.max(0, path.length() - StorePaths.SEQUENCE_CHARS));
  }

  /**
   * A transaction leaves that writes {@code nodes}, each as it is {@link #known}. They are under
   * way until the callback that is returned, which calls {@code then}, has word of it, good or bad.
   */
  MultiCallback leaving(Collection<String> nodes, MultiCallback then) {
    underWay.addAll(nodes);
    return (rc, path, context, results) -> {
      nodes.forEach(underWay::remove);
      then.processResult(rc, path, context, results);
    };
  }

  /** Returns whether an answer will follow what is told of the node at {@code path}. */
  boolean concerns(@Nullable String path) {
    return path != null && !underWay.isEmpty() && underWay.contains(known(path));
  }
}
