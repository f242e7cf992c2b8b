package io.lockkeeper.howto;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock that is moving from one lock service to another: both are taken, always in the same order,
 * and given back in reverse. So it excludes those that take only the old lock, and those that take
 * only the new one; these two must never run at the same time. Reentrant if both locks are; what
 * belongs to a thread in one of them belongs to it here.
 *
 * <p>Errors are those of the two locks. When the second cannot be had, the first is given back.
 */
public final class MovingLock implements Lock {

  private final Lock first;
  private final Lock second;

  /** Locks, or returns false. */
  private interface Attempt<X extends Exception> {
    boolean lock() throws X;
  }

  /**
   * Makes one lock of two.
   *
   * @param first taken first and given back last: commonly that of the service that is left
   * @param second taken second: commonly that of the service that is moved to
   */
  public MovingLock(Lock first, Lock second) {
    this.first = first;
    this.second = second;
  }

  @Override
  public void lock() {
    first.lock();
    lockSecond(
        () -> {
          second.lock();
          return true;
        });
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    first.lockInterruptibly();
    lockSecond(
        () -> {
          second.lockInterruptibly();
          return true;
        });
  }

  @Override
  public boolean tryLock() {
    return first.tryLock() && lockSecond(second::tryLock);
  }

  /** Locks both if that is possible in time: what the first has used is missing to the second. */
  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    long begin = System.nanoTime();
    return first.tryLock(time, unit)
        && lockSecond(
            () ->
                second.tryLock(
                    unit.toNanos(time) - (System.nanoTime() - begin), TimeUnit.NANOSECONDS));
  }

  private <X extends Exception> boolean lockSecond(Attempt<X> attempt) throws X {
    boolean locked = false;
    try {
      locked = attempt.lock();
    } finally {
      if (!locked) {
        first.unlock();
      }
    }
    return locked;
  }

  /**
   * Unlocks both, the first also if the second throws.
   *
   * @throws IllegalMonitorStateException if either was lost meanwhile, or is not held
   */
  @Override
  public void unlock() {
    try {
      second.unlock();
    } finally {
      first.unlock();
    }
  }

  /**
   * Conditions are not supported: each service would have to give up its lock for the wait.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException("a lock of two services has no conditions");
  }
}
