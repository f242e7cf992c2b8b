package io.lockkeeper.server.core;

/**
 * How an acquisition came here that another coordinator served before.
 *
 * <pre>
 *   DORMANT --its client is here--> ATTENDED --nobody else can vouch for it--> AWAKE
 * </pre>
 *
 * <p>It is known by its entries only, until its client repeats the request.
 */
final class Revival {

  /** What may be done with it. */
  enum State {
    /** Nothing: its client is not here, and may rely on what it was told elsewhere. */
    DORMANT,
    /**
     * It may be granted, and told where it stands; but no clock ends it: its client may go back to
     * where it was, and have been granted it there.
     */
    ATTENDED,
    /** Everything. */
    AWAKE
  }

  private final int locks;
  private final long waitedNanos;
  private State state = State.DORMANT;
  private boolean rough = true;
  private boolean assured;
  private boolean armed;

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
    return state == State.DORMANT;
  }

  boolean isAwake() {
    return state == State.AWAKE;
  }

  void attend() {
    if (state == State.DORMANT) {
      state = State.ATTENDED;
    }
  }

  void wake() {
    state = State.AWAKE;
  }

  /** Returns whether only the entries tell what was asked for. */
  boolean isRough() {
    return rough;
  }

  /** Returns whether it shared locks with others of its owner, so that its entries are not all. */
  boolean isPart(int entries) {
    return rough && entries < locks;
  }

  /** Returns whether nothing tells in which order its client named its locks. */
  boolean isUnordered() {
    return rough && locks > 1;
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

  /**
   * Returns whether it may be ended because of what is decided here: not while it waits only to be
   * granted here, too, what its client was granted elsewhere.
   */
  boolean mayEnd(boolean waiting) {
    return state == State.AWAKE && !(assured && waiting);
  }

  /** Returns whether its clocks run from now on: they are started once. */
  boolean startsClocks() {
    boolean starts = state == State.AWAKE && !assured && !armed;
    armed |= starts;
    return starts;
  }
}
