package io.lockkeeper.server.core;

/**
 * How an acquisition came here that another coordinator served before, and what may be done with it
 * for that reason.
 *
 * <pre>
 *   DORMANT --its client is here--> ATTENDED --nobody else can vouch for it--> AWAKE
 * </pre>
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
  private final long awakeAtNanos;
  private State state = State.DORMANT;
  private boolean repeated;
  private boolean timed;

  /**
   * Makes one.
   *
   * @param locks how many locks the request names, zero if nothing tells; there are fewer entries
   *     if some were removed
   * @param waitedNanos how long its entries have existed
   * @param awakeAtNanos from when on nobody else can vouch for it
   */
  Revival(int locks, long waitedNanos, long awakeAtNanos) {
    this.locks = locks;
    this.waitedNanos = waitedNanos;
    this.awakeAtNanos = awakeAtNanos;
  }

  /** Makes that of a request which its client repeats here and of which no entry told. */
  static Revival ofRepeated(int locks, long awakeAtNanos) {
    Revival revival = new Revival(locks, 0, awakeAtNanos);
    revival.attend();
    revival.repeat();
    return revival;
  }

  /** Returns whether nothing tells which request it is of. */
  boolean isNameless() {
    return locks == 0;
  }

  int locks() {
    return locks;
  }

  long waitedNanos() {
    return waitedNanos;
  }

  long awakeAtNanos() {
    return awakeAtNanos;
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

  /** Its client has repeated the request: it has not given it back elsewhere. */
  void repeat() {
    repeated = true;
  }

  boolean isRepeated() {
    return repeated;
  }

  /** Returns whether its clocks are to be started now: that is so once. */
  boolean startsClocks() {
    boolean starts = state == State.AWAKE && !timed;
    timed |= starts;
    return starts;
  }
}
