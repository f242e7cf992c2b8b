package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.server.coordinator.api.LockHistory;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.GetHistoryResponse;
import io.lockkeeper.v1.PastHold;

/** Translates the history of a lock into messages. */
public final class PastHolds {

  private PastHolds() {}

  /** Returns what a coordinator remembers of a lock. */
  public static GetHistoryResponse toResponse(LockHistory history, String coordinatorId) {
    GetHistoryResponse.Builder response =
        GetHistoryResponse.newBuilder()
            .setRecordedFor(ProtoDurations.ofNanos(history.recordedForNanos()))
            .setCoordinatorId(coordinatorId);
    history.holds().forEach(hold -> response.addHolds(toMessage(hold)));
    return response.build();
  }

  private static PastHold toMessage(io.lockkeeper.server.coordinator.api.PastHold hold) {
    Contender.Builder holder = Contenders.toMessage(hold.holder()).toBuilder();
    if (hold.holder().heldForNanos().isEmpty()) {
      holder.clearQueuedFor();
    }
    return PastHold.newBuilder()
        .setHolder(holder)
        .setEndedAgo(ProtoDurations.ofNanos(hold.endedAgoNanos()))
        .setEnd(Notices.toPreviousEnd(hold.end()))
        .build();
  }
}
