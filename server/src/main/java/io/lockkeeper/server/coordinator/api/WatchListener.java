package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.LockView;

/**
 * Hears what a watch sees: a snapshot, its end, then changes; after a gap the same again. Called on
 * the watchers' thread only while it says that it is ready; while it is not, changes are kept back
 * and coalesced per lock, so that a slow watcher costs bounded memory and slows nobody.
 */
public interface WatchListener {

  /**
   * Returns whether more can be taken now. When that turns true, the carrier calls {@link
   * WatchHandle#ready}.
   */
  boolean isReady();

  /** Part of the snapshot, which cannot be resumed until it is complete. */
  void onSnapshot(LockView lock);

  /** The snapshot is complete: it holds everything up to {@code revision}, and perhaps more. */
  void onSnapshotEnd(long revision);

  /** A lock has changed. */
  void onChange(WatchedChange change);

  /** Events may be missing: forget everything, a snapshot follows. */
  void onGap(String reason);

  /** The watch could not be started or goes on no longer; nothing follows. */
  void onRefused(RefusedException why);
}
