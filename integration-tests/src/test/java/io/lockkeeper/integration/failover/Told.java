package io.lockkeeper.integration.failover;

/**
 * How often clients were told how safe their locks are.
 *
 * @param jeopardy that a coordinator has lost contact
 * @param safe that the contact is back
 * @param lost that a lock is lost
 */
public record Told(long jeopardy, long safe, long lost) {

  static final Told NOTHING = new Told(0, 0, 0);

  /** Returns the sum. */
  public Told plus(Told other) {
    return new Told(jeopardy + other.jeopardy, safe + other.safe, lost + other.lost);
  }

  /** Returns what has come since. */
  public Told minus(Told before) {
    return new Told(jeopardy - before.jeopardy, safe - before.safe, lost - before.lost);
  }

  @Override
  public String toString() {
    return "JEOPARDY " + jeopardy + ", SAFE " + safe + ", LOST " + lost;
  }
}
