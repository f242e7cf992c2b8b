package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.StoreEvent;
import io.lockkeeper.server.zookeeper.Transaction.Step;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/**
 * The writes of one lock session on their way into transactions. Idle, a write leaves at once;
 * while {@link #MAX_IN_FLIGHT} transactions are under way, writes gather for the next one.
 *
 * <p>A failed transaction names only its first failing operation: the write that it belongs to is
 * mended or answered, the others go again, ahead of what has gathered since. Lives on the store's
 * thread.
 */
final class GroupCommit {

  /**
   * Enough that ZooKeeper is never idle while a reply travels; more would only make transactions
   * smaller, and it is their size that brings throughput.
   */
  static final int MAX_IN_FLIGHT = 2;

  /** Past this, larger transactions gain little and make each other wait. */
  static final int MAX_OPERATIONS = 128;

  /** Far below the server's limit of 1 MiB for a request. One larger write still goes, alone. */
  static final int MAX_BYTES = 128 << 10;

  /** What ZooKeeper would not take in one request. */
  static final int MAX_WRITE_BYTES = 900 << 10;

  /** How many writes may wait in one session before more are refused. */
  static final int MAX_WAITING = 50_000;

  private static final int MAX_FAILURES = 50;
  private static final long LATER_MILLIS = 200;

  /** What a batch of writes needs of its session. */
  interface Lane {
    /** Sends a transaction; {@link #onReply} follows. */
    void send(Transaction transaction);

    /** Returns the operation that fences a transaction. */
    Op fence();

    /** The fence has failed: somebody else owns the session. */
    void onFenceFailed();

    /** The outcome of some writes is in doubt: nothing is sent until {@link #resolved}. */
    void onDoubt();

    /** Something that should exist does not: the layout must be checked. */
    void onLayoutMissing();
  }

  private final Lane lane;
  private final StorePaths paths;
  private final Directories directories;
  private final StoreThread thread;
  private final StoreStats stats;
  private final Consumer<StoreEvent> events;
  private final Deque<Write> waiting = new ArrayDeque<>();
  private final List<Write> inDoubt = new ArrayList<>();
  private int inFlight;
  private int delayed;
  private int owned;
  private boolean open;
  private boolean ended;

  GroupCommit(Lane lane, StoreContext context) {
    this.lane = lane;
    paths = context.paths();
    directories = context.directories();
    thread = context.thread();
    stats = context.stats();
    events = context.events();
  }

  /** Takes a write. */
  void add(Write write) {
    if (ended) {
      return;
    }
    Optional<StoreEvent> refusal =
        write.bytes() > MAX_WRITE_BYTES
            ? write.refused("the write is larger than ZooKeeper takes in one request")
            : waiting.size() >= MAX_WAITING
                ? write.refused("too many writes wait for ZooKeeper already (" + MAX_WAITING + ")")
                : Optional.empty();
    if (refusal.isPresent()) {
      events.accept(refusal.get());
      return;
    }
    waiting.addLast(write);
    pump();
  }

  /** Lets transactions out. */
  void open() {
    open = true;
    pump();
  }

  /** Keeps everything back. */
  void hold() {
    open = false;
  }

  /** Forgets everything: the session has ended, and that answers all writes. */
  void end() {
    ended = true;
    open = false;
    waiting.clear();
    inDoubt.clear();
  }

  int inFlight() {
    return inFlight;
  }

  /** Returns whether the session owns nothing and nothing is under way that could change that. */
  boolean ownsNothing() {
    return owned == 0 && inFlight == 0 && delayed == 0 && waiting.isEmpty() && inDoubt.isEmpty();
  }

  List<Write> inDoubt() {
    return List.copyOf(inDoubt);
  }

  private void pump() {
    while (open && !waiting.isEmpty() && inFlight < MAX_IN_FLIGHT) {
      Transaction next = gather();
      inFlight++;
      lane.send(next);
    }
  }

  private Transaction gather() {
    Transaction transaction = new Transaction(paths, directories, lane.fence());
    while (!waiting.isEmpty() && fits(waiting.getFirst(), transaction)) {
      Write write = waiting.removeFirst();
      transaction.add(write);
      if (write.isAlone()) {
        break;
      }
    }
    return transaction;
  }

  private static boolean fits(Write write, Transaction transaction) {
    return transaction.isEmpty()
        || (!write.isAlone()
            && transaction.size() + write.operations() <= MAX_OPERATIONS
            && transaction.bytes() + write.bytes() <= MAX_BYTES);
  }

  /**
   * Takes the reply to a transaction; returns whether it was committed, and so proves the session
   * alive.
   */
  boolean onReply(Transaction transaction, MultiReply reply) {
    inFlight--;
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
    pump();
    return reply instanceof MultiReply.Committed;
  }

  private void onCommitted(Transaction transaction, MultiReply.Committed committed) {
    stats.add(StoreStats.Count.TRANSACTIONS, 1);
    stats.add(StoreStats.Count.WRITES, transaction.writes().size());
    transaction.onCommitted();
    for (Write write : transaction.writes()) {
      answer(write, write.done(transaction.subjectsOf(write, committed.results())));
    }
  }

  private void answer(Write write, Optional<StoreEvent> event) {
    owned += write.owned();
    event.ifPresent(events);
  }

  private void onCulprit(Transaction transaction, MultiReply.Culprit culprit) {
    stats.add(StoreStats.Count.TRANSACTIONS_REFUSED, 1);
    if (culprit.index() == 0) {
      onFence(transaction, culprit.code());
      return;
    }
    Step step = transaction.step(culprit.index());
    Write write = step.write();
    Write.Mend mend = write.mend(step, culprit.code());
    if (mend != Write.Mend.DONE && write.countFailure() > MAX_FAILURES) {
      mend = Write.Mend.REFUSE;
    }
    sendAgain(transaction, write, mend == Write.Mend.AGAIN);
    switch (mend) {
      case AGAIN -> {
        // It went again in its place among the others.
      }
      case LATER -> later(write);
      case DONE -> answer(write, write.doneAlready());
      case REFUSE -> refuse(write, culprit.code());
      case LOOK -> doubt(List.of(write));
    }
    if (mend == Write.Mend.LATER && culprit.code() == Code.NONODE.intValue()) {
      lane.onLayoutMissing();
    }
  }

  private void onFence(Transaction transaction, int code) {
    if (Fence.isBroken(code)) {
      lane.onFenceFailed();
    } else {
      onWhole(transaction, new MultiReply.Whole(Verdict.of(code), code));
    }
  }

  private void onWhole(Transaction transaction, MultiReply.Whole whole) {
    switch (whole.verdict()) {
      case DONE, IN_DOUBT -> doubt(transaction.writes());
      case RETRY -> transaction.writes().forEach(this::later);
      case REFUSED -> {
        if (transaction.writes().size() == 1) {
          refuse(transaction.writes().get(0), whole.code());
        } else {
          // Nobody is named: each goes alone, and the culprit names itself.
          transaction.writes().forEach(Write::isolate);
          sendAgain(transaction, null, true);
        }
      }
    }
  }

  private void sendAgain(
      Transaction transaction,
      @org.jspecify.annotations.Nullable Write culprit,
      boolean withCulprit) {
    List<Write> writes = transaction.writes();
    for (int i = writes.size() - 1; i >= 0; i--) {
      if (withCulprit || writes.get(i) != culprit) {
        waiting.addFirst(writes.get(i));
      }
    }
  }

  private void refuse(Write write, int code) {
    Optional<StoreEvent> event =
        write.refused("ZooKeeper refused the write: " + Verdict.name(code));
    if (event.isPresent()) {
      events.accept(event.get());
    } else {
      // A deletion is never given up.
      later(write);
    }
  }

  private void later(Write write) {
    delayed++;
    thread.after(
        LATER_MILLIS,
        () -> {
          delayed--;
          if (!ended) {
            waiting.addFirst(write);
            pump();
          }
        });
  }

  private void doubt(List<Write> writes) {
    stats.add(StoreStats.Count.WRITES_IN_DOUBT, writes.size());
    inDoubt.addAll(writes);
    open = false;
    lane.onDoubt();
  }

  /** A write in doubt turned out to have been done. */
  void foundDone(Write write, StoreEvent event) {
    if (inDoubt.remove(write)) {
      stats.add(StoreStats.Count.DOUBTS_FOUND_DONE, 1);
      answer(write, Optional.of(event));
    }
  }

  /** A write in doubt cannot be completed. */
  void foundBroken(Write write, String message) {
    if (inDoubt.remove(write)) {
      write.refused(message).ifPresent(events);
    }
  }

  /**
   * Nothing is in doubt any more: what is left of it was not done, or can be done again, and goes
   * first.
   */
  void resolved() {
    for (int i = inDoubt.size() - 1; i >= 0; i--) {
      waiting.addFirst(inDoubt.get(i));
    }
    inDoubt.clear();
  }
}
