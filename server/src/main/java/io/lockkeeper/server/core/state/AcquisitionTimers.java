package io.lockkeeper.server.core.state;

import java.util.Optional;
import java.util.OptionalLong;

/** The deadlines of one acquisition. */
public final class AcquisitionTimers {

  private Optional<Timers.Timer> wait = Optional.empty();
  private Optional<Timers.Timer> position = Optional.empty();
  private Optional<Timers.Timer> linger = Optional.empty();
  private OptionalLong lingersUntilNanos = OptionalLong.empty();
  private Optional<Timers.Timer> hold = Optional.empty();
  private Optional<Timers.Timer> deletion = Optional.empty();
  private long holdDeadlineNanos;

  /** Until when it may wait, instead of another time. */
  public void waitsUntil(Timers timers, Timers.Timer timer) {
    wait.ifPresent(timers::cancel);
    wait = Optional.of(timer);
  }

  /** When it is told next where it stands. */
  public void positionAt(Timers.Timer timer) {
    position = Optional.of(timer);
  }

  /** Until when it lingers without a stream, instead of an earlier time. */
  public void lingersUntil(Timers timers, long untilNanos, Runnable due) {
    linger.ifPresent(timers::cancel);
    linger = Optional.of(timers.at(untilNanos, due));
    lingersUntilNanos = OptionalLong.of(untilNanos);
  }

  /** Returns until when it lingers, or lingered last, without a stream. */
  public OptionalLong lingersUntilNanos() {
    return lingersUntilNanos;
  }

  /**
   * Until when it may be held, instead of another time.
   *
   * @param timer when it is taken away
   * @param deadlineNanos until when the holder may count on it, a little earlier
   */
  public void holdsUntil(Timers timers, Timers.Timer timer, long deadlineNanos) {
    hold.ifPresent(timers::cancel);
    hold = Optional.of(timer);
    holdDeadlineNanos = deadlineNanos;
  }

  /** When its entries may be deleted, instead of another time. */
  public void deletesAt(Timers timers, Timers.Timer timer) {
    deletion.ifPresent(timers::cancel);
    deletion = Optional.of(timer);
  }

  /** Returns how much longer it may be held; the largest number there is if that is not limited. */
  public long holdLeftNanos(long nowNanos) {
    return hold.isPresent() ? Math.max(0, holdDeadlineNanos - nowNanos) : Long.MAX_VALUE;
  }

  /** Takes back the deadlines that only a waiter has. */
  public void stopWaiting(Timers timers) {
    wait.ifPresent(timers::cancel);
    position.ifPresent(timers::cancel);
    wait = Optional.empty();
    position = Optional.empty();
  }

  /** Takes back every deadline. */
  public void stopAll(Timers timers) {
    stopWaiting(timers);
    stopHolding(timers);
    linger.ifPresent(timers::cancel);
    linger = Optional.empty();
    deletion.ifPresent(timers::cancel);
    deletion = Optional.empty();
  }

  /** Takes back the deadline that only a holder has. */
  public void stopHolding(Timers timers) {
    hold.ifPresent(timers::cancel);
    hold = Optional.empty();
  }
}
