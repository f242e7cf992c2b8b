package io.lockkeeper.client.internal.loop;

import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * A clock that is advanced manually, in tests. What depends on it attaches, so that the clock stops
 * at every timer on its way and continues when all that was due has run.
 */
public interface SteppedClock extends LongSupplier {

  /** Makes the clock stop at the timers of {@code waiter}. */
  void attach(Waiter waiter);

  /** Undoes {@link #attach}. */
  void detach(Waiter waiter);

  /** Something with timers. */
  interface Waiter {
    /** Returns the clock's reading at which the next timer is due; empty: there is none. */
    OptionalLong nextDueNanos();

    /** Waits until all that is due has run. */
    void settle();

    /** Returns a number that changes whenever a task has run. */
    long workCount();
  }
}
