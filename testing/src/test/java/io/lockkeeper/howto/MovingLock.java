package io.lockkeeper.howto;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock that is moving from one lock service to another: both are taken, first the old one, and
 * given back in reverse. So it excludes those that take only the old lock, and those that take only
 * the new one, while they do not run at the same time. Reentrant if both locks are; what belongs to
 * a thread in one of them belongs to it here.
 *
 * <p>Errors are those of the two locks. When the new lock cannot be had, the old one is given back.
 */
public final class MovingLock implements Lock {

  private final Lock old;
  private final Lock next;

  /** Locks, or returns false. */
  private interface Attempt<X extends Exception> {
    boolean lock() throws X;
  }

  /**
   * Makes one lock of two.
   *
   * @param old of the service that is left, taken first and given back last
   * @param next of the service that is moved to
   */
  public MovingLock(Lock old, Lock next) {
    this.old = old;
    this.next = next;
  }

  @Override
  public void lock() {
    old.lock();
    lockNext(
        () -> {
          next.lock();
          return true;
        });
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    old.lockInterruptibly();
    lockNext(
        () -> {
          next.lockInterruptibly();
          return true;
        });
  }

  @Override
  public boolean tryLock() {
    return old.tryLock() && lockNext(next::tryLock);
  }

  /** Locks both if that is possible in time: what the first has used is missing to the second. */
  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    long begin = System.nanoTime();
    return old.tryLock(time, unit)
        && lockNext(
            () ->
                next.tryLock(
                    unit.toNanos(time) - (System.nanoTime() - begin), TimeUnit.NANOSECONDS));
  }

  private <X extends Exception> boolean lockNext(Attempt<X> attempt) throws X {
    boolean locked = false;
    try {
      locked = attempt.lock();
    } finally {
      if (!locked) {
        old.unlock();
      }
    }
    return locked;
  }

  /**
   * Unlocks both, the old one also if the new one throws.
   *
   * @throws IllegalMonitorStateException if either was lost meanwhile, or is not held
   */
  @Override
  public void unlock() {
    try {
      next.unlock();
    } finally {
      old.unlock();
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
