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

  public static WatchResponse snapshot(LockView lock) {
    return WatchResponse.newBuilder().setSnapshot(Messages.toLockState(lock)).build();
  }

  /** Returns what ends a snapshot. */
  public static WatchResponse snapshotEnd(long revision) {
    return WatchResponse.newBuilder()
        .setRevision(revision)
        .setSnapshotEnd(SnapshotEnd.getDefaultInstance())
        .build();
  }

  /** Returns the event of a change, the same for all its watchers. */
  public static WatchResponse change(WatchedChange change) {
    return change.form(WatchResponse.class, WatchEvents::change);
  }

  private static WatchResponse change(LockChange change) {
    return WatchResponse.newBuilder()
        .setRevision(change.revision())
        .setChange(Messages.toLockChange(change))
        .build();
  }

  public static WatchResponse gap(String reason) {
    return WatchResponse.newBuilder().setGap(Gap.newBuilder().setReason(reason)).build();
  }
}
