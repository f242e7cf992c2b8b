package io.lockkeeper.client.internal;

/** Something that a {@link Loop} does later. */
public final class Timer {

  final long dueNanos;
  final Runnable task;
  private final Timers timers;
  // What these are, the timers say.
  long number;
  int place = -1;

  Timer(Timers timers, long dueNanos, Runnable task) {
    this.timers = timers;
    this.dueNanos = dueNanos;
    this.task = task;
  }

  boolean isBefore(Timer other) {
    return dueNanos == other.dueNanos ? number < other.number : dueNanos - other.dueNanos < 0;
  }

  /** Takes it back, if it is not done or being done. */
  public void cancel() {
    timers.remove(this);
  }
}
