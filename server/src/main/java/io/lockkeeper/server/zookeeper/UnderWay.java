package io.lockkeeper.server.zookeeper;

/**
 * The transactions of one session that have left and not come back, and whether one more is worth
 * what it costs: ZooKeeper, the disk and the way back cost as much for one write as for a dozen.
 *
 * <p>Idle, a write leaves at once. Then a second transaction leaves only once as many writes wait
 * as the first one carries, and enough of them; until then they gather, and go at the latest when
 * the first one is back. So two large ones alternate under load, and ZooKeeper is never idle while
 * a reply travels; without the rule a lock that is handed on quickly sends a stream of small ones.
 */
final class UnderWay {

  /** More would only make transactions smaller. */
  static final int MAX_TRANSACTIONS = 2;

  /** How many writes at least make a second transaction worth sending. */
  static final int WORTH = 16;

  private int transactions;
  private int writes;

  /** Returns how many transactions are under way. */
  int transactions() {
    return transactions;
  }

  /** Returns whether a transaction should leave now, {@code waiting} writes being there for it. */
  boolean allows(int waiting) {
    if (transactions == 0) {
      return waiting > 0;
    }
    return transactions < MAX_TRANSACTIONS && waiting >= Math.max(WORTH, writes);
  }

  /** Takes note that a transaction leaves. */
  void left(Transaction transaction) {
    transactions++;
    writes += transaction.writes().size();
  }

  /** Takes note that there is word of a transaction, good or bad. */
  void back(Transaction transaction) {
    transactions--;
    writes -= transaction.writes().size();
  }
}
