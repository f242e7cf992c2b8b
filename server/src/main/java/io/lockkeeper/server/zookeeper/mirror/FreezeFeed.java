package io.lockkeeper.server.zookeeper.mirror;

import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.record.FreezeRecord;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;

/**
 * The frozen prefixes, told over the mirror's connection and so in ZooKeeper's order with the
 * queues' events. That a prefix is frozen is told as soon as its node is seen; what its record says
 * follows. Lives on the store's thread.
 */
final class FreezeFeed {

  /** No transaction: of a record that must not be read. */
  private static final long UNKNOWN = -1;

  private final StoreContext context;

  FreezeFeed(StoreContext context) {
    this.context = context;
  }

  /** Tells what has happened to a node below the freezes. */
  void onNode(Handle handle, EventType type, String path) {
    Optional<String> prefix = context.paths().frozenPrefix(path);
    if (prefix.isEmpty()) {
      ignore(path);
    } else if (type == EventType.NodeDeleted) {
      context.events().accept(new FreezeEvent.Vanished(prefix.get()));
    } else {
      if (type == EventType.NodeCreated) {
        context.events().accept(new FreezeEvent.Appeared(prefix.get()));
      }
      NodeReader.readOnce(context, handle, path, (rc, node) -> onRead(prefix.get(), rc, node));
    }
  }

  /** Where the connection is lost meanwhile, the next rebuild reads it. */
  private void onRead(String prefix, int rc, Optional<NodeReader.Node> node) {
    if (node.isPresent()) {
      tell(prefix, node.get());
    } else if (rc == Code.NOAUTH.intValue()) {
      Freeze unreadable = Freeze.unread(prefix, Freeze.UNREADABLE);
      context.events().accept(new FreezeEvent.Read(unreadable, UNKNOWN));
    }
  }

  private void tell(String prefix, NodeReader.Node node) {
    Freeze freeze = FreezeRecord.read(prefix, node.data());
    context.events().accept(new FreezeEvent.Read(freeze, node.stat().getMzxid()));
  }

  /** Reads all back as part of a rebuild. */
  void readAll(Handle handle, NodeReader reader) {
    String parent = context.paths().freezes();
    // Who may not be granted anything, nobody can tell where it cannot be listed.
    reader.list(
        parent,
        false,
        names ->
            names.ifPresentOrElse(
                listed -> onListed(handle, listed), () -> reader.fail(Code.NONODE.intValue())));
  }

  private void onListed(Handle handle, List<String> names) {
    Map<String, String> prefixes = new LinkedHashMap<>();
    for (String name : names) {
      String path = context.paths().freezes() + "/" + name;
      context
          .paths()
          .frozenPrefix(path)
          .ifPresentOrElse(prefix -> prefixes.put(prefix, path), () -> ignore(path));
    }
    context.events().accept(new FreezeEvent.Listed(prefixes.keySet()));
    // Not by the rebuild's reader, which fails as a whole where one node must not be read.
    prefixes.forEach(
        (prefix, path) ->
            NodeReader.readOnce(context, handle, path, (rc, node) -> onRead(prefix, rc, node)));
  }

  private void ignore(String path) {
    context.stats().add(StoreStats.StoreCount.NODES_IGNORED, 1);
    context.problems().foreign(path, "no prefix is frozen by it");
  }
}
