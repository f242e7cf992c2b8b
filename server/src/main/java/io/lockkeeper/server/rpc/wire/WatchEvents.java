package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.v1.Gap;
import io.lockkeeper.v1.SnapshotEnd;
import io.lockkeeper.v1.WatchResponse;

/** Translates what a watch sees into events of the contract. */
public final class WatchEvents {

  private WatchEvents() {}

  /**
   * Returns a part of a snapshot.
   *
   * @param readable whether the watcher has the right {@code read} on the lock
   */
  public static WatchResponse snapshot(LockView lock, boolean readable) {
    return WatchResponse.newBuilder().setSnapshot(Messages.toLockState(lock, readable)).build();
  }

  /** Returns what ends a snapshot. */
  public static WatchResponse snapshotEnd(long revision) {
    return WatchResponse.newBuilder()
        .setRevision(revision)
        .setSnapshotEnd(SnapshotEnd.getDefaultInstance())
        .build();
  }

  /**
   * Returns the event of a change, the same for all watchers that can read the lock.
   *
   * @param readable whether the watcher has the right {@code read} on the lock
   */
  public static WatchResponse change(WatchedChange change, boolean readable) {
    return readable
        ? change.form(WatchResponse.class, shared -> toEvent(shared, true))
        : toEvent(change.change(), false);
  }

  private static WatchResponse toEvent(LockChange change, boolean readable) {
    return WatchResponse.newBuilder()
        .setRevision(change.revision())
        .setChange(Messages.toLockChange(change, readable))
        .build();
  }

  public static WatchResponse gap(String reason) {
    return WatchResponse.newBuilder().setGap(Gap.newBuilder().setReason(reason)).build();
  }
}
