package io.lockkeeper.server.zookeeper.mirror;

import io.lockkeeper.server.core.api.ShardEvent;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.ShardsData;
import java.util.Optional;
import org.apache.zookeeper.KeeperException.Code;

/**
 * The table of shards, told over the mirror's connection and so in ZooKeeper's order with the
 * queues' events: that it has changed as soon as that is seen, what it says when it was read. Lives
 * on the store's thread.
 */
final class ShardFeed {

  private final StoreContext context;

  ShardFeed(StoreContext context) {
    this.context = context;
  }

  /** Tells that the node has changed, and what it says now. */
  void onNode(Handle handle) {
    context.events().accept(new ShardEvent.Changed());
    NodeReader.readOnce(context, handle, context.paths().shards(), this::onRead);
  }

  /** Where the connection is lost meanwhile, the next rebuild reads it. */
  private void onRead(int rc, Optional<NodeReader.Node> node) {
    if (node.isPresent()) {
      tell(node.get());
    } else if (rc == Code.NOAUTH.intValue()) {
      context.events().accept(new ShardEvent.Read(Optional.empty(), 0));
    }
  }

  private void tell(NodeReader.Node node) {
    long zxid = node.data().length == 0 ? 0 : node.stat().getMzxid();
    context.events().accept(new ShardEvent.Read(ShardsData.read(node.data()), zxid));
  }

  /** Reads it back as part of a rebuild, which cannot do without it. */
  void read(NodeReader reader) {
    reader.read(
        context.paths().shards(),
        node -> node.ifPresentOrElse(this::tell, () -> reader.fail(Code.NONODE.intValue())));
  }
}
