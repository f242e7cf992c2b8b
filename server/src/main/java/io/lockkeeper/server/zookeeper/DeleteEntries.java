package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.StoreEvent;
import io.lockkeeper.server.core.StoreEvent.EntriesDeleted;
import io.lockkeeper.server.zookeeper.Transaction.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;

/** Deletes entries of one acquisition until that is certain. Never refused. */
final class DeleteEntries extends Write {

  private final UUID id;
  private final boolean answered;
  private final List<String> left;
  private final int count;

  /** Deletes {@code paths}; says so at the end if {@code answered}. */
  DeleteEntries(UUID id, List<String> paths, boolean answered) {
    this.id = id;
    this.answered = answered;
    left = new ArrayList<>(paths);
    count = paths.size();
  }

  @Override
  int bytes() {
    return left.stream().mapToInt(path -> path.length() + CreateEntries.OPERATION_BYTES).sum();
  }

  @Override
  int operations() {
    return left.size();
  }

  @Override
  void addTo(Transaction transaction) {
    for (int i = 0; i < left.size(); i++) {
      transaction.delete(this, i, left.get(i));
    }
  }

  @Override
  Optional<StoreEvent> done(List<OpResult> subjects) {
    return doneAlready();
  }

  @Override
  Mend mend(Step step, int code) {
    if (code != Code.NONODE.intValue()) {
      return Mend.LATER;
    }
    left.remove(step.part());
    return left.isEmpty() ? Mend.DONE : Mend.AGAIN;
  }

  @Override
  Optional<StoreEvent> doneAlready() {
    return answered ? Optional.of(new EntriesDeleted(id)) : Optional.empty();
  }

  @Override
  Optional<StoreEvent> refused(String message) {
    return Optional.empty();
  }

  @Override
  int owned() {
    return -count;
  }
}
