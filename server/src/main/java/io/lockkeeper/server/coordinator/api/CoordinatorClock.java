package io.lockkeeper.server.coordinator.api;

import java.time.Clock;
import java.util.concurrent.locks.LockSupport;

/**
 * The time that a coordinator goes by, and how its threads wait for it. Another one than the
 * system's lets a coordinator run in tests whose time is moved by hand.
 */
public interface CoordinatorClock {

  /** The system's clocks; threads wait as they do elsewhere. */
  CoordinatorClock SYSTEM =
      new CoordinatorClock() {
        private final Clock wall = Clock.systemUTC();

        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public long wallMillis() {
          return wall.millis();
        }
      };

  /** Returns the monotonic time, in nanoseconds since some point. */
  long nanos();

  /** Returns the wall clock's time, in milliseconds. It goes on while the machine is suspended. */
  long wallMillis();

  /**
   * Lets the calling thread wait for so long at most, or until {@link #unpark}, or shorter for no
   * reason. An interrupt ends it and stays set.
   *
   * @param blocker what the thread waits in, for those who look at its stack
   */
  default void park(Object blocker, long nanos) {
    LockSupport.parkNanos(blocker, nanos);
  }

  /** Ends the wait of a thread, or its next one if it does not wait. */
  default void unpark(Thread thread) {
    LockSupport.unpark(thread);
  }
}
