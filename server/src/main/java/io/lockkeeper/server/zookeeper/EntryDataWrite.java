package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.UpdateEvent.EntryUpdateAnswered;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.EntryUpdate.Outcome;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.client.RetriedChange;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.UpdatedEntryData;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Changes one entry: reads it, and writes it back if nobody else has written meanwhile; otherwise
 * reads again.
 */
final class EntryDataWrite extends RetriedChange {

  private final String path;
  private final StoreEffect.UpdateEntry effect;
  private boolean mayBeRemoved;

  EntryDataWrite(
      StoreContext context,
      Supplier<Optional<Handle>> connection,
      Runnable onOver,
      StoreEffect.UpdateEntry effect) {
    super(context, connection, onOver);
    this.effect = effect;
    path = context.paths().entry(effect.lock(), effect.entry().text());
  }

  @Override
  protected void attempt(Handle handle) {
    if (effect.update() instanceof EntryUpdate.Remove) {
      handle.delete(path, -1, (rc, at, ctx) -> then(() -> onDeleted(rc)), null);
    } else {
      read(
          handle,
          path,
          (rc, node) ->
              node.ifPresentOrElse(found -> change(handle, found), () -> onUnread(handle, rc)));
    }
  }

  private void change(Handle handle, NodeReader.Node read) {
    Optional<byte[]> changed = UpdatedEntryData.of(read.data(), effect.update());
    if (changed.isEmpty()) {
      finish(Outcome.UNREADABLE);
      return;
    }
    if (Arrays.equals(read.data(), changed.get())) {
      finish(Outcome.DONE);
      return;
    }
    handle.setData(
        path,
        changed.get(),
        read.stat().getVersion(),
        (rc, at, ctx, stat) -> then(() -> onWritten(rc)),
        null);
  }

  private void onWritten(int rc) {
    if (rc == Code.OK.intValue()) {
      finish(Outcome.DONE);
    } else if (rc == Code.NONODE.intValue()) {
      finish(Outcome.GONE);
    } else if (rc == Code.BADVERSION.intValue()) {
      again();
    } else {
      onError(rc);
    }
  }

  private void onUnread(Handle handle, int rc) {
    if (rc == Code.NONODE.intValue()) {
      // The server that was read from may not have heard of the entry yet.
      check(handle, path, this::onChecked);
    } else {
      onError(rc);
    }
  }

  private void onChecked(MultiReply reply) {
    if (reply instanceof MultiReply.Committed) {
      again();
    } else if (reply instanceof MultiReply.Culprit culprit) {
      onWritten(culprit.code());
    } else {
      later();
    }
  }

  private void onDeleted(int rc) {
    if (rc == Code.OK.intValue()) {
      finish(Outcome.DONE);
    } else if (rc == Code.NONODE.intValue()) {
      finish(mayBeRemoved ? Outcome.DONE : Outcome.GONE);
    } else {
      mayBeRemoved |= ResultCode.of(rc) == ResultCode.IN_DOUBT;
      onError(rc);
    }
  }

  private void finish(Outcome outcome) {
    finish(() -> tell(new EntryUpdateAnswered(effect.number(), outcome)));
  }

  @Override
  protected void tellFailed() {
    tell(new EntryUpdateAnswered(effect.number(), Outcome.FAILED));
  }
}
