package io.lockkeeper.client.internal;

import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * A clock that is moved by hand. Whoever waits for it attaches, so that it stops at every timer on
 * its way and goes on when all that was due has been done.
 */
public interface SteppedClock extends LongSupplier {

  /** Makes the clock stop for the timers of {@code waiter}. */
  void attach(Waiter waiter);

  /** Undoes {@link #attach}. */
  void detach(Waiter waiter);

  /** Something with timers. */
  interface Waiter {
    /** Returns the clock's reading at which the next timer is due; empty: there is none. */
    OptionalLong nextDueNanos();

    /** Waits until all that is due has been done. */
    void settle();

    /** Returns a number that is another one whenever something has been done. */
    long workCount();
  }
}
