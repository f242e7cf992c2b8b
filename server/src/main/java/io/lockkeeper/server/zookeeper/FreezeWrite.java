package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.RetriedChange;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.FreezeRecord;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/**
 * Freezes a prefix, or replaces its record. Each time the version of the parent rises, so that
 * whoever thaws what it has read can tell that nothing was frozen since.
 */
final class FreezeWrite extends RetriedChange {

  private final StoreEffect.SetFreeze effect;
  private final String path;
  private final byte[] data;
  private boolean exists;

  FreezeWrite(
      StoreContext context,
      Supplier<Optional<Handle>> connection,
      Runnable onOver,
      StoreEffect.SetFreeze effect) {
    super(context, connection, onOver);
    this.effect = effect;
    path = context.paths().freeze(effect.freeze().prefix());
    data = FreezeRecord.write(effect.freeze());
  }

  @Override
  protected void attempt(Handle handle) {
    List<Op> operations =
        List.of(
            Op.setData(paths().freezes(), new byte[0], -1),
            exists
                ? Op.setData(path, data, -1)
                : Op.create(path, data, paths().acl(), CreateMode.PERSISTENT));
    multi(handle, operations, this::onWritten);
  }

  private void onWritten(MultiReply reply) {
    if (reply instanceof MultiReply.Committed) {
      finish(() -> tell(new FreezeEvent.Answered(effect.number(), FreezeEvent.Outcome.DONE)));
    } else if (reply instanceof MultiReply.Culprit culprit) {
      onCulprit(culprit.code());
    } else if (reply instanceof MultiReply.Whole whole) {
      onError(whole.code());
    }
  }

  private void onCulprit(int code) {
    if (code == Code.NODEEXISTS.intValue()) {
      exists = true;
      again();
    } else if (code == Code.NONODE.intValue()) {
      // Thawed meanwhile, or the parent is being made again.
      exists = false;
      later();
    } else {
      onError(code);
    }
  }

  @Override
  protected void tellFailed() {
    tell(new FreezeEvent.Answered(effect.number(), FreezeEvent.Outcome.FAILED));
  }
}
