package io.lockkeeper.server.zookeeper.commit;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** The writes that wait for a place in a transaction, in order, and the bounds of a transaction. */
public final class WaitingWrites {

  /** Past this, larger transactions gain little and make each other wait. */
  public static final int MAX_OPERATIONS = 256;

  /** Far below the server's limit of 1 MiB for a request. One larger write still goes, alone. */
  static final int MAX_BYTES = 128 << 10;

  /** What ZooKeeper would not take in one request. */
  static final int MAX_WRITE_BYTES = 900 << 10;

  /** How many writes may wait in one session before more are refused. */
  static final int MAX_WAITING = 50_000;

  private final Deque<Write> writes = new ArrayDeque<>();

  /** Returns why a write may not wait here, or empty if it may. */
  Optional<String> problemOf(Write write) {
    if (write.bytes() > MAX_WRITE_BYTES) {
      return Optional.of("the write is larger than ZooKeeper takes in one request");
    }
    return writes.size() >= MAX_WAITING
        ? Optional.of("too many writes wait for ZooKeeper already (" + MAX_WAITING + ")")
        : Optional.empty();
  }

  void addLast(Write write) {
    writes.addLast(write);
  }

  void addFirst(Write write) {
    writes.addFirst(write);
  }

  /** Puts writes before all others, in their order. */
  void addFirst(List<Write> first) {
    for (int i = first.size() - 1; i >= 0; i--) {
      writes.addFirst(first.get(i));
    }
  }

  int size() {
    return writes.size();
  }

  boolean isEmpty() {
    return writes.isEmpty();
  }

  void clear() {
    writes.clear();
  }

  /** Moves as many writes into a transaction as fit, at least one. */
  void fill(Transaction transaction) {
    while (!writes.isEmpty() && fits(writes.getFirst(), transaction)) {
      Write write = writes.removeFirst();
      transaction.add(write);
      if (write.isAlone()) {
        return;
      }
    }
  }

  private static boolean fits(Write write, Transaction transaction) {
    return transaction.isEmpty()
        || (!write.isAlone()
            && transaction.size() + write.operations() <= MAX_OPERATIONS
            && transaction.bytes() + write.bytes() <= MAX_BYTES);
  }
}
