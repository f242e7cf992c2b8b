package io.lockkeeper.server.zookeeper.commit;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.EntriesRefused;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.PlannedEntry.Beside;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.commit.Transaction.WritePart;
import io.lockkeeper.server.zookeeper.record.Directories;
import io.lockkeeper.server.zookeeper.record.EntryData;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CreateResult;

/**
 * Creates the entries of one acquisition, and their guards if it has a lock delay, all of them in
 * one transaction.
 */
public final class EntryCreation extends Write {

  // What an operation takes on the wire beside its path and its data: header, access list, flags.
  static final int OPERATION_BYTES = 64;

  private final StorePaths paths;
  private final Directories directories;
  private final UUID id;
  private final List<PlannedEntry> entries;
  private final EntryData data;
  private final Optional<MarkerName.Guard> guard;
  private final int[] indexes;
  private Optional<String> problem = Optional.empty();

  public EntryCreation(
      StorePaths paths, Directories directories, StoreEffect.CreateEntries effect) {
    this.paths = paths;
    this.directories = directories;
    id = effect.id();
    entries = List.copyOf(effect.entries());
    data = EntryData.of(effect.details());
    guard =
        effect.lockDelayMillis() > 0
            ? Optional.of(
                MarkerName.Guard.of(
                    id, effect.lockDelayMillis(), effect.details().terms().guardAccount()))
            : Optional.empty();
    indexes = new int[entries.size()];
  }

  UUID id() {
    return id;
  }

  List<PlannedEntry> entries() {
    return entries;
  }

  /** Returns whether one of the entries is placed beside another. */
  boolean isPlaced() {
    for (PlannedEntry entry : entries) {
      if (entry.beside().isPresent()) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether one of the entries is placed beside one of these acquisitions. */
  boolean isBeside(Set<UUID> acquisitions) {
    return entries.stream()
        .flatMap(entry -> entry.beside().stream())
        .flatMap(beside -> beside.entry().id().stream())
        .anyMatch(acquisitions::contains);
  }

  /** Returns the paths of the entries without their sequence numbers. */
  List<String> prefixes() {
    return entries.stream().map(this::prefix).toList();
  }

  /** Returns the paths of the guards, none if there is no lock delay. */
  List<String> guards() {
    return guard.stream()
        .flatMap(g -> entries.stream().map(entry -> paths.marker(entry.lock(), g)))
        .toList();
  }

  private String prefix(PlannedEntry entry) {
    return paths.entryPrefix(entry.lock(), id, entry.mode());
  }

  @Override
  List<String> joined() {
    return entries.stream().map(entry -> paths.directory(entry.lock())).toList();
  }

  @Override
  int bytes() {
    int sum = 0;
    for (PlannedEntry entry : entries) {
      int path = paths.pathBytes(entry.lock(), entry.mode()) + OPERATION_BYTES;
      // One more for the directory, perhaps, or for the entry beside which it is placed.
      sum += (guard.isPresent() ? 3 : 2) * path + data.bytes();
    }
    return sum;
  }

  @Override
  int operations() {
    return (guard.isPresent() ? 3 : 2) * entries.size();
  }

  @Override
  void addTo(Transaction transaction) {
    for (int i = 0; i < entries.size(); i++) {
      PlannedEntry entry = entries.get(i);
      int index = transaction.nextIndex(entry.lock());
      indexes[i] = index;
      if (entry.beside().isPresent()) {
        place(transaction, i, entry.beside().get(), index);
      } else {
        transaction.needDirectory(this, i, entry.lock());
        byte[] own = data.with(index, i, Optional.empty());
        transaction.createQueued(this, i, prefix(entry), own);
      }
      if (guard.isPresent()) {
        String path = paths.marker(entry.lock(), guard.get());
        transaction.guard(this, i, path);
      }
    }
  }

  private void place(Transaction transaction, int part, Beside beside, int index) {
    PlannedEntry entry = entries.get(part);
    EntryName other = beside.entry();
    transaction.createPlaced(
        this,
        part,
        paths.entry(entry.lock(), other.text()),
        paths.entryAt(entry.lock(), id, entry.mode(), other.sequence()),
        data.with(index, part, Optional.of(beside.token())));
  }

  @Override
  Optional<StoreEvent> done(List<OpResult> subjects) {
    List<CreatedEntry> created = new ArrayList<>(entries.size());
    for (int i = 0; i < entries.size(); i++) {
      CreateResult result = MultiReply.created(subjects.get(i));
      created.add(created(i, result.getPath(), result.getStat().getCzxid(), indexes[i]));
    }
    return Optional.of(new EntriesCreated(id, List.copyOf(created)));
  }

  /** Returns the entry of part {@code part}, now that its path is known. */
  CreatedEntry created(int part, String path, long czxid, int index) {
    String name = path.substring(path.lastIndexOf('/') + 1);
    PlannedEntry entry = entries.get(part);
    return new CreatedEntry(entry.lock(), EntryName.of(name, id, entry.mode()), czxid, index);
  }

  @Override
  Mend mend(WritePart step, int code) {
    boolean missing = code == Code.NONODE.intValue();
    boolean exists = code == Code.NODEEXISTS.intValue();
    if (!missing && !exists) {
      return ResultCode.of(code) == ResultCode.RETRY ? Mend.LATER : Mend.REFUSE;
    }
    PlannedEntry entry = entries.get(step.part());
    return switch (step.role()) {
      case DIRECTORY -> mendDirectory(entry, exists);
      case ANCHOR -> refuseWithout(entry);
      case GUARD -> refuseGuarded(entry);
      case SUBJECT -> {
        if (missing) {
          // Reaped since we last heard of it: the directory goes into the next attempt.
          directories.doubt(entry.lock());
        }
        yield missing ? Mend.AGAIN : Mend.LOOK;
      }
    };
  }

  private Mend mendDirectory(PlannedEntry entry, boolean exists) {
    if (exists) {
      directories.add(entry.lock());
      return Mend.AGAIN;
    }
    // Even the locks path is gone: somebody wiped it. It is made again meanwhile.
    return Mend.LATER;
  }

  private Mend refuseWithout(PlannedEntry entry) {
    problem =
        Optional.of(
            "the entry of "
                + entry.lock()
                + " beside which another was to be placed does not exist any more");
    return Mend.REFUSE;
  }

  /**
   * A guard is created together with its entry, and goes before it unless somebody else removes the
   * entry. To create another beside the same guard would be wrong: whoever saw the first one go may
   * be about to take the guard away.
   */
  private Mend refuseGuarded(PlannedEntry entry) {
    problem =
        Optional.of(
            "somebody else removed the entry of "
                + entry.lock()
                + " while its creation was in doubt");
    return Mend.REFUSE;
  }

  @Override
  Optional<StoreEvent> doneAlready() {
    throw new IllegalStateException("entries are never done without their names");
  }

  @Override
  Optional<StoreEvent> refused(String message, boolean passing) {
    return Optional.of(new EntriesRefused(id, problem.orElse(message), passing));
  }

  @Override
  int owned() {
    return entries.size();
  }
}
