package io.lockkeeper.server.zookeeper.commit;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.Directories;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CheckResult;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.OpResult.DeleteResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.Stat;

/** A group commit whose transactions a test answers. */
abstract class CommitBench implements GroupCommit.Lane {

  static final SessionKey SESSION = new SessionKey(1);
  static final LockName LOCK = new LockName("a");
  static final EntryDetails DETAILS = Asked.DETAILS;

  final List<StoreEvent> events = new ArrayList<>();
  final List<String> unusable = new ArrayList<>();
  final StoreContext context = Asked.context("127.0.0.1:1", events::add, unusable::add);
  final StorePaths paths = context.paths();
  final Directories directories = context.directories();
  final GroupCommit commit = new GroupCommit(this, context);
  final Deque<Transaction> sent = new ArrayDeque<>();
  long zxid = 77;
  boolean fenceFailed;
  boolean doubt;
  int layoutMissing;

  @Override
  public void send(Transaction transaction) {
    sent.add(transaction);
  }

  @Override
  public Op fence() {
    return Op.check("/claim", 0);
  }

  @Override
  public void onFenceFailed() {
    fenceFailed = true;
    commit.end();
  }

  @Override
  public void onDoubt() {
    doubt = true;
  }

  @Override
  public void onLayoutMissing() {
    layoutMissing++;
  }

  EntryCreation creation(UUID id, List<PlannedEntry> entries, int lockDelayMillis) {
    return Asked.creation(context, id, entries, DETAILS, lockDelayMillis);
  }

  LeaseRecording record(LeaseId lease) {
    return new LeaseRecording(paths, new StoreEffect.RecordLease(SESSION, lease, 1, "h", "00", ""));
  }

  LeaseErasure erasure(LeaseId lease) {
    return new LeaseErasure(paths, new StoreEffect.EraseLease(SESSION, lease));
  }

  UUID create(LockName lock) {
    UUID id = UUID.randomUUID();
    commit.add(creation(id, List.of(Asked.planned(lock)), 0));
    return id;
  }

  UUID delete(String entry) {
    UUID id = UUID.randomUUID();
    EntryRef ref = new EntryRef(LOCK, entry, Optional.empty());
    commit.add(EntryDeletion.of(paths, id, List.of(ref)));
    return id;
  }

  void succeed() {
    Transaction transaction = sent.remove();
    List<OpResult> results = new ArrayList<>();
    int sequence = 0;
    for (Op op : transaction.ops()) {
      results.add(
          switch (op.getType()) {
            case OpCode.check -> new CheckResult();
            case OpCode.delete -> new DeleteResult();
            default -> new CreateResult(String.format("%s%010d", op.getPath(), sequence++), stat());
          });
    }
    commit.onReply(transaction, MultiReply.of(0, results, transaction.size()));
  }

  Stat stat() {
    Stat stat = new Stat();
    stat.setCzxid(zxid++);
    return stat;
  }

  void fail(int index, Code code) {
    Transaction transaction = sent.remove();
    List<OpResult> results = new ArrayList<>();
    for (int i = 0; i < transaction.size(); i++) {
      Code own = i < index ? Code.OK : i == index ? code : Code.RUNTIMEINCONSISTENCY;
      results.add(new ErrorResult(own.intValue()));
    }
    commit.onReply(transaction, MultiReply.of(code.intValue(), results, transaction.size()));
  }

  void failWhole(Code code) {
    Transaction transaction = sent.remove();
    commit.onReply(transaction, MultiReply.of(code.intValue(), null, transaction.size()));
  }
}
