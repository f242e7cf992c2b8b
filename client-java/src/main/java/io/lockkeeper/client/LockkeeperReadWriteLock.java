package io.lockkeeper.client;

import java.time.Duration;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * A read/write lock of Lockkeeper as a {@link ReadWriteLock}. Made by {@link
 * LockkeeperClient#asReadWriteLock}.
 *
 * <p>Readers share, a writer excludes all others; strictly first come, first served, so that
 * readers who come later wait behind a writer who waits. Both sides are reentrant.
 *
 * <p><b>Downgrade</b> as with {@link java.util.concurrent.locks.ReentrantReadWriteLock}: the thread
 * that holds the write lock may lock for reading, at once and under the same fencing token, and
 * then unlock the write lock; no writer gets in between. <b>Upgrade</b> fails at once: a thread
 * that only reads and asks for the write lock gets a {@link NotAcquiredException} with {@link
 * NotAcquiredReason#WOULD_DEADLOCK} ({@link LockkeeperLock#tryLock()} is false).
 */
public final class LockkeeperReadWriteLock implements ReadWriteLock {

  private final LockkeeperLock read;
  private final LockkeeperLock write;

  LockkeeperReadWriteLock(LockkeeperClient client, String name) {
    this(
        new LockkeeperLock(client, LockRequest.of(LockSpec.read(name))),
        new LockkeeperLock(client, LockRequest.of(LockSpec.write(name))));
  }

  private LockkeeperReadWriteLock(LockkeeperLock read, LockkeeperLock write) {
    this.read = read;
    this.write = write;
  }

  /**
   * Returns a view whose locks stay with this client when they are unlocked, as long as nobody else
   * wants them and at most {@code time} without use: see {@link LockRequest#keepUnused}, which
   * throws what is wrong. It has no downgrade: a thread that holds one side and asks for the other
   * gets a {@link NotAcquiredException} with {@link NotAcquiredReason#WOULD_DEADLOCK}.
   */
  public LockkeeperReadWriteLock keepUnused(Duration time) {
    return new LockkeeperReadWriteLock(read.keepUnused(time), write.keepUnused(time));
  }

  @Override
  public LockkeeperLock readLock() {
    return read;
  }

  @Override
  public LockkeeperLock writeLock() {
    return write;
  }

  @Override
  public String toString() {
    return "LockkeeperReadWriteLock[" + read + ", " + write + "]";
  }
}
