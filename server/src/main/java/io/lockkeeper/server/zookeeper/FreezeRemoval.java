package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.client.RetriedChange;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;

/** Takes a freeze back, whatever its record says. */
final class FreezeRemoval extends RetriedChange {

  private final StoreEffect.RemoveFreeze effect;
  private boolean mayBeRemoved;

  FreezeRemoval(
      StoreContext context,
      Supplier<Optional<Handle>> connection,
      Runnable onOver,
      StoreEffect.RemoveFreeze effect) {
    super(context, connection, onOver);
    this.effect = effect;
  }

  @Override
  protected void attempt(Handle handle) {
    handle.delete(
        paths().freeze(effect.prefix()), -1, (rc, at, ctx) -> then(() -> onDeleted(rc)), null);
  }

  private void onDeleted(int rc) {
    if (rc == Code.OK.intValue()) {
      answer(FreezeEvent.Outcome.DONE);
    } else if (rc == Code.NONODE.intValue()) {
      answer(mayBeRemoved ? FreezeEvent.Outcome.DONE : FreezeEvent.Outcome.NOT_FROZEN);
    } else {
      mayBeRemoved |= ResultCode.of(rc) == ResultCode.IN_DOUBT;
      onError(rc);
    }
  }

  private void answer(FreezeEvent.Outcome outcome) {
    finish(() -> tell(new FreezeEvent.Answered(effect.number(), outcome)));
  }

  @Override
  protected void tellFailed() {
    tell(new FreezeEvent.Answered(effect.number(), FreezeEvent.Outcome.FAILED));
  }
}
