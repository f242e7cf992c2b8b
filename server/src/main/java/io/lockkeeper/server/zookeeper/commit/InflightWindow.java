package io.lockkeeper.server.zookeeper.commit;

/**
 * The transactions of one session that have left and not come back, and whether one more is worth
 * what it costs: ZooKeeper, the disk and the way back cost as much for one write as for a dozen.
 *
 * <p>Idle, or with one or two writes alone under way, a write leaves at once: few clients do not
 * wait for each other's writes. Then another transaction leaves only once enough writes wait for
 * it; until then they gather, and go at the latest when nothing is under way any more. So a few
 * large ones follow each other under load, and ZooKeeper is not idle while a reply travels; without
 * the rule a lock that is handed on quickly sends a stream of small ones.
 */
final class InflightWindow {

  /** More would only make transactions smaller. */
  static final int MAX_TRANSACTIONS = 3;

  /** How many writes at least make another transaction worth sending. */
  static final int WORTH = 24;

  /** How many writes at most a transaction has that keeps no other one waiting. */
  static final int SMALL = 2;

  private int transactions;

  /** Of the one that left last: the one under way where there is one, since replies keep order. */
  private int lastSize;

  /** Returns how many transactions are under way. */
  int transactions() {
    return transactions;
  }

  /** Returns whether a transaction should leave now, {@code waiting} writes being there for it. */
  boolean allows(int waiting) {
    if (transactions == 0 || (transactions == 1 && lastSize <= SMALL)) {
      return waiting > 0;
    }
    return transactions < MAX_TRANSACTIONS && waiting >= WORTH;
  }

  /** Takes note that a transaction leaves with so many writes. */
  void left(int writes) {
    transactions++;
    lastSize = writes;
  }

  /** Takes note that there is word of a transaction, good or bad. */
  void back() {
    transactions--;
  }
}
