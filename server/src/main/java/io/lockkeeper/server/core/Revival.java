package io.lockkeeper.server.core;

/**
 * How an acquisition came here that another coordinator served before: known by its entries only,
 * until its client repeats the request; and left alone until its client is here, or can rely on the
 * other coordinator no longer.
 */
final class Revival {

  private final int locks;
  private final long waitedNanos;
  private boolean dormant = true;
  private boolean rough = true;
  private boolean assured;

  /**
   * Makes one.
   *
   * @param locks how many locks the request names
   * @param waitedNanos how long its entries have existed
   */
  Revival(int locks, long waitedNanos) {
    this.locks = locks;
    this.waitedNanos = waitedNanos;
  }

  int locks() {
    return locks;
  }

  long waitedNanos() {
    return waitedNanos;
  }

  boolean isDormant() {
    return dormant;
  }

  void wake() {
    dormant = false;
  }

  /** Returns whether only the entries tell what was asked for. */
  boolean isRough() {
    return rough;
  }

  void completed() {
    rough = false;
  }

  /**
   * Returns whether its client knows the tokens: so it was granted, ahead of the deletions of those
   * who are still in front of it.
   */
  boolean isAssured() {
    return assured;
  }

  void assure() {
    assured = true;
  }
}
