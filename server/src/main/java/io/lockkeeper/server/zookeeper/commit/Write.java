package io.lockkeeper.server.zookeeper.commit;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.zookeeper.commit.Transaction.WritePart;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.OpResult;

/**
 * One write that was asked for: part of a transaction, answered once. Lives on the store's thread.
 */
abstract sealed class Write permits EntryCreation, EntryDeletion, LeaseRecording, LeaseErasure {

  /** What to do with a write that failed a transaction. */
  enum Mend {
    /** It is mended: send it again at once. */
    AGAIN,
    /** Send it again a little later. */
    LATER,
    /** What it wanted is the case already. */
    DONE,
    /** It cannot be done. */
    REFUSE,
    /** Something stands in its way that others must take away: tell, and send it again later. */
    BLOCKED,
    /** It may have been done earlier: look. */
    LOOK
  }

  // Others in the same transaction fail with it, each time.
  private static final int FAILURES_IN_COMPANY = 3;

  private int failures;
  private int blocks;
  private boolean alone;
  private boolean wasInDoubt;

  /** Returns about how many bytes it adds to a transaction. */
  abstract int bytes();

  /** Returns how many operations it adds at most; the same for all attempts. */
  abstract int operations();

  /** Adds its operations. */
  abstract void addTo(Transaction transaction);

  /** Returns the answer once its transaction is committed. */
  abstract Optional<StoreEvent> done(List<OpResult> subjects);

  /** Decides what becomes of it after its operation {@code step} failed with {@code code}. */
  abstract Mend mend(WritePart step, int code);

  /** Returns the answer when what it wanted was the case already. */
  abstract Optional<StoreEvent> doneAlready();

  /**
   * Returns the answer when it is refused, or empty if it is never refused.
   *
   * @param passing whether the same may succeed once somebody has mended ZooKeeper's nodes
   */
  abstract Optional<StoreEvent> refused(String message, boolean passing);

  /** Returns the directories of the locks whose queues it joins. */
  List<String> joined() {
    return List.of();
  }

  /** Returns what is told while it is blocked, if anything is. */
  Optional<StoreEvent> blocked(String message) {
    return Optional.empty();
  }

  /** Returns by how much a success changes the number of nodes that the session owns. */
  abstract int owned();

  /**
   * Counts a failure and returns how many there were. A write that takes many attempts makes them
   * alone.
   */
  final int countFailure() {
    failures++;
    alone |= failures > FAILURES_IN_COMPANY;
    return failures;
  }

  /** Counts that it was blocked; returns how often it was before. */
  final int countBlock() {
    return blocks++;
  }

  /**
   * Makes it go in a transaction of its own from now on, so that an error that names no culprit
   * names it.
   */
  final void isolate() {
    alone = true;
  }

  /** An attempt has had no answer. */
  final void doubt() {
    wasInDoubt = true;
  }

  /** Returns whether an attempt has had no answer: what it wanted may be done already. */
  final boolean wasInDoubt() {
    return wasInDoubt;
  }

  final boolean isAlone() {
    return alone;
  }
}
