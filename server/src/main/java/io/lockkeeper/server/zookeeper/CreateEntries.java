package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.LockStore.NewEntry;
import io.lockkeeper.server.core.EntryDetails;
import io.lockkeeper.server.core.EntryName;
import io.lockkeeper.server.core.StoreEvent;
import io.lockkeeper.server.core.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.StoreEvent.EntriesRefused;
import io.lockkeeper.server.zookeeper.Transaction.Role;
import io.lockkeeper.server.zookeeper.Transaction.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CreateResult;

/** Creates the entries of one acquisition, all of them in one transaction. */
final class CreateEntries extends Write.Create {

  // What an operation takes on the wire beside its path and its data: header, access list, flags.
  static final int OPERATION_BYTES = 64;

  private final StorePaths paths;
  private final Directories directories;
  private final UUID id;
  private final List<NewEntry> entries;
  private final EntryData data;
  private final List<Integer> indexes = new ArrayList<>();

  CreateEntries(
      StorePaths paths,
      Directories directories,
      UUID id,
      List<NewEntry> entries,
      EntryDetails details) {
    this.paths = paths;
    this.directories = directories;
    this.id = id;
    this.entries = List.copyOf(entries);
    data = EntryData.of(details);
  }

  UUID id() {
    return id;
  }

  List<NewEntry> entries() {
    return entries;
  }

  /** Returns the paths of the entries without their sequence numbers. */
  List<String> prefixes() {
    return entries.stream().map(e -> paths.entryPrefix(e.lock(), id, e.mode())).toList();
  }

  @Override
  byte[] data(int index) {
    return data.withIndex(index);
  }

  @Override
  int bytes() {
    int sum = 0;
    for (NewEntry entry : entries) {
      int path = paths.pathBytes(entry.lock(), entry.mode());
      // Twice the path: the directory's comes too, perhaps.
      sum += 2 * (path + OPERATION_BYTES) + data.bytes();
    }
    return sum;
  }

  @Override
  int operations() {
    return 2 * entries.size();
  }

  @Override
  void addTo(Transaction transaction) {
    indexes.clear();
    for (int i = 0; i < entries.size(); i++) {
      NewEntry entry = entries.get(i);
      String prefix = paths.entryPrefix(entry.lock(), id, entry.mode());
      indexes.add(transaction.createEntry(this, i, entry.lock(), prefix));
    }
  }

  @Override
  Optional<StoreEvent> done(List<OpResult> subjects) {
    List<CreatedEntry> created = new ArrayList<>();
    for (int i = 0; i < entries.size(); i++) {
      if (!(subjects.get(i) instanceof CreateResult result) || result.getStat() == null) {
        throw new IllegalStateException("a created entry came back without its Stat");
      }
      created.add(created(i, result.getPath(), result.getStat().getCzxid(), indexes.get(i)));
    }
    return Optional.of(new EntriesCreated(id, created));
  }

  /** Returns the entry of part {@code part}, now that its path is known. */
  CreatedEntry created(int part, String path, long czxid, int index) {
    String name = path.substring(path.lastIndexOf('/') + 1);
    EntryName parsed =
        EntryName.parse(name)
            .orElseThrow(() -> new IllegalStateException("not an entry's name: " + name));
    return new CreatedEntry(entries.get(part).lock(), parsed, czxid, index);
  }

  @Override
  Mend mend(Step step, int code) {
    boolean missing = code == Code.NONODE.intValue();
    boolean exists = code == Code.NODEEXISTS.intValue();
    var lock = entries.get(step.part()).lock();
    if (step.role() == Role.DIRECTORY) {
      if (exists) {
        directories.add(lock);
        return Mend.AGAIN;
      }
      // Even the locks path is gone: somebody wiped it. It is made again meanwhile.
      return missing ? Mend.LATER : general(code);
    }
    if (missing) {
      // Reaped since we last heard of it: the directory goes into the next attempt.
      directories.remove(lock);
      return Mend.AGAIN;
    }
    return exists ? Mend.LOOK : general(code);
  }

  private static Mend general(int code) {
    return Verdict.of(code) == Verdict.RETRY ? Mend.LATER : Mend.REFUSE;
  }

  @Override
  Optional<StoreEvent> doneAlready() {
    throw new IllegalStateException("entries are never done without their names");
  }

  @Override
  Optional<StoreEvent> refused(String message) {
    return Optional.of(new EntriesRefused(id, message));
  }

  @Override
  int owned() {
    return entries.size();
  }
}
