package io.lockkeeper.testing;

import io.lockkeeper.client.internal.loop.SteppedClock;
import io.lockkeeper.server.coordinator.api.CoordinatorClock;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * The clock of a coordinator whose time is moved by hand. It knows which of the coordinator's
 * threads wait, and until when: when all of them do, there is nothing left to do.
 */
final class SteppedThreads implements CoordinatorClock, SteppedClock.Waiter {

  private static final long SETTLE_SECONDS = 30;
  private static final long LOOK_MILLIS = 20;

  private final SteppedClock clock;
  private final Map<Thread, Wait> waits = new HashMap<>();
  private long ends;

  /** How it stands with one thread; guarded by the monitor of the whole. */
  private static final class Wait {
    private boolean waiting;
    private boolean permit;
    private long untilNanos;

    boolean isOver(long nowNanos) {
      return permit || untilNanos - nowNanos <= 0;
    }
  }

  SteppedThreads(SteppedClock clock) {
    this.clock = clock;
  }

  @Override
  public long nanos() {
    return clock.getAsLong();
  }

  @Override
  public long wallMillis() {
    return TimeUnit.NANOSECONDS.toMillis(nanos());
  }

  @Override
  public synchronized void park(Object blocker, long nanos) {
    Wait wait = of(Thread.currentThread());
    wait.untilNanos = nanos() + nanos;
    wait.waiting = true;
    notifyAll();
    try {
      while (!wait.isOver(nanos())) {
        wait();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    wait.waiting = false;
    wait.permit = false;
    ends++;
  }

  @Override
  public synchronized void unpark(Thread thread) {
    of(thread).permit = true;
    notifyAll();
  }

  private Wait of(Thread thread) {
    return waits.computeIfAbsent(thread, any -> new Wait());
  }

  /** Waits until so many threads have come to wait. */
  synchronized void awaitThreads(int count) {
    long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_SECONDS);
    try {
      while (waits.size() < count || !isAtRest()) {
        if (endNanos - System.nanoTime() < 0) {
          throw new IllegalStateException("a server was busy for " + SETTLE_SECONDS + " s");
        }
        wait(LOOK_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for a server", e);
    }
  }

  @Override
  public synchronized OptionalLong nextDueNanos() {
    return waits.values().stream().filter(w -> w.waiting).mapToLong(w -> w.untilNanos).min();
  }

  @Override
  public synchronized void settle() {
    if (waits.containsKey(Thread.currentThread())) {
      return;
    }
    notifyAll();
    awaitThreads(0);
  }

  private boolean isAtRest() {
    waits.keySet().removeIf(thread -> !thread.isAlive() && thread.getState() != Thread.State.NEW);
    return waits.values().stream().allMatch(w -> w.waiting && !w.isOver(nanos()));
  }

  @Override
  public synchronized long workCount() {
    return ends;
  }
}
