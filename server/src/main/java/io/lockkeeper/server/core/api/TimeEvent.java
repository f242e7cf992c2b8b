package io.lockkeeper.server.core.api;

/** Something about time. */
public sealed interface TimeEvent extends Event {

  /** Time has passed: timers that are due fire. */
  record Tick() implements TimeEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onTick(this);
    }
  }

  /**
   * The coordinator did nothing for a while (a pause of the process, of the machine, of the
   * collector): keep-alives that arrived meanwhile have not been read yet.
   *
   * @param nanos for how long
   */
  record Stalled(long nanos) implements TimeEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onStalled(this);
    }
  }
}
