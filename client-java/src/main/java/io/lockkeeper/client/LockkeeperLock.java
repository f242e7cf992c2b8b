package io.lockkeeper.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock of Lockkeeper as a {@link Lock}, for code that wants one.
 *
 * <p>Bound to threads, like the JDK's locks: the thread that locked it must unlock it. <b>Not
 * reentrant</b>: a thread that holds it and locks it again gets an {@link IllegalStateException}
 * instead of waiting for itself for ever. Each view counts by itself: two views of one lock exclude
 * each other like two clients.
 *
 * <p>Unlike the JDK's locks, it can be lost while it is held. {@link #handle} gives the fencing
 * token and the validity; {@link #unlock} after a loss throws, so that nobody mistakes what was
 * done for protected.
 */
public final class LockkeeperLock implements Lock {

  private final LockkeeperClient client;
  private final String name;

  // Of the instance: each view counts by itself.
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<LockHandle> held = new ThreadLocal<>();

  LockkeeperLock(LockkeeperClient client, String name) {
    this.client = client;
    this.name = name;
  }

  /** Returns what the calling thread holds; empty if it has not locked. */
  public Optional<LockHandle> handle() {
    return Optional.ofNullable(held.get());
  }

  /**
   * Locks, waiting as long as it takes. An interrupt does not end the wait and is kept. Errors are
   * those of {@link LockkeeperClient#lock(String)}.
   */
  @Override
  public void lock() {
    requireNotHeld();
    held.set(client.lockUninterruptibly(LockRequest.of(name)));
  }

  /** Locks as {@link LockkeeperClient#lock(String)} does. */
  @Override
  public void lockInterruptibly() throws InterruptedException {
    requireNotHeld();
    held.set(client.lock(name));
  }

  /** Locks if the lock is free now. Asks a server; an interrupt does not end that and is kept. */
  @Override
  public boolean tryLock() {
    requireNotHeld();
    try {
      held.set(client.lockUninterruptibly(LockRequest.of(name).waitAtMost(Duration.ZERO)));
      return true;
    } catch (NotAcquiredException e) {
      return notTimedOut(e);
    }
  }

  /** Locks if that is possible in time, 7 days at most. A time not above zero does not wait. */
  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    requireNotHeld();
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    long longest = LockRequest.LONGEST_WAIT.toNanos();
    long limitNanos = Math.max(0, Math.min(longest, unit.toNanos(time)));
    Optional<LockHandle> handle = client.tryLock(name, Duration.ofNanos(limitNanos));
    handle.ifPresent(held::set);
    return handle.isPresent();
  }

  /**
   * Unlocks, and waits until that is certain, for the client's request timeout at most.
   *
   * @throws IllegalMonitorStateException if the calling thread has not locked, or if the lock was
   *     lost meanwhile: then what was done since may not have been protected
   */
  @Override
  public void unlock() {
    LockHandle handle = held.get();
    if (handle == null) {
      throw new IllegalMonitorStateException(
          "lock \"" + name + "\" is not held by this thread: only the one that locked may unlock");
    }
    held.remove();
    try {
      handle.checkValid();
    } catch (LockLostException e) {
      IllegalMonitorStateException lost = new IllegalMonitorStateException(e.getMessage());
      lost.initCause(e);
      throw lost;
    } finally {
      handle.close();
    }
  }

  /**
   * Conditions are not offered.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException("a distributed lock has no conditions");
  }

  @Override
  public String toString() {
    return "LockkeeperLock[" + name + "]";
  }

  private void requireNotHeld() {
    if (held.get() != null) {
      throw new IllegalStateException(
          "this thread holds lock \"" + name + "\" already, and it is not reentrant: unlock first");
    }
  }

  private static boolean notTimedOut(NotAcquiredException e) {
    if (e.reason() != NotAcquiredReason.TIMED_OUT) {
      throw e;
    }
    return false;
  }
}
