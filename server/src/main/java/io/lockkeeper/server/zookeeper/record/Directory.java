package io.lockkeeper.server.zookeeper.record;

import io.lockkeeper.server.core.lock.LockName;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The directory of a lock that is believed to exist, and since when it has been empty as far as was
 * seen. Lives on the store's thread.
 */
public final class Directory {

  /**
   * What coordinators write into directories that they create. ZooKeeper does not tell containers
   * from other nodes: so it is known that a directory may be deleted when it is empty.
   */
  private static final byte[] MARK = "lockkeeper".getBytes(StandardCharsets.US_ASCII);

  private final LockName lock;
  private int children;
  private long emptySince;
  private long queuedAt;
  private boolean made;
  private boolean doomed;
  private boolean queued;

  Directory(LockName lock, long now) {
    this.lock = lock;
    emptySince = now;
  }

  /** Returns what to write into a directory that is created as a container. */
  public static byte[] mark() {
    return MARK.clone();
  }

  /** Returns whether a coordinator has created the directory that has this data. */
  public static boolean isMarked(byte[] data) {
    return Arrays.equals(MARK, data);
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

  /** Returns whether it is certain to be a container, which may go when it is empty. */
  public boolean isMade() {
    return made;
  }

  public void made() {
    made = true;
    doomed = false;
  }

  /** Returns whether its deletion may be under way. */
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
