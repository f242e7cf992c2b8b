package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.api.ShardEvent;
import io.lockkeeper.server.core.api.ShardEvent.Outcome;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.shard.ShardRecord;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.ShardsData;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** Replaces the table of shards, if it is the one that is expected. */
final class ShardsWrite extends RetriedChange {

  private final StoreEffect.SetShards effect;

  ShardsWrite(
      StoreContext context,
      Supplier<Optional<Handle>> connection,
      Runnable onOver,
      StoreEffect.SetShards effect) {
    super(context, connection, onOver);
    this.effect = effect;
  }

  @Override
  void attempt(Handle handle) {
    read(
        handle,
        paths().shards(),
        (rc, node) -> node.ifPresentOrElse(found -> replace(handle, found), () -> onUnread(rc)));
  }

  private void onUnread(int rc) {
    if (rc == Code.NONODE.intValue()) {
      // It is being made again.
      later();
    } else {
      onError(rc);
    }
  }

  private void replace(Handle handle, NodeReader.Node node) {
    Optional<ShardRecord> there = ShardsData.read(node.data());
    if (there.filter(effect.record()::equals).isPresent()) {
      // An attempt of ours whose answer was lost.
      answer(Outcome.DONE, node.stat().getMzxid());
    } else if (there.map(record -> record.table().version()).orElse(-1L)
        != effect.expectedVersion()) {
      answer(Outcome.CHANGED, 0);
    } else {
      handle.setData(
          paths().shards(),
          ShardsData.write(effect.record()),
          node.stat().getVersion(),
          (rc, path, ctx, stat) -> then(() -> onWritten(rc, stat)),
          null);
    }
  }

  private void onWritten(int rc, @Nullable Stat stat) {
    if (rc == Code.OK.intValue() && stat != null) {
      answer(Outcome.DONE, stat.getMzxid());
    } else if (rc == Code.BADVERSION.intValue()) {
      again();
    } else {
      onError(rc);
    }
  }

  private void answer(Outcome outcome, long zxid) {
    finish(() -> tell(new ShardEvent.Answered(effect.number(), outcome, zxid)));
  }

  @Override
  void tellFailed() {
    tell(new ShardEvent.Answered(effect.number(), Outcome.FAILED, 0));
  }
}
