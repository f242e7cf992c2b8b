package io.lockkeeper.server.core.state;

import io.lockkeeper.server.core.api.AcquireCommand;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How an acquisition came here that another coordinator served before, and what may be done with it
 * for that reason.
 *
 * <pre>
 *   DORMANT --its client is here--> ATTENDED --nobody else can vouch for it--> AWAKE
 * </pre>
 */
public final class AdoptedState {

  /** What may be done with it. */
  enum Trust {
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
  private Trust state = Trust.DORMANT;
  private long waitsFromNanos;
  private Optional<Duration> wait = Optional.empty();
  private Optional<Duration> longestHold = Optional.empty();
  private boolean repeated;
  private boolean claimed;
  private OptionalLong withdrawnAtNanos = OptionalLong.empty();
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
  public AdoptedState(int locks, long nowNanos, long awakeAtNanos) {
    this.locks = locks;
    this.waitsFromNanos = nowNanos;
    this.awakeAtNanos = awakeAtNanos;
  }

  /** Makes that of a request which its client repeats here and of which no entry told. */
  public static AdoptedState ofRepeated(AcquireCommand asked, long nowNanos, long awakeAtNanos) {
    AdoptedState adoptedState = new AdoptedState(asked.locks().size(), nowNanos, awakeAtNanos);
    adoptedState.attend();
    adoptedState.repeat(asked, nowNanos);
    return adoptedState;
  }

  /** Returns whether nothing tells which request it is of. */
  boolean isNameless() {
    return locks == 0;
  }

  public int locks() {
    return locks;
  }

  /** Returns from when on {@link #waitTimeout} counts. */
  public long waitsFromNanos() {
    return waitsFromNanos;
  }

  /** Returns how long it is to wait, as its client has said here; empty if it has not. */
  public Optional<Duration> waitTimeout() {
    return wait;
  }

  /** Returns how long it may be held from now on, as its client has said here. */
  public Optional<Duration> maxHold() {
    return longestHold;
  }

  long awakeAtNanos() {
    return awakeAtNanos;
  }

  public boolean isDormant() {
    return state == Trust.DORMANT;
  }

  public boolean isAwake() {
    return state == Trust.AWAKE;
  }

  /** Its client is here. */
  public void attend() {
    if (state == Trust.DORMANT) {
      state = Trust.ATTENDED;
    }
  }

  public void wake() {
    state = Trust.AWAKE;
  }

  /**
   * Its client has repeated the request: it has not given it back elsewhere. What it says that is
   * left of its times counts from now.
   */
  public void repeat(AcquireCommand asked, long nowNanos) {
    repeated = true;
    // A client that names its tokens does not wait: the policy has not checked its wait timeout.
    if (asked.waitTimeout().isPresent() && asked.heldTokens().isEmpty()) {
      wait = asked.waitTimeout();
      waitsFromNanos = nowNanos;
      timed = false;
    }
    if (!asked.heldTokens().isEmpty()) {
      longestHold = asked.maxHold();
    }
  }

  /**
   * Its client names the tokens of a grant by another coordinator; returns false if it did before.
   */
  public boolean claim() {
    boolean first = !claimed;
    claimed = true;
    return first;
  }

  /** The former coordinator would have withdrawn the request at that time. */
  public void withdrawnAt(long atNanos) {
    withdrawnAtNanos = OptionalLong.of(atNanos);
  }

  /** Returns when the request is withdrawn although nobody may end it by another clock. */
  public OptionalLong withdrawnAtNanos() {
    return repeated ? OptionalLong.empty() : withdrawnAtNanos;
  }

  boolean isClaimed() {
    return claimed;
  }

  public boolean isRepeated() {
    return repeated;
  }

  /** Returns whether its clocks are to be started now: that is so once. */
  public boolean startsClocks() {
    boolean starts = state == Trust.AWAKE && !timed;
    timed |= starts;
    return starts;
  }
}
