package io.lockkeeper.shedlock;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LossReason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock between its grant and its release, with ShedLock's two limits.
 *
 * <pre>
 *   HELD --unlock, lockAtLeastFor has passed--------------------> DONE
 *   HELD --unlock, before that-----> KEPT --lockAtLeastFor, lost-> DONE
 *   HELD --lockAtMostFor, lost-----> OVER --unlock--------------> DONE
 * </pre>
 *
 * <p>Each transition is decided under the monitor of this object, and what it asks of the server is
 * done after it. The job's thread is interrupted only in OVER, so never after the unlock.
 */
final class HeldLock {

  private static final Logger log = LoggerFactory.getLogger(HeldLock.class);

  private enum State {
    HELD,
    KEPT,
    OVER,
    DONE
  }

  private final LockHandle handle;
  private final ScheduledExecutorService timer;
  private final boolean interrupts;
  private final ThreadLocks locks = ThreadLocks.ofCurrentThread();

  // All that follows is guarded by this.
  private State state = State.HELD;
  private boolean interrupted;
  private LockConfiguration limits;
  private long limitsBeginNanos;
  private Optional<ScheduledFuture<?>> alarm = Optional.empty();

  private HeldLock(
      LockHandle handle,
      LockConfiguration limits,
      long beginNanos,
      ScheduledExecutorService timer,
      boolean interrupts) {
    this.handle = handle;
    this.limits = limits;
    this.limitsBeginNanos = beginNanos;
    this.timer = timer;
    this.interrupts = interrupts;
  }

  /**
   * Makes the calling thread the holder of a lock that was granted.
   *
   * @param limits its limits, which count from {@code beginNanos} by {@link System#nanoTime}
   * @param interrupts whether to interrupt the thread when the lock is lost or timed out
   * @return what the holder unlocks or extends; empty, and the lock is released: the timer is shut
   *     down
   */
  static Optional<SimpleLock> begin(
      LockHandle handle,
      LockConfiguration limits,
      long beginNanos,
      ScheduledExecutorService timer,
      boolean interrupts) {
    HeldLock lock = new HeldLock(handle, limits, beginNanos, timer, interrupts);
    if (!lock.setAlarm(limits.getLockAtMostFor(), beginNanos)) {
      lock.release();
      return Optional.empty();
    }
    lock.locks.add(lock);
    CompletionStage<Void> unused = handle.lost().thenAccept(lock::onLost);
    return Optional.of(lock.new View());
  }

  /** Returns the token; {@link LockException} if the lock is lost or timed out. */
  long fencingToken() {
    if (isOver() || !handle.isValid()) {
      throw new LockException(
          "lock \""
              + handle.name()
              + "\" is lost or timed out: stop what it protected, somebody else may hold it now");
    }
    return handle.fencingToken();
  }

  synchronized boolean isOver() {
    return state == State.OVER;
  }

  /** Interrupts the job if it needs that. One that is interrupted already is not this one's. */
  synchronized void interruptIfOver() {
    if (state == State.OVER && interrupts && !interrupted && !locks.thread().isInterrupted()) {
      interrupted = true;
      locks.thread().interrupt();
    }
  }

  private void onLost(LossReason reason) {
    synchronized (this) {
      alarm.ifPresent(set -> set.cancel(false));
      end("lost (" + reason + ")");
    }
  }

  private void onAlarm() {
    synchronized (this) {
      Duration limit = state == State.HELD ? limits.getLockAtMostFor() : limits.getLockAtLeastFor();
      if (nanosLeft(limit, limitsBeginNanos) > 0) {
        return; // An extension or an unlock came first and has set another alarm.
      }
      end("released after lockAtMostFor");
    }
    release();
  }

  private void end(String how) {
    if (state == State.HELD) {
      log.atWarn()
          .addKeyValue("lock", handle.name())
          .addKeyValue("token", handle.fencingToken())
          .log("lock was {} before its job unlocked it: the job may run elsewhere now, too", how);
      state = State.OVER;
      interruptIfOver();
    } else if (state == State.KEPT) {
      state = State.DONE;
    }
  }

  private synchronized boolean extend(LockConfiguration newLimits) {
    long now = System.nanoTime();
    boolean held = state == State.HELD && handle.isValid();
    if (!held || nanosLeft(limits.getLockAtMostFor(), limitsBeginNanos) <= 0) {
      return false;
    }
    if (!setAlarm(newLimits.getLockAtMostFor(), now)) {
      return false;
    }
    limits = newLimits;
    limitsBeginNanos = now;
    return true;
  }

  private void unlock() {
    boolean releases = false;
    synchronized (this) {
      if (interrupted && Thread.currentThread() == locks.thread()) {
        boolean unused = Thread.interrupted(); // It was for the job, which has ended.
      }
      boolean held = state == State.HELD;
      state = State.DONE;
      if (held && nanosLeft(limits.getLockAtLeastFor(), limitsBeginNanos) > 0) {
        state = State.KEPT;
        // When the provider is closed, the alarm that is set for lockAtMostFor releases the lock.
        boolean unused = setAlarm(limits.getLockAtLeastFor(), limitsBeginNanos);
      } else if (held) {
        alarm.ifPresent(set -> set.cancel(false));
        releases = true;
      }
    }
    locks.remove(this);
    if (releases) {
      releaseAndWait();
    }
  }

  private synchronized boolean setAlarm(Duration limit, long beginNanos) {
    try {
      ScheduledFuture<?> next =
          timer.schedule(this::onAlarm, nanosLeft(limit, beginNanos), TimeUnit.NANOSECONDS);
      alarm.ifPresent(set -> set.cancel(false));
      alarm = Optional.of(next);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  private static long nanosLeft(Duration limit, long beginNanos) {
    return TimeUnit.NANOSECONDS.convert(limit) - (System.nanoTime() - beginNanos);
  }

  private void release() {
    CompletableFuture<Void> unused = handle.releaseAsync();
  }

  private void releaseAndWait() {
    try {
      handle.close();
    } catch (LockLostException e) {
      log.atWarn()
          .addKeyValue("lock", handle.name())
          .addKeyValue("token", handle.fencingToken())
          .setCause(e)
          .log("lock was lost when its job unlocked it: the end of the job may not be protected");
    }
  }

  /** What the holder has until it unlocks or extends it. */
  private final class View implements SimpleLock {

    /** Guarded by the lock. */
    private boolean spent;

    @Override
    public void unlock() {
      spend();
      HeldLock.this.unlock();
    }

    @Override
    public Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
      // Refuses limits that contradict each other. When it was made does not matter here.
      LockConfiguration newLimits =
          new LockConfiguration(ClockProvider.now(), handle.name(), lockAtMostFor, lockAtLeastFor);
      synchronized (HeldLock.this) {
        requireUsable();
        if (!HeldLock.this.extend(newLimits)) {
          return Optional.empty();
        }
        spent = true;
        return Optional.of(new View());
      }
    }

    private void spend() {
      synchronized (HeldLock.this) {
        requireUsable();
        spent = true;
      }
    }

    private void requireUsable() {
      if (spent) {
        throw new IllegalStateException(
            "lock \"" + handle.name() + "\" was unlocked or extended before: use what extend gave");
      }
    }
  }
}
