package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.Optional;

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
  private final long awakeAtNanos;
  private State state = State.DORMANT;
  private long waitsFromNanos;
  private Optional<Duration> wait = Optional.empty();
  private Optional<Duration> longestHold = Optional.empty();
  private boolean repeated;
  private boolean timed;

  /**
   * Makes one.
   *
   * @param locks how many locks the request names, zero if nothing tells; there are fewer entries
   *     if some were removed
   * @param nowNanos from when on it waits as long as was asked for: since when it did, nobody here
   *     can know
   * @param awakeAtNanos from when on nobody else can vouch for it
   */
  Revival(int locks, long nowNanos, long awakeAtNanos) {
    this.locks = locks;
    this.waitsFromNanos = nowNanos;
    this.awakeAtNanos = awakeAtNanos;
  }

  /** Makes that of a request which its client repeats here and of which no entry told. */
  static Revival ofRepeated(AcquireCommand asked, long nowNanos, long awakeAtNanos) {
    Revival revival = new Revival(asked.locks().size(), nowNanos, awakeAtNanos);
    revival.attend();
    revival.repeat(asked, nowNanos);
    return revival;
  }

  /** Returns whether nothing tells which request it is of. */
  boolean isNameless() {
    return locks == 0;
  }

  int locks() {
    return locks;
  }

  /** Returns from when on {@link #waitTimeout} counts. */
  long waitsFromNanos() {
    return waitsFromNanos;
  }

  /** Returns how long it is to wait, as its client has said here; empty if it has not. */
  Optional<Duration> waitTimeout() {
    return wait;
  }

  /** Returns how long it may be held from now on, as its client has said here. */
  Optional<Duration> maxHold() {
    return longestHold;
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

  /**
   * Its client has repeated the request: it has not given it back elsewhere. What it says that is
   * left of its times counts from now.
   */
  void repeat(AcquireCommand asked, long nowNanos) {
    repeated = true;
    if (asked.waitTimeout().isPresent()) {
      wait = asked.waitTimeout();
      waitsFromNanos = nowNanos;
      timed = false;
    }
    if (!asked.heldTokens().isEmpty()) {
      longestHold = asked.maxHold();
    }
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
