package io.lockkeeper.client;

/**
 * Is told what happens to watched locks. Every method has an empty default. Called on the client's
 * callback executor, one call at a time and in order; the next event is asked for when a call has
 * returned, so that a slow listener is told fewer, coalesced changes.
 */
public interface WatchListener {

  /** Part of the snapshot that comes first: one lock that is in use. */
  default void onSnapshot(LockInfo lock) {}

  /** The snapshot is complete; changes follow. */
  default void onSnapshotEnd() {}

  /** A lock has changed. */
  default void onChange(LockChange change) {}

  /** Events may be missing: forget what was known, a new snapshot follows. */
  default void onGap(String reason) {}

  /**
   * The watch has ended: the server refused it for good, or the client was closed. Nothing comes
   * after it. A watch that is closed itself ends without this.
   */
  default void onFailed(LockkeeperException why) {}
}
