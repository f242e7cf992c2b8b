package io.lockkeeper.server.zookeeper.commit;

import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.record.Directories;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.CreateOptions;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.ACL;

/**
 * One fenced transaction as it is put together: the check of the session's claim, then the
 * operations of whole writes, each operation knowing whose it is.
 */
public final class Transaction {

  /** What an operation does for its write. */
  enum Role {
    /** Creates the directory of a lock. */
    DIRECTORY,
    /** Checks that the entry is there beside which another is placed. */
    ANCHOR,
    /** Creates the guard of an entry. */
    GUARD,
    /** Creates or deletes what the write is about. */
    SUBJECT
  }

  /**
   * One operation.
   *
   * @param write whose
   * @param role what it does
   * @param part which part of the write, counted from zero
   */
  record WritePart(Write write, Role role, int part) {}

  private final StorePaths paths;
  private final Directories directories;
  private final List<ACL> acl;
  private final CreateOptions queued;
  private final CreateOptions placed;
  private final List<Op> ops = new ArrayList<>();
  private final List<WritePart> steps = new ArrayList<>();
  private final List<Write> writes = new ArrayList<>();
  private final Map<LockName, Integer> entriesPerLock = new HashMap<>();
  private final Map<LockName, Integer> directoriesAdded = new HashMap<>();
  private int bytes;
  private long leftAtNanos;
  private long leftAtZxid;

  Transaction(StorePaths paths, Directories directories, Op fence) {
    this.paths = paths;
    this.directories = directories;
    acl = paths.acl();
    // Creations with options answer with the Stat, and those of containers: others do not.
    queued = CreateOptions.newBuilder(acl, CreateMode.EPHEMERAL_SEQUENTIAL).build();
    placed = CreateOptions.newBuilder(acl, CreateMode.EPHEMERAL).build();
    ops.add(fence);
  }

  /** Adds all operations of a write. */
  void add(Write write) {
    writes.add(write);
    bytes += write.bytes();
    write.addTo(this);
  }

  /** Adds the creation of a lock's directory, where that is not known to exist. */
  void needDirectory(Write write, int part, LockName lock) {
    if (!directories.contains(lock) && directoriesAdded.putIfAbsent(lock, ops.size()) == null) {
      put(
          Op.create(paths.directory(lock), new byte[0], acl, CreateMode.CONTAINER),
          new WritePart(write, Role.DIRECTORY, part));
    }
  }

  /** Returns the index of the next entry that is created in a lock. */
  int nextIndex(LockName lock) {
    return entriesPerLock.merge(lock, 1, Integer::sum) - 1;
  }

  /** Adds the creation of an entry at the end of its queue. */
  void createQueued(Write write, int part, String prefix, byte[] data) {
    put(Op.create(prefix, data, queued), new WritePart(write, Role.SUBJECT, part));
  }

  /** Adds the creation of an entry under a name of its own, as long as {@code anchor} exists. */
  void createPlaced(Write write, int part, String anchor, String path, byte[] data) {
    put(Op.check(anchor, -1), new WritePart(write, Role.ANCHOR, part));
    put(Op.create(path, data, placed), new WritePart(write, Role.SUBJECT, part));
  }

  /** Adds the creation of a guard. */
  void guard(Write write, int part, String path) {
    put(
        Op.create(path, new byte[0], acl, CreateMode.PERSISTENT),
        new WritePart(write, Role.GUARD, part));
  }

  /** Adds the creation of an ephemeral node. */
  void createEphemeral(Write write, String path, byte[] data) {
    put(Op.create(path, data, acl, CreateMode.EPHEMERAL), new WritePart(write, Role.SUBJECT, 0));
  }

  /** Adds a deletion. */
  void delete(Write write, int part, String path) {
    put(Op.delete(path, -1), new WritePart(write, Role.SUBJECT, part));
  }

  private void put(Op op, WritePart step) {
    ops.add(op);
    steps.add(step);
  }

  /** It is sent now, when this was the highest zxid. */
  void leaves(long nowNanos, long highestZxid) {
    leftAtNanos = nowNanos;
    leftAtZxid = highestZxid;
  }

  /** Returns the highest zxid when it was sent; meaningful once it was. */
  long leftAtZxid() {
    return leftAtZxid;
  }

  /** Returns when it was sent; meaningful once it was. */
  long leftAtNanos() {
    return leftAtNanos;
  }

  boolean isEmpty() {
    return writes.isEmpty();
  }

  int bytes() {
    return bytes;
  }

  public int size() {
    return ops.size();
  }

  public List<Op> ops() {
    return Collections.unmodifiableList(ops);
  }

  List<Write> writes() {
    return Collections.unmodifiableList(writes);
  }

  /** Returns whose the operation at {@code index} is; the fence at zero is nobody's. */
  WritePart step(int index) {
    return steps.get(index - 1);
  }

  /** Returns the path of the operation at {@code index}. */
  String path(int index) {
    return ops.get(index).getPath();
  }

  /** Gives each write, in their order, the results of what it is about, by part. */
  void answer(List<OpResult> results, BiConsumer<Write, List<OpResult>> answer) {
    int next = 0;
    for (Write write : writes) {
      List<OpResult> own = new ArrayList<>(write.operations());
      while (next < steps.size() && steps.get(next).write() == write) {
        if (steps.get(next).role() == Role.SUBJECT) {
          own.add(results.get(next + 1));
        }
        next++;
      }
      answer.accept(write, own);
    }
  }

  /** Remembers the directories that the transaction has created, as {@code results} tell. */
  void onCommitted(List<OpResult> results) {
    directoriesAdded.forEach(
        (lock, index) ->
            directories.made(lock, MultiReply.created(results.get(index)).getStat().getCzxid()));
  }
}
