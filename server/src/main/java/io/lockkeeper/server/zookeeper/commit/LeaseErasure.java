package io.lockkeeper.server.zookeeper.commit;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.LeaseErased;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.commit.Transaction.WritePart;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;

/** Deletes a lease's record until that is certain. Never refused. */
public final class LeaseErasure extends Write {

  private final StoreEffect.EraseLease effect;
  private final String path;

  public LeaseErasure(StorePaths paths, StoreEffect.EraseLease effect) {
    this.effect = effect;
    path = paths.lease(effect.lease());
  }

  String path() {
    return path;
  }

  @Override
  int bytes() {
    return path.length() + EntryCreation.OPERATION_BYTES;
  }

  @Override
  int operations() {
    return 1;
  }

  @Override
  void addTo(Transaction transaction) {
    transaction.delete(this, 0, path);
  }

  @Override
  Optional<StoreEvent> done(List<OpResult> subjects) {
    return doneAlready();
  }

  @Override
  Mend mend(WritePart step, int code) {
    if (code == Code.NONODE.intValue()) {
      return Mend.DONE;
    }
    return ResultCode.of(code) == ResultCode.REFUSED ? Mend.BLOCKED : Mend.LATER;
  }

  @Override
  Optional<StoreEvent> doneAlready() {
    return Optional.of(new LeaseErased(effect.session(), effect.lease()));
  }

  @Override
  Optional<StoreEvent> refused(String message, boolean passing) {
    return Optional.empty();
  }

  @Override
  int owned() {
    return -1;
  }
}
