package io.lockkeeper.client;

import io.lockkeeper.client.internal.protocol.Limits;
import io.lockkeeper.client.internal.protocol.LockNames;
import io.lockkeeper.client.internal.views.DerivedFutures;
import io.lockkeeper.client.internal.views.ThreadOwners;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock of Lockkeeper, or several that are locked together, as a {@link Lock}. Made by {@link
 * LockkeeperClient#asLock} and by {@link LockkeeperReadWriteLock}.
 *
 * <p>Bound to threads and reentrant, like {@link java.util.concurrent.locks.ReentrantLock}: the
 * thread that locked it must unlock it, as many times. A view counts for itself and asks no server
 * when a thread that holds the lock locks again; another view of the same lock, of the same client,
 * is granted to that thread at once as well. Threads of one client exclude each other like clients.
 *
 * <p>Unlike the JDK's locks, it can be lost while it is held. {@link #handle} gives the fencing
 * token and the validity. After a loss, {@link #unlock} throws, so that nobody takes for protected
 * what was done, and locking once more throws {@link LockLostException}; when it has been unlocked
 * as many times as it was locked, the thread may lock again.
 *
 * <p>A wait that would never end is refused with a {@link NotAcquiredException} ({@link
 * NotAcquiredReason#WOULD_DEADLOCK}) whose message names the cycle. Interrupted waiters leave the
 * queue, and wait up to a second for a server to confirm that; the message of the interrupt says
 * whether one has, or whether their lease is over, and their place with it.
 */
public final class LockkeeperLock implements Lock {

  private final LockkeeperClient client;
  private final LockRequest request;

  // Of the instance: each view counts by itself.
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<Levels> held = new ThreadLocal<>();

  /**
   * What one thread holds, and how many times. Refers to the view, and the thread to it: whoever
   * keeps views by weak references finds the one by which a thread holds the lock.
   */
  private final class Levels {
    private final LockHandle handle;
    private int count = 1;

    Levels(LockHandle handle) {
      this.handle = handle;
    }

    /** Gives one level back, and the lock with the last. */
    void leave() {
      count--;
      if (count == 0) {
        held.remove();
      }
      try {
        handle.checkValid();
      } finally {
        if (count == 0) {
          handle.close();
        }
      }
    }
  }

  LockkeeperLock(LockkeeperClient client, LockRequest request) {
    Limits.require(request.owner().isEmpty(), "owner", "left to the view", request.owner());
    Limits.require(
        request.waitLimit().isEmpty(), "waitAtMost", "left to the view", request.waitLimit());
    this.client = client;
    this.request = request;
  }

  /**
   * Returns a view whose lock stays with this client when it is unlocked, as long as nobody else
   * wants it and at most {@code time} without use: see {@link LockRequest#keepUnused}, which throws
   * what is wrong. It counts for itself, and is the only one to lock such a lock with.
   */
  public LockkeeperLock keepUnused(Duration time) {
    return new LockkeeperLock(client, request.keepUnused(time));
  }

  /** Returns what the calling thread holds; empty if it has not locked. */
  public Optional<LockHandle> handle() {
    return Optional.ofNullable(held.get()).map(levels -> levels.handle);
  }

  /** Returns how many times the calling thread has locked and not unlocked, by this view. */
  public int getHoldCount() {
    Levels levels = held.get();
    return levels == null ? 0 : levels.count;
  }

  /**
   * Returns whether the calling thread has locked and not unlocked, by this view. Says nothing
   * about a loss: {@link LockHandle#isValid} does.
   */
  public boolean isHeldByCurrentThread() {
    return held.get() != null;
  }

  /**
   * Locks, waiting as long as it takes. An interrupt does not end the wait and is kept. Errors are
   * those of {@link LockkeeperClient#lock(String)}, and:
   *
   * @throws NotAcquiredException if the wait would never end, or the queue is full
   * @throws LockLostException if this thread has locked before, and the lock is lost
   */
  @Override
  public void lock() {
    if (!reenters()) {
      hold(client.lockUninterruptibly(ownedByThread()));
    }
  }

  /**
   * Locks as {@link #lock} does.
   *
   * @throws InterruptedException if interrupted before or while it waits: see {@link
   *     LockkeeperClient#lock(String)}
   */
  @Override
  public void lockInterruptibly() throws InterruptedException {
    throwIfInterrupted();
    if (!reenters()) {
      hold(client.lock(ownedByThread()));
    }
  }

  /**
   * Locks if the lock is free now, or held by this thread. Asks a server; an interrupt does not end
   * that and is kept. False also if the wait would never end.
   */
  @Override
  public boolean tryLock() {
    if (reenters()) {
      return true;
    }
    try {
      hold(client.lockUninterruptibly(ownedByThread().waitAtMost(Duration.ZERO)));
      return true;
    } catch (NotAcquiredException e) {
      if (e.reason() != NotAcquiredReason.TIMED_OUT
          && e.reason() != NotAcquiredReason.WOULD_DEADLOCK) {
        throw e;
      }
      return false;
    }
  }

  /**
   * Locks if that is possible in time, 7 days at most. A time not above zero does not wait. Errors
   * are those of {@link #lockInterruptibly}.
   */
  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    throwIfInterrupted();
    if (reenters()) {
      return true;
    }
    Optional<LockHandle> handle = client.tryLock(ownedByThread().waitAtMost(limit(time, unit)));
    handle.ifPresent(this::hold);
    return handle.isPresent();
  }

  /** Returns a time as a wait limit: zero to 7 days. */
  static Duration limit(long time, TimeUnit unit) {
    long longest = Limits.LONGEST_WAIT.toNanos();
    return Duration.ofNanos(Math.max(0, Math.min(longest, unit.toNanos(time))));
  }

  /**
   * Unlocks. The last of as many times as it was locked waits until that is certain, for the
   * client's request timeout at most.
   *
   * @throws IllegalMonitorStateException if the calling thread has not locked, or if the lock was
   *     lost meanwhile: then what was done since may not have been protected. It counts as unlocked
   *     all the same.
   */
  @Override
  public void unlock() {
    Levels levels = held.get();
    if (levels == null) {
      throw new IllegalMonitorStateException(
          "lock \""
              + LockNames.join(request.locks())
              + "\" is not held by this thread: only the one that locked may unlock");
    }
    try {
      levels.leave();
    } catch (LockLostException e) {
      IllegalMonitorStateException lost = new IllegalMonitorStateException(e.getMessage());
      lost.initCause(e);
      throw lost;
    }
  }

  /**
   * Locks for an owner that is no thread: a task, an actor. The same owner is granted the lock
   * again at once, and holds it until as many handles are released. Cancelling the future leaves
   * the queue. Completes as {@link LockkeeperClient#acquire} does.
   *
   * @param owner a name, unique among all that use this client: 1 to 256 bytes of UTF-8
   * @return the handle; {@link LockHandle#releaseForResult} is the twin of {@link #unlock}
   * @throws IllegalArgumentException if the owner is empty or too long
   */
  public CompletableFuture<LockHandle> lockAsync(String owner) {
    return client.acquire(ownedBy(owner));
  }

  /** Like {@link #lockAsync}, if the lock is free now, or held by that owner; else empty. */
  public CompletableFuture<Optional<LockHandle>> tryLockAsync(String owner) {
    return tryLockAsync(owner, Duration.ZERO);
  }

  /**
   * Like {@link #lockAsync}, if that is possible within {@code waitLimit}, zero to 7 days; else
   * empty.
   *
   * @throws IllegalArgumentException if the owner is empty or too long, or the limit out of range
   */
  public CompletableFuture<Optional<LockHandle>> tryLockAsync(String owner, Duration waitLimit) {
    return DerivedFutures.optional(client.acquire(ownedBy(owner).waitAtMost(waitLimit)));
  }

  /**
   * Conditions are not supported: to wait for one, a thread would have to give up its lock and its
   * fencing token, and no server knows what the condition is about. {@link LockkeeperClient#watch}
   * tells of changes.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException(
        "a distributed lock has no conditions: nobody could signal them for a process that died;"
            + " watch the lock instead");
  }

  @Override
  public String toString() {
    return "LockkeeperLock" + request.locks();
  }

  private LockRequest ownedByThread() {
    return request.owner(ThreadOwners.ofCurrentThread());
  }

  private LockRequest ownedBy(String owner) {
    Limits.require(!owner.isEmpty(), "owner", "named", "empty");
    return request.owner(owner);
  }

  private void hold(LockHandle handle) {
    held.set(new Levels(handle));
  }

  private boolean reenters() {
    Levels levels = held.get();
    if (levels == null) {
      return false;
    }
    levels.handle.checkValid();
    levels.count = Math.incrementExact(levels.count);
    return true;
  }

  private static void throwIfInterrupted() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }
}
