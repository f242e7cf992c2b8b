package io.lockkeeper.server.zookeeper.commit;

import io.lockkeeper.server.coordinator.serial.OncePerBatch;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.zookeeper.client.Fence;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreExecutor;
import io.lockkeeper.server.zookeeper.client.StoreProblems;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.commit.Transaction.WritePart;
import io.lockkeeper.server.zookeeper.record.Directories;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/**
 * The writes of one lock session on their way into transactions. Idle, a write leaves at once;
 * otherwise writes gather until {@link InflightWindow} lets the next one leave.
 *
 * <p>A failed transaction names only its first failing operation: the write that it belongs to is
 * mended or answered, the others go again, ahead of what has gathered since. Lives on the store's
 * thread.
 */
public final class GroupCommit {

  private static final int MAX_FAILURES = 50;
  private static final long LATER_MILLIS = 200;
  private static final long MAX_LATER_MILLIS = 5_000;
  private static final int MAX_DOUBLED = 8;

  /** What a batch of writes needs of its session. */
  public interface Lane {
    /** Sends a transaction; {@link #onReply} follows. */
    void send(Transaction transaction);

    /** Returns the operation that fences a transaction. */
    Op fence();

    /** The fence has failed: somebody else owns the session. */
    void onFenceFailed();

    /** The outcome of some writes is in doubt: nothing is sent until {@link #open}. */
    void onDoubt();

    /** Something of the layout does not exist, or is closed to us: it must be checked. */
    void onLayoutMissing();
  }

  private final Lane lane;
  private final StoreContext context;
  private final StorePaths paths;
  private final Directories directories;
  private final StoreExecutor executor;
  private final StoreStats stats;
  private final Consumer<StoreEvent> events;
  private final StoreProblems problems;
  private final WaitingWrites waiting = new WaitingWrites();
  private final List<Write> inDoubt = new ArrayList<>();
  // What one batch brings goes together.
  private final OncePerBatch pump = new OncePerBatch(this::pump);
  private final InflightWindow inflight = new InflightWindow();
  private final PlacementOrder placements = new PlacementOrder();
  private int delayed;
  private int owned;
  private boolean open;
  private boolean ended;

  public GroupCommit(Lane lane, StoreContext context) {
    this.lane = lane;
    this.context = context;
    paths = context.paths();
    directories = context.directories();
    executor = context.executor();
    stats = context.stats();
    events = context.events();
    problems = context.problems();
  }

  /** Takes a write. */
  public void add(Write write) {
    if (ended) {
      return;
    }
    Optional<StoreEvent> refusal =
        waiting
            .problemOf(write)
            .flatMap(problem -> write.refused(problem, false))
            .or(() -> unknown(write));
    if (refusal.isPresent()) {
      events.accept(refusal.get());
      return;
    }
    if (!placements.holds(write)) {
      waiting.addLast(write);
      pump.soon();
    }
  }

  /** Who is ahead in a queue that we may not list, nobody can tell. */
  private Optional<StoreEvent> unknown(Write write) {
    if (!problems.hasUnlisted()) {
      return Optional.empty();
    }
    return write.joined().stream()
        .filter(problems::isUnlisted)
        .findFirst()
        .flatMap(
            directory -> {
              problems.unwritable(directory, directory, Code.NOAUTH.intValue());
              return write.refused(
                  "ZooKeeper does not let us list the queue in " + directory, true);
            });
  }

  /**
   * Lets transactions out. What is still in doubt was looked up and not found, or can be done again
   * without harm: it goes first.
   */
  public void open() {
    waiting.addFirst(inDoubt);
    inDoubt.clear();
    open = true;
    pump();
  }

  /** Counts nodes that the session owned before it became ours. */
  public void inherit(int nodes) {
    owned += nodes;
  }

  /** Keeps everything back. */
  public void hold() {
    open = false;
  }

  /** Forgets everything: the session has ended, and that answers all writes. */
  public void end() {
    ended = true;
    open = false;
    waiting.clear();
    inDoubt.clear();
    placements.clear();
  }

  public int inFlight() {
    return inflight.transactions();
  }

  /** Returns whether the session owns nothing and nothing is under way that could change that. */
  public boolean ownsNothing() {
    return owned == 0 && inFlight() == 0 && delayed == 0 && waiting.isEmpty() && inDoubt.isEmpty();
  }

  /** Returns how many writes wait for a while before they are tried again. */
  int delayed() {
    return delayed;
  }

  /** Returns how many writes wait for a place in a transaction. */
  int waiting() {
    return waiting.size();
  }

  List<Write> inDoubt() {
    return List.copyOf(inDoubt);
  }

  private void pump() {
    while (open && inflight.allows(waiting.size())) {
      Transaction next = new Transaction(paths, directories, lane.fence());
      waiting.fill(next);
      inflight.left(next.writes().size());
      next.leaves(System.nanoTime(), context.highestZxid().get());
      lane.send(next);
    }
  }

  /**
   * Takes the reply to a transaction; returns whether it was committed, and so proves the session
   * alive.
   */
  public boolean onReply(Transaction transaction, MultiReply reply) {
    inflight.back();
    if (ended) {
      return false;
    }
    if (reply instanceof MultiReply.Committed committed) {
      onCommitted(transaction, committed);
    } else if (reply instanceof MultiReply.Culprit culprit) {
      onCulprit(transaction, culprit);
    } else if (reply instanceof MultiReply.Whole whole) {
      onWhole(transaction, whole);
    }
    pump.soon();
    return reply instanceof MultiReply.Committed;
  }

  private void onCommitted(Transaction transaction, MultiReply.Committed committed) {
    OptionalLong zxid = committed.zxid();
    if (zxid.isPresent() && !context.isLater(transaction.leftAtZxid(), zxid.getAsLong())) {
      // Its tokens would repeat. No client is notified: the process ends.
      end();
      return;
    }
    stats.committed(transaction.writes().size(), System.nanoTime() - transaction.leftAtNanos());
    transaction.onCommitted(committed.results());
    if (problems.hasUnwritable()) {
      transaction.ops().forEach(op -> problems.written(parent(op.getPath())));
    }
    transaction.writes().forEach(write -> owned += write.owned());
    transaction.answer(committed.results(), (write, own) -> answer(write, write.done(own)));
  }

  private void answer(Write write, Optional<StoreEvent> event) {
    event.ifPresent(this::tell);
    placements.answered(write).forEach(waiting::addLast);
  }

  private void tell(StoreEvent event) {
    if (event instanceof StoreEvent.EntriesCreated created && !created.entries().isEmpty()) {
      stats.lag().answered(created.entries().get(0).czxid());
    }
    events.accept(event);
  }

  private void onCulprit(Transaction transaction, MultiReply.Culprit culprit) {
    stats.add(StoreStats.StoreCount.TRANSACTIONS_REFUSED, 1);
    if (culprit.index() == 0) {
      onFence(transaction, culprit.code());
      return;
    }
    WritePart step = transaction.step(culprit.index());
    Write write = step.write();
    Write.Mend mend = write.mend(step, culprit.code());
    // Each of its directories may be learned of by one failure; and what may exist has to be looked
    // for.
    boolean hopeless =
        mend != Write.Mend.DONE
            && mend != Write.Mend.LOOK
            && mend != Write.Mend.BLOCKED
            && write.countFailure() > MAX_FAILURES + 2 * write.operations();
    if (hopeless) {
      mend = Write.Mend.REFUSE;
    }
    List<Write> again = new ArrayList<>(transaction.writes());
    if (mend != Write.Mend.AGAIN) {
      again.remove(write);
    }
    waiting.addFirst(again);
    switch (mend) {
      case AGAIN -> {
        // It went again in its place among the others.
      }
      case LATER -> later(write, LATER_MILLIS);
      // What is gone already may never have been counted: to count too much is safe, since only
      // what owns nothing is closed.
      case DONE -> answer(write, write.doneAlready());
      case REFUSE -> refuse(write, transaction.path(culprit.index()), culprit.code());
      case BLOCKED -> block(write, transaction.path(culprit.index()), culprit.code());
      case LOOK -> doubt(List.of(write));
    }
    boolean missing = mend == Write.Mend.LATER && culprit.code() == Code.NONODE.intValue();
    boolean closed =
        culprit.code() == Code.NOAUTH.intValue()
            && paths.parents().contains(parent(transaction.path(culprit.index())));
    if (missing || closed) {
      lane.onLayoutMissing();
    }
  }

  private void onFence(Transaction transaction, int code) {
    if (Fence.isBroken(code)) {
      lane.onFenceFailed();
    } else {
      onWhole(transaction, new MultiReply.Whole(ResultCode.of(code), code));
    }
  }

  private void onWhole(Transaction transaction, MultiReply.Whole whole) {
    switch (whole.result()) {
      case DONE, IN_DOUBT -> doubt(transaction.writes());
      case RETRY -> transaction.writes().forEach(write -> later(write, LATER_MILLIS));
      case REFUSED -> {
        if (transaction.writes().size() == 1) {
          refuse(transaction.writes().get(0), "", whole.code());
        } else {
          // Nobody is named: each goes alone, and the culprit names itself.
          transaction.writes().forEach(Write::isolate);
          waiting.addFirst(transaction.writes());
        }
      }
    }
  }

  private void refuse(Write write, String path, int code) {
    boolean mendable = ResultCode.isMendable(code);
    if (mendable && !path.isEmpty()) {
      problems.unwritable(parent(path), path, code);
    }
    Optional<StoreEvent> event = write.refused(inWords(path, code), mendable);
    if (event.isPresent()) {
      answer(write, event);
    } else {
      // A deletion is never given up.
      later(write, LATER_MILLIS);
    }
  }

  private static String inWords(String path, int code) {
    return "ZooKeeper refused the write"
        + (path.isEmpty() ? "" : " of " + path)
        + ": "
        + ResultCode.name(code);
  }

  private void block(Write write, String path, int code) {
    problems.unwritable(parent(path), path, code);
    write.blocked(inWords(path, code) + "; it is tried on").ifPresent(events);
    long millis = LATER_MILLIS << Math.min(write.countBlock(), MAX_DOUBLED);
    later(write, Math.min(MAX_LATER_MILLIS, millis));
  }

  private static String parent(String path) {
    return path.substring(0, Math.max(0, path.lastIndexOf('/')));
  }

  private void later(Write write, long millis) {
    delayed++;
    executor.after(
        millis,
        () -> {
          delayed--;
          if (!ended) {
            waiting.addFirst(write);
            pump();
          }
        });
  }

  private void doubt(List<Write> writes) {
    stats.add(StoreStats.StoreCount.WRITES_IN_DOUBT, writes.size());
    writes.forEach(Write::doubt);
    inDoubt.addAll(writes);
    open = false;
    lane.onDoubt();
  }

  /** A write in doubt turned out to have been done. */
  void foundDone(Write write, StoreEvent event) {
    if (inDoubt.remove(write)) {
      stats.add(StoreStats.StoreCount.DOUBTS_FOUND_DONE, 1);
      owned += write.owned();
      answer(write, Optional.of(event));
    }
  }

  /** A write in doubt cannot be completed. */
  void foundBroken(Write write, String message, int left) {
    if (inDoubt.remove(write)) {
      owned += left;
      answer(write, write.refused(message, false));
    }
  }
}
