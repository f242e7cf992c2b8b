package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.EntryTerms;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.testing.PhaseCosts;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.commit.EntryDeletion;
import io.lockkeeper.server.zookeeper.commit.GroupCommit;
import io.lockkeeper.server.zookeeper.commit.Transaction;
import io.lockkeeper.server.zookeeper.mirror.MirrorFeed;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CheckResult;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.OpResult.DeleteResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.Stat;

/**
 * What a lock costs the store, without ZooKeeper's client: the transactions of an acquire and a
 * release put together and answered, and the watch's events read, over a thousand locks on one
 * thread. Prints the time and the bytes allocated by each. No test: run {@link #main}.
 */
public final class StoreCost implements GroupCommit.Lane {

  private static final int LOCKS = 1_000;
  private static final int WARM_UP_ROUNDS = 300;
  private static final int ROUNDS = 300;

  /** One thing that the store does in the life of an acquisition. */
  private enum Phase {
    CREATE,
    CREATED,
    APPEARED,
    DELETE,
    DELETED,
    VANISHED
  }

  private final List<StoreEvent> events = new ArrayList<>();
  private final StoreContext context = Asked.context("127.0.0.1:1", events::add);
  private final StorePaths paths = context.paths();
  private final GroupCommit commit = new GroupCommit(this, context);
  private final MirrorFeed mirror = new MirrorFeed(context);
  private final Deque<Transaction> sent = new ArrayDeque<>();
  private final PhaseCosts<Phase> costs = new PhaseCosts<>(Phase.class);
  private long zxid = 0x1_0000_0000L;
  private final Random random = new Random(1);
  private int sequence;

  private StoreCost() {
    commit.open();
  }

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
    throw new IllegalStateException("nothing fails here");
  }

  @Override
  public void onDoubt() {
    throw new IllegalStateException("nothing is in doubt here");
  }

  @Override
  public void onLayoutMissing() {
    throw new IllegalStateException("nothing is missing here");
  }

  /** Prints the cost of each phase, and of all of them together. */
  public static void main(String[] args) throws InterruptedException {
    StoreCost driver = new StoreCost();
    for (int round = 0; round < WARM_UP_ROUNDS; round++) {
      driver.round();
    }
    driver.costs.clear();
    for (int round = 0; round < ROUNDS; round++) {
      driver.round();
    }
    driver.costs.print((double) LOCKS * ROUNDS);
    driver.context.executor().stop(1_000);
  }

  private void round() {
    List<EntryDetails> details = new ArrayList<>();
    List<PlannedEntry> planned = new ArrayList<>();
    for (int i = 0; i < LOCKS; i++) {
      details.add(details(i));
      LockName lock = new LockName("bench/own-" + i);
      planned.add(new PlannedEntry(lock, MutexKind.EXCLUSIVE, Optional.empty()));
    }
    events.clear();
    costs.measure(
        Phase.CREATE,
        () -> {
          for (int i = 0; i < LOCKS; i++) {
            UUID id = new UUID(random.nextLong(), random.nextLong());
            paths.pathBytes(planned.get(i).lock(), MutexKind.EXCLUSIVE);
            commit.add(Asked.creation(context, id, List.of(planned.get(i)), details.get(i), 0));
          }
        });
    answerAll(Phase.CREATED);
    List<CreatedEntry> created =
        events.stream().flatMap(e -> ((EntriesCreated) e).entries().stream()).toList();
    see(Phase.APPEARED, created, EventType.NodeCreated);
    costs.measure(
        Phase.DELETE,
        () -> {
          for (CreatedEntry entry : created) {
            UUID id = entry.name().id().orElseThrow();
            EntryRef ref = new EntryRef(entry.lock(), entry.name().text(), Optional.empty());
            commit.add(EntryDeletion.of(paths, id, List.of(ref)));
          }
        });
    answerAll(Phase.DELETED);
    see(Phase.VANISHED, created, EventType.NodeDeleted);
    if (events.size() != 4 * LOCKS) {
      throw new IllegalStateException("events are missing: " + events.size());
    }
  }

  private static EntryDetails details(int i) {
    return new EntryDetails(
        "0123456789abcdef0123456789" + (100_000 + i),
        UUID.randomUUID().toString(),
        "thread-" + i,
        "tester",
        Map.of(),
        false,
        true,
        Optional.empty(),
        Optional.empty(),
        new EntryTerms(
            1, Optional.of(Duration.ofSeconds(30)), Optional.empty(), Duration.ZERO, false));
  }

  /** Answers transactions until none is left; what ZooKeeper answers is made beforehand. */
  private void answerAll(Phase phase) {
    while (!sent.isEmpty()) {
      Transaction transaction = sent.remove();
      List<OpResult> results = new ArrayList<>();
      for (Op op : transaction.ops()) {
        results.add(
            switch (op.getType()) {
              case OpCode.check -> new CheckResult();
              case OpCode.delete -> new DeleteResult();
              default -> new CreateResult(op.getPath() + EntryName.suffix(sequence++), stat());
            });
      }
      costs.measure(
          phase, () -> commit.onReply(transaction, MultiReply.of(0, results, transaction.size())));
    }
  }

  private Stat stat() {
    Stat stat = new Stat();
    stat.setCzxid(++zxid);
    return stat;
  }

  private void see(Phase phase, List<CreatedEntry> entries, EventType type) {
    List<WatchedEvent> seen = new ArrayList<>();
    for (CreatedEntry entry : entries) {
      String path = paths.entry(entry.lock(), entry.name().text());
      seen.add(new WatchedEvent(type, KeeperState.SyncConnected, path, ++zxid));
    }
    costs.measure(phase, () -> seen.forEach(mirror::onNode));
  }
}
