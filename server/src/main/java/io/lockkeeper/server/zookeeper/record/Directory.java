package io.lockkeeper.server.zookeeper.record;

import io.lockkeeper.server.core.lock.LockName;

/**
 * The directory of a lock that is believed to exist, and since when it has been empty as far as was
 * seen. Lives on the store's thread.
 */
public final class Directory {

  private static final long NEVER = -1;

  private final LockName lock;
  private int children;
  private long emptySince;
  private long queuedAt;
  private long madeAt = NEVER;
  private boolean doomed;
  private boolean queued;

  Directory(LockName lock, long now) {
    this.lock = lock;
    emptySince = now;
  }

  public LockName lock() {
    return lock;
  }

  /** Returns for how long it has been empty; negative if it is not. */
  long emptyFor(long now) {
    return children > 0 ? -1 : now - emptySince;
  }

  void entered() {
    children++;
  }

  /** Takes note that a child is gone; returns whether it was the last. */
  boolean left(long now) {
    children = Math.max(0, children - 1);
    emptySince = now;
    return children == 0;
  }

  /** Takes note of how many children were listed. */
  void listed(int found, long now) {
    children = found;
    emptySince = now;
  }

  /** Returns whether this coordinator has created it: as a container, which may go when empty. */
  boolean isMade() {
    return madeAt != NEVER;
  }

  /** Returns whether this coordinator has created it after the transaction {@code zxid}. */
  boolean isMadeAfter(long zxid) {
    return madeAt > zxid;
  }

  void made(long zxid) {
    madeAt = zxid;
    doomed = false;
  }

  /** Returns whether it may be gone: its deletion is under way, or it was missed. */
  boolean isDoomed() {
    return doomed;
  }

  public void doom() {
    doomed = true;
  }

  public void spare() {
    doomed = false;
  }

  /** Returns whether it waits to be looked at. */
  boolean isQueued() {
    return queued;
  }

  /** Returns whether it has waited since {@code tick} or for longer. */
  boolean isDue(long tick) {
    return queuedAt <= tick;
  }

  void queuedAt(long tick) {
    queued = true;
    queuedAt = tick;
  }

  void unqueued() {
    queued = false;
  }
}
