package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.RetriedChange;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/**
 * Takes a freeze back whose time is over, unless somebody has frozen the prefix anew. A node that
 * was deleted and made again has the same version, so the version of the parent is checked with it:
 * that rises with every freeze, see {@link FreezeWrite}.
 */
final class ThawByTime extends RetriedChange {

  private final StoreEffect.Thaw effect;
  private final String path;

  ThawByTime(
      StoreContext context,
      Supplier<Optional<Handle>> connection,
      Runnable onOver,
      StoreEffect.Thaw effect) {
    super(context, connection, onOver);
    this.effect = effect;
    path = context.paths().freeze(effect.prefix());
  }

  @Override
  protected void attempt(Handle handle) {
    read(
        handle,
        paths().freezes(),
        (rc, parent) ->
            parent.ifPresentOrElse(found -> readFreeze(handle, found), () -> onUnread(rc)));
  }

  private void readFreeze(Handle handle, NodeReader.Node parent) {
    read(
        handle,
        path,
        (rc, node) ->
            node.ifPresentOrElse(found -> thaw(handle, parent, found), () -> onUnread(rc)));
  }

  private void onUnread(int rc) {
    if (rc == Code.NONODE.intValue()) {
      over();
    } else {
      onError(rc);
    }
  }

  private void thaw(Handle handle, NodeReader.Node parent, NodeReader.Node node) {
    if (node.stat().getMzxid() != effect.zxid()) {
      over();
      return;
    }
    List<Op> operations =
        List.of(
            Op.check(paths().freezes(), parent.stat().getVersion()),
            Op.delete(path, node.stat().getVersion()));
    multi(handle, operations, this::onThawed);
  }

  private void onThawed(MultiReply reply) {
    if (reply instanceof MultiReply.Committed) {
      over();
    } else if (reply instanceof MultiReply.Whole whole) {
      onError(whole.code());
    } else if (reply instanceof MultiReply.Culprit culprit) {
      onCulprit(culprit.code());
    }
  }

  private void onCulprit(int code) {
    if (code == Code.BADVERSION.intValue() || code == Code.NONODE.intValue()) {
      // Something was frozen, or thawed, since it was read.
      later();
    } else {
      onError(code);
    }
  }

  private void over() {
    finish(() -> {});
  }

  /** Nobody waits for the answer: the core asks again while the freeze is seen. */
  @Override
  protected void tellFailed() {}
}
