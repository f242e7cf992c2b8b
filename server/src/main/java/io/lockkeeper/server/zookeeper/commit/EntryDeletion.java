package io.lockkeeper.server.zookeeper.commit;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.EntriesDeleted;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.commit.Transaction.WritePart;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;

/** Deletes entries of one acquisition and their guards until that is certain. Never refused. */
public final class EntryDeletion extends Write {

  private final Optional<UUID> answered;
  private final Set<String> guards;
  private final List<String> left;
  private final int count;
  private final int entries;

  private EntryDeletion(
      Optional<UUID> answered, Collection<String> guards, List<String> nodes, int entries) {
    this.guards = Set.copyOf(guards);
    this.answered = answered;
    this.entries = entries;
    left = nodes;
    count = nodes.size();
  }

  /** Deletes the entries of an acquisition, and says so at the end. */
  public static EntryDeletion of(StorePaths paths, UUID id, List<EntryRef> refs) {
    List<String> nodes = new ArrayList<>(refs.size());
    List<String> guards = new ArrayList<>();
    for (EntryRef ref : refs) {
      // The guard first: whoever sees the entry vanish alone knows that its holder was lost.
      ref.guard().ifPresent(guard -> guards.add(paths.entry(ref.lock(), guard)));
      ref.guard().ifPresent(guard -> nodes.add(paths.entry(ref.lock(), guard)));
      nodes.add(paths.entry(ref.lock(), ref.entry()));
    }
    return new EntryDeletion(Optional.of(id), guards, nodes, refs.size());
  }

  /** Deletes what is left of a creation that was given up, and tells nobody. */
  static EntryDeletion remains(List<String> guards, List<String> entries) {
    List<String> nodes = new ArrayList<>(guards);
    nodes.addAll(entries);
    return new EntryDeletion(Optional.empty(), guards, nodes, entries.size());
  }

  @Override
  int bytes() {
    int sum = 0;
    for (String path : left) {
      sum += path.length() + EntryCreation.OPERATION_BYTES;
    }
    return sum;
  }

  @Override
  int operations() {
    return count;
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
  Mend mend(WritePart step, int code) {
    if (code == Code.NOTEMPTY.intValue() && guards.contains(left.get(step.part()))) {
      // Somebody has put something under the guard, and keeps it. The lock must not be kept by it:
      // the lock delay passes, as if the holder had been lost.
      left.remove(step.part());
      return left.isEmpty() ? Mend.DONE : Mend.AGAIN;
    }
    if (code != Code.NONODE.intValue()) {
      return ResultCode.of(code) == ResultCode.REFUSED ? Mend.BLOCKED : Mend.LATER;
    }
    left.remove(step.part());
    return left.isEmpty() ? Mend.DONE : Mend.AGAIN;
  }

  @Override
  Optional<StoreEvent> doneAlready() {
    return answered.map(EntriesDeleted::new);
  }

  @Override
  Optional<StoreEvent> refused(String message, boolean passing) {
    return Optional.empty();
  }

  @Override
  Optional<StoreEvent> blocked(String message) {
    return answered.map(id -> new StoreEvent.DeletionDelayed(id, message));
  }

  @Override
  int owned() {
    return -entries;
  }
}
